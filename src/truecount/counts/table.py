"""The sufficient statistic: how often each output was seen, for each class and in the unlabelled population."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self

import numpy as np

from truecount import _check
from truecount._json import JsonError, read_json
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import is_number
from truecount.counts import display, validation
from truecount.errors import InputError

SCHEMA = "truecount.counts/1"
COUNT_FIRST = "Pass Counts(labeled, unlabeled), or what count(labels, predictions, new_predictions) returns"
"""What to do where something else than counts was passed."""


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
        labeled, unlabeled = validation.cells(labeled, unlabeled)
        class_names, output_names = validation.names(labeled.shape, classes, outputs)
        if labeled_squares is None and unlabeled_squares is None:
            labeled, unlabeled = validation.whole("labeled", labeled), validation.whole("unlabeled", unlabeled)
        else:
            validation.require_both(labeled_squares, unlabeled_squares)
            labeled, labeled_squares = validation.weights("labeled_squares", labeled, labeled_squares)
            unlabeled, unlabeled_squares = validation.weights("unlabeled_squares", unlabeled, unlabeled_squares)
        self._set("labeled", _frozen(labeled))
        self._set("unlabeled", _frozen(unlabeled))
        self._set("classes", class_names)
        self._set("outputs", output_names)
        self._set("labeled_squares", _frozen(labeled_squares))
        self._set("unlabeled_squares", _frozen(unlabeled_squares))
        self._set("tables", validation.tables(tables))

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
    def outputs_are_classes(self) -> bool:
        """Whether every output is called like a class and every class like an output."""
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
        if self.tables & other.tables:
            raise InputError(
                "counts",
                "share one labelled table",
                "adding them would count its labels twice",
                "Use first.pool(second) to add only their unlabelled sides",
            )
        return self._plus(other.ordered_like(self))

    def pool(self, *others: "Counts") -> "Counts":
        """Add the unlabelled sides of groups that share this labelled table."""
        total = self
        for other in others:
            if not self._shares_labels(other):
                share, add = "Counts.split({group: unlabelled counts})", "first + second"
                remedy = f"Make groups that share one with {share}, or add shards with labels of their own by {add}"
                needed = "pooling adds unlabelled sides only"
                raise InputError("counts", "do not share one labelled table", needed, remedy)
            total = total._plus(other.ordered_like(self)._without_labels())
        return total

    def split(self, unlabeled: Mapping[Any, Any]) -> dict[Any, "Counts"]:
        r"""Give one `Counts` for each group of the unlabelled population; all share this labelled table and know it.

        Split all groups at once: those of another call do not know that they share it.

        Parameters
        ----------
        unlabeled
            For each group, its counts by output.

        Examples
        --------
        >>> weeks = Counts([[9, 1], [2, 8]], [0, 0]).split({"first": [5, 5], "second": [3, 7]})
        >>> weeks["first"].pool(weeks["second"])
        Counts: 20 labelled and 20 unlabelled items, 2 classes, 2 outputs
        class\output  0   1
        0             9   1
        1             2   8
        unlabelled    8  12
        """
        if self.is_weighted:
            remedy = "Build each group's Counts with tables="
            raise InputError("counts", "are weighted", "split() takes whole counts", remedy)
        return sharing({group: replace(self, unlabeled=values) for group, values in unlabeled.items()})

    def _shares_labels(self, other: "Counts") -> bool:
        if not self.tables or self.tables != other.tables:
            return False
        return np.array_equal(self.labeled, other.ordered_like(self).labeled)

    def _plus(self, other: "Counts") -> "Counts":
        squares: tuple[Any, Any] = (None, None)
        if self.is_weighted or other.is_weighted:
            squares = tuple(mine + theirs for mine, theirs in zip(self.squares(), other.squares(), strict=True))
        return replace(
            self,
            labeled=self.labeled + other.labeled,
            unlabeled=self.unlabeled + other.unlabeled,
            labeled_squares=squares[0],
            unlabeled_squares=squares[1],
            tables=self.tables | other.tables,
        )

    def squares(self) -> tuple[Any, Any]:
        """Give the sums of squared weights; an unweighted item weighs one."""
        if self.labeled_squares is None:
            return self.labeled, self.unlabeled
        return self.labeled_squares, self.unlabeled_squares

    def _without_labels(self) -> "Counts":
        return replace(
            self,
            labeled=0 * self.labeled,
            labeled_squares=None if self.labeled_squares is None else 0 * self.labeled_squares,
        )

    def ordered_like(self, other: "Counts") -> "Counts":
        """Give these counts with classes and outputs in the order of others."""
        rows = order_of("classes", self.classes, other.classes)
        columns = order_of("outputs", self.outputs, other.outputs)
        squares, new_squares = self.labeled_squares, self.unlabeled_squares
        return replace(
            self,
            labeled=self.labeled[np.ix_(rows, columns)],
            unlabeled=self.unlabeled[columns],
            classes=other.classes,
            outputs=other.outputs,
            labeled_squares=None if squares is None else squares[np.ix_(rows, columns)],
            unlabeled_squares=None if new_squares is None else new_squares[columns],
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
        return cls(**validation.entries(values, SCHEMA))

    def to_json(self) -> str:
        """Give one line of JSON, the exchange format between a cluster and a laptop."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` gave."""
        try:
            values = read_json(text)
        except JsonError as error:
            remedy = "Write them with Counts.to_json()"
            raise InputError("counts", f"are not JSON ({error})", "they must be one JSON object", remedy) from error
        return cls.from_dict(values)

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def sharing(groups: dict[Any, Counts]) -> dict[Any, Counts]:
    """Let groups that were counted beside one labelled table know it, by an identity made of all their counts.

    The same data have the same identity again, and data whose labelled tables happen to be equal have others. A single
    group shares its labels with no other.
    """
    first = next(iter(groups.values()), None)
    if first is None or first.tables or len(groups) == 1:
        return groups
    unlabeled = sorted([repr(group), counts.unlabeled.tolist()] for group, counts in groups.items())
    content = json.dumps(first.to_dict() | {"unlabeled": unlabeled})
    identity = sha256(content.encode()).hexdigest()[:32]
    return {group: replace(counts, tables=frozenset({identity})) for group, counts in groups.items()}


def _frozen(array: Any) -> Any:
    if array is None:
        return None
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def order_of(argument: str, mine: Sequence[Name], wanted: Sequence[Name]) -> list[int]:
    """Give where each of the `wanted` names stands among `mine`."""
    odd = set(mine) ^ set(wanted)
    if odd:
        raise InputError(
            argument,
            f"differ: only one side has {_check.sorted_names(odd)[0]!r}",
            f"counts add when both have the same {argument}",
            f"Name every one with count(..., {argument}=[...])",
        )
    place = {name: position for position, name in enumerate(mine)}
    return [place[name] for name in wanted]
