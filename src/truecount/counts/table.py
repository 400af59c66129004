"""The sufficient statistic: how often each output was seen, for each class and in the unlabelled population."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from truecount import _check
from truecount._advice import Advice, naming
from truecount._json import JsonError, read_json
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import is_number
from truecount.counts import display, validation
from truecount.counts.clusters import Clusters, add_clusters, read_clusters
from truecount.counts.combinations import Combinations, common_combinations
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
        if combinations is not None:
            combinations = Combinations.read("combinations", combinations, len(output_names))
        self._set("combinations", combinations)
        self._set("clusters", None if clusters is None else read_clusters(clusters, labeled, unlabeled))

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
        return cls(**validation.entries(values, SCHEMA))

    def to_json(self) -> str:
        """Return one line of JSON, the exchange format between a cluster and a laptop."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` returned."""
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


def _frozen(array: Any) -> Any:
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
