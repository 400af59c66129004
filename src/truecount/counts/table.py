"""The sufficient statistic: how often each output was seen, for each class and in the unlabelled population.

What a table must satisfy is checked when it is built, and trusted afterwards.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._advice import Advice, naming
from truecount._json import read_document
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import is_number, listed_quoted, twins
from truecount.counts import display
from truecount.counts.clusters import Clusters, add_clusters, read_clusters
from truecount.counts.combinations import Combinations, common_combinations
from truecount.errors import InputError

SCHEMA = "truecount.counts/1"
COUNT_FIRST = "Pass Counts(labeled, unlabeled), or what count(labels, predictions, new_predictions) returns"
"""What to do where something else than counts was passed."""
NEEDED = ("classes", "outputs", "labeled", "unlabeled")
OPTIONAL = ("labeled_squares", "unlabeled_squares", "combinations", "clusters")
"""What a written table has, and what it may have."""
MOST_ITEMS = 2.0**63
MOST_CELLS = 10_000_000
"""More cells than this are not a table of classes and outputs but a wrong column."""
MANY_SCORES = 20
"""Different numbers, from which on they are scores rather than names of classes."""


class EffectiveCounts(NamedTuple):
    """As many equally weighted, independent items as say as much as those of some counts."""

    labeled: FloatArray
    unlabeled: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    r"""Labelled items by class and output, unlabelled items by output.

    Parameters
    ----------
    labeled
        Shape (classes, outputs): labelled items of each true class that got each output.
    unlabeled
        Shape (outputs,): items of the unlabelled population that got each output.
    classes, outputs
        Their names. Left out, classes are 0, 1, …, and outputs are named like the classes if there are as many.
    labeled_squares, unlabeled_squares
        Sums of squared weights, cell by cell, where the counts are sums of weights. They must be given together.
    combinations
        What each output consists of, where several classifiers put out a value for each item.
    clusters
        Counts of each cluster of items that belong together, such as the epochs of a question; `count` and
        `count_table` make them.

    Notes
    -----
    Any number of outputs will do: abstentions, score bins and other label spaces are ordinary. Rows must be *true
    classes*; a transposed table gives a wrong answer that nothing can detect when it is square.

    Examples
    --------
    >>> Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    Counts: 400 labelled and 1000 unlabelled items, 2 classes, 2 outputs
    class\output  fail  pass
    fail           140    60
    pass            20   180
    unlabelled     600   400
    """

    labeled: IntArray | FloatArray
    unlabeled: IntArray | FloatArray
    classes: tuple[Name, ...]
    outputs: tuple[Name, ...]
    labeled_squares: FloatArray | None = field(kw_only=True)
    unlabeled_squares: FloatArray | None = field(kw_only=True)
    combinations: Combinations | None = field(kw_only=True)
    clusters: Clusters | None = field(kw_only=True)

    def __init__(
        self,
        labeled: Any,
        unlabeled: Any,
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        *,
        labeled_squares: Any = None,
        unlabeled_squares: Any = None,
        combinations: Any = None,
        clusters: Any = None,
    ) -> None:
        labeled, unlabeled = checked_cells(labeled, unlabeled)
        class_names, output_names = table_names(labeled.shape, classes, outputs)
        numbers = checked_numbers(labeled, unlabeled, labeled_squares, unlabeled_squares)
        for name, value in zip(("labeled", "unlabeled", "labeled_squares", "unlabeled_squares"), numbers, strict=True):
            self._set(name, value)
        self._set("classes", class_names)
        self._set("outputs", output_names)
        if combinations is not None:
            combinations = Combinations.read("combinations", combinations, len(output_names))
        self._set("combinations", combinations)
        self._set("clusters", None if clusters is None else read_clusters(clusters, self.labeled, self.unlabeled))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Callable[[Mapping[str, Any]], "Counts"], tuple[dict[str, Any]]]:
        """Copy and unpickle through the constructor, so that the arrays stay read-only."""
        return Counts.from_dict, (self.to_dict(),)

    @property
    def is_weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.labeled_squares is not None

    @property
    def effective(self) -> EffectiveCounts:
        """Counts of the effective size of weighted or clustered items; without weights and clusters, as they are.

        Examples
        --------
        Four items of weight 2 say as much as four items:

        >>> heavy = Counts([[8, 0], [0, 3]], [5, 5], labeled_squares=[[16, 0], [0, 3]], unlabeled_squares=[5, 5])
        >>> heavy.effective.labeled
        array([[4., 0.],
               [0., 3.]])
        """
        if self.labeled_squares is None and self.clusters is None:
            return EffectiveCounts(self.labeled.astype(np.float64), self.unlabeled.astype(np.float64))
        from truecount.counts.weights import effective_counts

        return effective_counts(self)

    @property
    def outputs_are_classes(self) -> bool:
        """Whether every output is named like a class and every class like an output."""
        return set(self.outputs) == set(self.classes)

    @property
    def counted(self) -> FloatArray | None:
        """Shape (classes,): the share of each class by plain counting; None where a class is no output.

        Shares are of all unlabelled items. Where some outputs are no class, such as an abstention, they sum to less
        than one, and `uncounted` names those outputs; more numbers than there are classes are no abstentions but bins.
        """
        are_bins = self.uncounted and all(map(is_number, self.outputs))
        if not set(self.classes) <= set(self.outputs) or are_bins or not self.unlabeled.sum():
            return None
        shares: FloatArray = self.unlabeled[[self.outputs.index(name) for name in self.classes]] / self.unlabeled.sum()
        return shares

    @property
    def uncounted(self) -> tuple[Name, ...]:
        """Outputs that are no class, such as abstentions."""
        return tuple(name for name in self.outputs if name not in self.classes)

    def __eq__(self, other: object) -> bool:
        """Compare as text, where the names 1 and True differ."""
        return isinstance(other, Counts) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> "Counts":
        """Merge the counts of two shards of one data set, aligned by name; labelled and unlabelled alike add up."""
        if not isinstance(other, Counts):
            return NotImplemented
        other = other.ordered_like(self)
        squares: tuple[Any, ...] = (None, None)
        if self.is_weighted or other.is_weighted:
            squares = tuple(mine + theirs for mine, theirs in zip(self.squares(), other.squares(), strict=True))
        return replace(
            self,
            labeled=self.labeled + other.labeled,
            unlabeled=self.unlabeled + other.unlabeled,
            labeled_squares=squares[0],
            unlabeled_squares=squares[1],
            combinations=common_combinations(self.combinations, other.combinations),
            clusters=add_clusters(self.clusters, other.clusters),
        )

    def squares(self) -> tuple[Any, Any]:
        """Return the sums of squared weights; an unweighted item weighs one."""
        if self.labeled_squares is None:
            return self.labeled, self.unlabeled
        return self.labeled_squares, self.unlabeled_squares

    def ordered_like(self, other: "Counts") -> "Counts":
        """Return these counts with classes and outputs in the order of others."""
        rows = order_of("classes", self.classes, other.classes)
        columns = order_of("outputs", self.outputs, other.outputs)
        squares, new_squares, clusters = self.labeled_squares, self.unlabeled_squares, self.clusters
        if clusters is not None:
            clusters = clusters.changed(lambda each: each[:, rows][:, :, columns], lambda each: each[:, columns])
        return replace(
            self,
            labeled=self.labeled[np.ix_(rows, columns)],
            unlabeled=self.unlabeled[columns],
            classes=other.classes,
            outputs=other.outputs,
            labeled_squares=None if squares is None else squares[np.ix_(rows, columns)],
            unlabeled_squares=None if new_squares is None else new_squares[columns],
            combinations=None if self.combinations is None else self.combinations.taken(columns),
            clusters=clusters,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and names, ready for JSON."""
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "classes": list(self.classes),
            "outputs": list(self.outputs),
            "labeled": self.labeled.tolist(),
            "unlabeled": self.unlabeled.tolist(),
        }
        if self.labeled_squares is not None and self.unlabeled_squares is not None:
            result["labeled_squares"] = self.labeled_squares.tolist()
            result["unlabeled_squares"] = self.unlabeled_squares.tolist()
        if self.combinations is not None:
            result["combinations"] = self.combinations.to_dict()
        if self.clusters is not None:
            result["clusters"] = self.clusters.to_dict()
        return result

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned."""
        return cls(**document_entries(values, SCHEMA))

    def to_json(self) -> str:
        """Return one line of JSON, the exchange format between a cluster and a laptop."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` returned."""
        return cls.from_dict(read_document("counts", text, "Write them with Counts.to_json()"))

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def frozen(array: Any) -> Any:
    """Return a copy that cannot be written to; None where there is none."""
    if array is None:
        return None
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def order_of(argument: str, mine: Sequence[Name], wanted: Sequence[Name]) -> list[int]:
    """Return where each of the `wanted` names stands among `mine`."""
    odd = set(mine) ^ set(wanted)
    if odd:
        raise InputError(
            argument,
            f"differ: only one side has {_check.sorted_names(odd)[0]!r}",
            f"counts add when both have the same {argument}",
            Advice("Name every one {}", naming(argument)),
        )
    place = {name: position for position, name in enumerate(mine)}
    return [place[name] for name in wanted]


def checked_cells(labeled: Any, unlabeled: Any) -> tuple[NDArray[Any], NDArray[Any]]:
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


def table_names(
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


def checked_numbers(
    labeled: Any, unlabeled: Any, labeled_squares: Any, unlabeled_squares: Any
) -> tuple[Any, Any, FloatArray | None, FloatArray | None]:
    """Return both sides and their squared weights, read-only; without weights, whole numbers and no squares."""
    if labeled_squares is None and unlabeled_squares is None:
        labeled, unlabeled = whole_numbers("labeled", labeled), whole_numbers("unlabeled", unlabeled)
    else:
        require_both_squares(labeled_squares, unlabeled_squares)
        labeled, labeled_squares = _weights("labeled_squares", labeled, labeled_squares)
        unlabeled, unlabeled_squares = _weights("unlabeled_squares", unlabeled, unlabeled_squares)
    return frozen(labeled), frozen(unlabeled), frozen(labeled_squares), frozen(unlabeled_squares)


def whole_numbers(argument: str, array: NDArray[Any]) -> IntArray:
    """Return `array` as whole numbers, whose sum is one too."""
    total = array.sum(dtype=np.float64)
    if total >= MOST_ITEMS:
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


def _weights(argument: str, sums: NDArray[Any], squares: Any) -> tuple[FloatArray, FloatArray]:
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


def require_both_squares(labeled_squares: Any, unlabeled_squares: Any) -> None:
    """Refuse squared weights of one side without those of the other."""
    if labeled_squares is None or unlabeled_squares is None:
        raise InputError(
            "labeled_squares",
            "and unlabeled_squares came apart",
            "weighted counts need both",
            "Where items are unweighted, repeat their counts",
        )


def document_entries(
    values: Any, schema: str, more: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return what a written table holds, beside its schema; `more` says what it needs beyond the usual."""
    remedy = "Write the counts with Counts.to_json()"
    found = values.get("schema") if isinstance(values, Mapping) else None
    if found != schema:
        raise InputError("schema", f"is {found!r}", f"this version reads {schema!r}", remedy)
    result = {name: value for name, value in values.items() if name != "schema"}
    for name in (*NEEDED, *more):
        if name not in result:
            raise InputError("counts", f"lack {name!r}", f"{schema} has it", remedy)
    for name in result.keys() - {*NEEDED, *OPTIONAL, *more, *optional}:
        raise InputError("counts", f"hold {name!r}", f"{schema} has no such entry", "Remove it, or update truecount")
    return result


def require_shared_outputs(argument: str, labeled: Iterable[Name], unlabeled: Iterable[Name]) -> None:
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
    if len(classes) * len(outputs) > MOST_CELLS:
        raise InputError(
            "labels",
            f"and predictions make {len(classes):,} classes and {len(outputs):,} outputs",
            f"a table of counts has {MOST_CELLS:,} cells at most",
            "Check that these are the right columns, and sort continuous scores into bins",
        )
