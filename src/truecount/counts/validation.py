"""What a table of counts must satisfy. Checked when it is built, and trusted afterwards."""

from collections import Counter as Sums
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._advice import Advice, naming
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import is_number, listed_quoted, twins
from truecount.errors import InputError

_MOST = 2.0**63
_NEEDED = ("classes", "outputs", "labeled", "unlabeled")
_OPTIONAL = ("labeled_squares", "unlabeled_squares", "combinations", "clusters")
_MOST_CELLS = 10_000_000
"""More cells than this are not a table of classes and outputs but a wrong column."""
MANY_SCORES = 20
"""Different numbers, from which on they are scores rather than names of classes."""


def cells(labeled: Any, unlabeled: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both sides as arrays of numbers, which are not negative and count the same outputs."""
    labeled = _check.finite_numbers("labeled", labeled, dimensions=2)
    unlabeled = _check.finite_numbers("unlabeled", unlabeled, dimensions=1)
    n_classes, n_outputs = labeled.shape
    if n_outputs != len(unlabeled):
        raise InputError(
            "labeled",
            f"has {n_outputs} output columns but unlabeled has shape {unlabeled.shape}",
            "both must count the same outputs",
            Advice("Name every output {}", naming("outputs")),
        )
    if n_classes < 2:
        raise InputError(
            "labeled",
            f"has {n_classes} class{'' if n_classes == 1 else 'es'}",
            "a share needs at least two classes",
            Advice("Name every class {}", naming("classes")),
        )
    if not n_outputs:
        raise InputError(
            "labeled", "has no output columns", "it must count at least one output", "Check how it was counted"
        )
    return labeled, unlabeled


def names(
    shape: tuple[int, ...], classes: Iterable[Any] | None, outputs: Iterable[Any] | None
) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """Return the names of the rows and of the columns; columns are named like the rows if there are as many."""
    n_classes, n_outputs = shape
    class_names = _names("classes", range(n_classes) if classes is None else classes, n_classes)
    default = class_names if n_classes == n_outputs else range(n_outputs)
    return class_names, _names("outputs", default if outputs is None else outputs, n_outputs)


def _names(argument: str, given: Iterable[Any], needed: int) -> tuple[Name, ...]:
    if isinstance(given, AbstractSet):
        raise InputError(argument, "is a set", "names stand in the order of the table", f"Pass {argument}=[...]")
    result = _check.names(argument, given)
    if len(result) != needed:
        remedy = "Give each row a class and each column an output"
        raise InputError(argument, f"names {len(result)}", f"labeled counts {needed} {argument}", remedy)
    return result


def shared_outputs(argument: str, labeled: Iterable[Name], unlabeled: Iterable[Name]) -> None:
    """Refuse labels that say nothing about the unlabelled items, because no output occurs on both sides."""
    known, new = (_check.sorted_names(set(side)) for side in (labeled, unlabeled))
    if not known or not new or not set(known).isdisjoint(new):
        return
    found = f"has {listed_quoted(known)} for labelled items, and only {listed_quoted(new)} for the unlabelled"
    remedy = unseen_remedy(new, known, otherwise="Check the columns, and spell alike what is the same")
    raise InputError(argument, found, "labels tell nothing of outputs that never occur among them", remedy)


def unseen_remedy(unseen: Sequence[Name], known: Iterable[Name], *, otherwise: str) -> str:
    """Say what to do about outputs without labels, which may be no names at all, or spelled otherwise."""
    if are_scores(unseen):
        return "These look like scores: sort them into bins, or choose the column of verdicts"
    meant = twins(unseen, known)
    return f"Spell outputs alike: {meant}" if meant else otherwise


def are_scores(names: Sequence[Name]) -> bool:
    """Whether these are numbers, more of them than classes would be, and not all whole, as numbers of classes are.

    >>> are_scores([f"0.{digits}" for digits in range(10, 50)]), are_scores([0.5, 1]), are_scores(range(50))
    (True, False, False)
    """
    return (
        len(names) >= MANY_SCORES and all(map(is_number, names)) and not all(float(name).is_integer() for name in names)
    )


def require_few_cells(classes: Sequence[Name], outputs: Sequence[Name]) -> None:
    """Refuse so many classes and outputs that they make no table that could be held."""
    if len(classes) * len(outputs) > _MOST_CELLS:
        raise InputError(
            "labels",
            f"and predictions make {len(classes):,} classes and {len(outputs):,} outputs",
            f"a table of counts has {_MOST_CELLS:,} cells at most",
            "Check that these are the right columns, and sort continuous scores into bins",
        )


def whole(argument: str, array: NDArray[Any]) -> IntArray:
    """Return `array` as whole numbers, whose sum is one too."""
    total = array.sum(dtype=np.float64)
    if total >= _MOST:
        raise InputError(
            argument, f"adds up to {total:.3g}", "counts must stay below 2**63", "Check how it was counted"
        )
    result: IntArray = array.astype(np.int64)
    wrong = np.argwhere(result != array)
    if len(wrong):
        first = tuple(int(i) for i in wrong[0])
        raise InputError(
            argument,
            f"has {array[first]} at {first[0] if len(first) == 1 else first}",
            "counts are whole numbers",
            "Give the sums of squared weights too, if these are sums of weights",
        )
    return result


def weights(argument: str, sums: NDArray[Any], squares: Any) -> tuple[FloatArray, FloatArray]:
    """Return sums of weights and sums of their squares, of which the second is at most the square of the first."""
    sums = sums.astype(np.float64)
    array = _check.finite_numbers(argument, squares, dimensions=sums.ndim).astype(np.float64)
    if array.shape != sums.shape or ((array > 0) != (sums > 0)).any() or (array > sums**2 * (1 + 1e-9)).any():
        raise InputError(
            argument,
            "do not match the weights",
            "squares are 0 where the weight is, and above 0 but at most the weight squared elsewhere",
            "Sum weight**2 over the same rows",
        )
    return sums, array


def require_both(labeled_squares: Any, unlabeled_squares: Any) -> None:
    """Refuse squared weights of one side without those of the other."""
    if labeled_squares is None or unlabeled_squares is None:
        raise InputError(
            "labeled_squares",
            "and unlabeled_squares came apart",
            "weighted counts need both",
            "Where items are unweighted, repeat their counts",
        )


def group_keys(by: Sequence[str], groups: Any) -> list[tuple[Any, ...]]:
    """Return the groups of a document, each of which has a key for every column and stands once."""
    if not isinstance(groups, list) or any(not isinstance(group, list) or len(group) != len(by) for group in groups):
        raise InputError("groups", "do not match by", "each has a key for every column", "Count the data again")
    for key in chain.from_iterable(groups):
        if not isinstance(key, str | int | float | None) or key != key:
            raise InputError("groups", f"hold {key!r:.60}", "keys are names, or null", "Count the data again")
    found = [tuple(group) for group in groups]
    for group, often in Sums(found).items():
        if often > 1:
            needed = "each stands once"
            raise InputError("groups", f"hold {list(group)} {often} times", needed, "Add up its counts, or count again")
    return found


def entries(values: Any, schema: str, more: tuple[str, ...] = (), optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what a written table holds, beside its schema; `more` says what it needs beyond the usual."""
    remedy = "Write the counts with Counts.to_json()"
    found = values.get("schema") if isinstance(values, Mapping) else None
    if found != schema:
        raise InputError("schema", f"is {found!r}", f"this version reads {schema!r}", remedy)
    result = {name: value for name, value in values.items() if name != "schema"}
    for name in (*_NEEDED, *more):
        if name not in result:
            raise InputError("counts", f"lack {name!r}", f"{schema} has it", remedy)
    for name in result.keys() - {*_NEEDED, *_OPTIONAL, *more, *optional}:
        raise InputError("counts", f"hold {name!r}", f"{schema} has no such entry", "Remove it, or update truecount")
    return result
