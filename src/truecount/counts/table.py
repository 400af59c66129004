"""The sufficient statistic: how often each output was seen, for each class and in the unlabelled population."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount.errors import InputError

SCHEMA = "truecount.counts/1"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Labelled items by class and output, unlabelled items by output.

    Parameters
    ----------
    labeled
        Shape (classes, outputs): labelled items of each true class that got each output.
    unlabeled
        Shape (outputs,): items of the unlabelled population that got each output.
    classes, outputs
        Their names. Left out, classes are 0, 1, …, and outputs are called like the classes if there are as many.
    labeled_squares, unlabeled_squares
        Sums of squared weights, cell by cell, where the counts are sums of weights. They must be given together.
    tables
        Identities of labelled tables that other counts share with these; see `split`.

    Notes
    -----
    Any number of outputs will do: abstentions, score bins and other label spaces are ordinary. Rows must be *true
    classes*; a transposed table gives a wrong answer that nothing can detect when it is square.

    Examples
    --------
    >>> Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    Counts: 400 labelled and 1000 unlabelled items, 2 classes, 2 outputs
    class\\output  fail  pass
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
    tables: frozenset[str] = field(kw_only=True)

    def __init__(
        self,
        labeled: Any,
        unlabeled: Any,
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        *,
        labeled_squares: Any = None,
        unlabeled_squares: Any = None,
        tables: Iterable[str] = (),
    ) -> None:
        labeled = _check.finite_numbers("labeled", labeled, dimensions=2)
        unlabeled = _check.finite_numbers("unlabeled", unlabeled, dimensions=1)
        _require_shapes(labeled, unlabeled)
        class_names, output_names = _names(labeled.shape, classes, outputs)
        squares = _squares(labeled, unlabeled, labeled_squares, unlabeled_squares)
        if squares is None:
            labeled, unlabeled = _whole("labeled", labeled), _whole("unlabeled", unlabeled)
        values = {
            "labeled": _frozen(labeled),
            "unlabeled": _frozen(unlabeled),
            "classes": class_names,
            "outputs": output_names,
            "labeled_squares": _frozen(squares[0]) if squares else None,
            "unlabeled_squares": _frozen(squares[1]) if squares else None,
            "tables": frozenset(tables),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def is_weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.labeled_squares is not None

    @property
    def outputs_are_classes(self) -> bool:
        """Whether every output is called like a class and every class like an output."""
        return set(self.outputs) == set(self.classes) and len(self.outputs) == len(self.classes)

    @property
    def counted(self) -> FloatArray | None:
        """Shape (classes,): the share of each class by plain counting; None where outputs are not the classes."""
        if not self.outputs_are_classes or not self.unlabeled.sum():
            return None
        order = [self.outputs.index(name) for name in self.classes]
        shares: FloatArray = self.unlabeled[order] / self.unlabeled.sum()
        return shares

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> "Counts":
        """Merge the counts of two shards of one data set, aligned by name; labelled and unlabelled alike add up."""
        if not isinstance(other, Counts):
            return NotImplemented
        shared = self.tables & other.tables
        if shared:
            raise InputError(
                "counts",
                "share one labelled table",
                "adding them would count its labels twice",
                "Use first.pool(second) to add only their unlabelled sides",
            )
        return self._combine(other, labeled=True)

    def pool(self, *others: "Counts") -> "Counts":
        """Add the unlabelled sides of groups that share this labelled table."""
        total = self
        for other in others:
            if not self.tables or self.tables != other.tables:
                raise InputError(
                    "counts",
                    "do not share one labelled table",
                    "pooling adds unlabelled sides only",
                    "Use first + second for shards that each have labels of their own",
                )
            total = total._combine(other, labeled=False)
        return total

    def split(self, unlabeled: Mapping[Any, Any]) -> dict[Any, "Counts"]:
        """Give one `Counts` for each group of the unlabelled population; all share this labelled table and know it.

        Parameters
        ----------
        unlabeled
            For each group, its counts by output.
        """
        if self.is_weighted:
            raise InputError("counts", "are weighted", "split() takes whole counts", "Build each group's Counts with tables=")
        tables = self.tables or frozenset({uuid4().hex})
        return {
            group: Counts(self.labeled, values, self.classes, self.outputs, tables=tables) for group, values in unlabeled.items()
        }

    def _combine(self, other: "Counts", *, labeled: bool) -> "Counts":
        other = other._reordered(self.classes, self.outputs)
        weighted = self.is_weighted or other.is_weighted
        (mine, mine_new), (theirs, theirs_new) = self._filled_squares(), other._filled_squares()
        return Counts(
            self.labeled + other.labeled if labeled else self.labeled,
            self.unlabeled + other.unlabeled,
            self.classes,
            self.outputs,
            labeled_squares=(mine + theirs if labeled else mine) if weighted else None,
            unlabeled_squares=mine_new + theirs_new if weighted else None,
            tables=self.tables | other.tables,
        )

    def _filled_squares(self) -> tuple[Any, Any]:
        """Sums of squared weights; an unweighted item weighs one."""
        if self.labeled_squares is None:
            return self.labeled, self.unlabeled
        return self.labeled_squares, self.unlabeled_squares

    def _reordered(self, classes: Sequence[Name], outputs: Sequence[Name]) -> "Counts":
        for argument, mine, theirs in (("classes", self.classes, classes), ("outputs", self.outputs, outputs)):
            if set(mine) != set(theirs):
                odd = _check.sorted_names(set(mine) ^ set(theirs))[0]
                raise InputError(
                    argument,
                    f"differ: only one side has {odd!r}",
                    f"counts add when both have the same {argument}",
                    f"Name every one with count(..., {argument}=[...])",
                )
        rows = [self.classes.index(name) for name in classes]
        columns = [self.outputs.index(name) for name in outputs]
        squares, squares_new = self.labeled_squares, self.unlabeled_squares
        return Counts(
            self.labeled[np.ix_(rows, columns)],
            self.unlabeled[columns],
            classes,
            outputs,
            labeled_squares=None if squares is None else squares[np.ix_(rows, columns)],
            unlabeled_squares=None if squares_new is None else squares_new[columns],
            tables=self.tables,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give plain lists and names, ready for JSON."""
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
        if self.tables:
            result["tables"] = sorted(self.tables)
        return result

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        found = values.get("schema") if isinstance(values, Mapping) else None
        if found != SCHEMA:
            raise InputError("schema", f"is {found!r}", f"this version reads {SCHEMA!r}", "Write the counts with Counts.to_json()")
        rest = {name: value for name, value in values.items() if name != "schema"}
        known = {"classes", "outputs", "labeled", "unlabeled", "labeled_squares", "unlabeled_squares", "tables"}
        for needed in ("classes", "outputs", "labeled", "unlabeled"):
            if needed not in rest:
                raise InputError("counts", f"lack {needed!r}", f"{SCHEMA} has it", "Write the counts with Counts.to_json()")
        for name in rest.keys() - known:
            raise InputError("counts", f"hold {name!r}", f"{SCHEMA} has no such entry", "Remove it, or update truecount")
        return cls(**rest)

    def to_json(self) -> str:
        """Give one line of JSON, the exchange format between a cluster and a laptop."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` gave."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError("counts", f"are not JSON ({error})", "they must be one JSON object", "Write them with Counts.to_json()") from error
        return cls.from_dict(values)

    def __repr__(self) -> str:
        header = ["class\\output", *map(str, self.outputs)]
        body = [[str(name), *map(_number, row)] for name, row in zip(self.classes, self.labeled, strict=True)]
        body.append(["unlabelled", *map(_number, self.unlabeled)])
        widths = [max(len(row[column]) for row in (header, *body)) for column in range(len(header))]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in (header, *body)]
        items = "weight of labelled and of unlabelled items" if self.is_weighted else "labelled and"
        size = f"{_number(self.labeled.sum())} {items} {_number(self.unlabeled.sum())}"
        size = size if self.is_weighted else f"{size} unlabelled items"
        return "\n".join([f"Counts: {size}, {len(self.classes)} classes, {len(self.outputs)} outputs", *lines])


def _number(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"


def _frozen(array: Any) -> Any:
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def _require_shapes(labeled: Any, unlabeled: Any) -> None:
    if labeled.shape[1] != unlabeled.shape[0]:
        raise InputError(
            "labeled",
            f"has {labeled.shape[1]} output columns but unlabeled has shape {unlabeled.shape}",
            "both must count the same outputs",
            "Name every output with count(..., outputs=[...])",
        )
    if labeled.shape[0] < 2:
        raise InputError(
            "labeled",
            f"has {labeled.shape[0]} class{'' if labeled.shape[0] == 1 else 'es'}",
            "a share needs at least two classes",
            "Name every class with count(..., classes=[...])",
        )
    if labeled.shape[1] < 1:
        raise InputError("labeled", "has no output columns", "it must count at least one output", "Check how it was counted")


def _names(
    shape: tuple[int, ...], classes: Iterable[Any] | None, outputs: Iterable[Any] | None
) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    class_names = _check.names("classes", range(shape[0]) if classes is None else classes)
    like_classes = class_names if shape[0] == shape[1] else range(shape[1])
    output_names = _check.names("outputs", like_classes if outputs is None else outputs)
    for argument, found, needed in (("classes", class_names, shape[0]), ("outputs", output_names, shape[1])):
        if len(found) != needed:
            raise InputError(
                argument, f"names {len(found)}", f"labeled counts {needed} {argument}", "Give each row a class and each column an output"
            )
    return class_names, output_names


def _whole(argument: str, array: Any) -> IntArray:
    if array.size and float(array.max()) >= 2.0**63:
        raise InputError(argument, f"has {array.max()}", "counts go up to 2**63 - 1", "Check how it was counted")
    whole = array.astype(np.int64)
    wrong = np.argwhere(whole != array)
    if len(wrong):
        first = tuple(int(i) for i in wrong[0])
        raise InputError(
            argument,
            f"has {array[first]} at {first[0] if len(first) == 1 else first}",
            "counts are whole numbers",
            "Give the sums of squared weights too, if these are sums of weights",
        )
    return whole


def _squares(labeled: Any, unlabeled: Any, squares: Any, squares_new: Any) -> tuple[FloatArray, FloatArray] | None:
    if squares is None and squares_new is None:
        return None
    if squares is None or squares_new is None:
        raise InputError(
            "labeled_squares", "and unlabeled_squares came apart", "weighted counts need both", "Where items are unweighted, repeat their counts"
        )
    checked = []
    for argument, counts, values, dimensions in (
        ("labeled_squares", labeled, squares, 2),
        ("unlabeled_squares", unlabeled, squares_new, 1),
    ):
        array = _check.finite_numbers(argument, values, dimensions=dimensions).astype(np.float64)
        if array.shape != counts.shape or ((array > 0) != (counts > 0)).any():
            raise InputError(
                argument, "do not match the weights", "each cell with weight has a sum of squares, no other has", "Sum weight**2 over the same rows"
            )
        checked.append(array)
    return checked[0], checked[1]
