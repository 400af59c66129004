"""A counter for code that sees its data in batches: services, notebooks, many threads."""

from collections.abc import Iterable
from threading import Lock
from typing import Any, Self

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.counts import require
from truecount.counts.arrays import require_table
from truecount.counts.assemble import named_or_found
from truecount.counts.exchange import from_document, to_document
from truecount.counts.table import Counts
from truecount.counts.tally import Tally, merged
from truecount.errors import InputError
from truecount.reading.encode import Codes, encode_with_gaps
from truecount.reading.markers import Missing, explained, missing_words
from truecount.reading.rows import Row


class Counter:
    r"""Counts batches as they come, and can be merged; all of it from any number of threads.

    Parameters
    ----------
    classes, outputs
        Their names, in the order wanted. Left out, they are the values that occur, sorted.
    missing
        A word that stands for a missing value, or several; ``""`` says that no other word does.

    Notes
    -----
    Values become names by the rules of `count_table`. An update is counted as a whole or, if it is refused, not at all.

    Examples
    --------
    >>> counter = Counter()
    >>> counter.update(["pass", "fail", None], ["pass", "pass", "fail"]).update(None, ["pass", "pass"])
    Counter: 2 labelled and 3 unlabelled items
    >>> counter.counts
    Counts: 2 labelled and 3 unlabelled items, 2 classes, 2 outputs
    class\output  fail  pass
    fail             0     1
    pass             0     1
    unlabelled       1     2
    """

    def __init__(
        self,
        *,
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        missing: Missing = None,
    ) -> None:
        self._lock, self._missing = Lock(), missing_words(missing)
        self._classes, self._outputs = named_or_found("classes", classes), named_or_found("outputs", outputs)
        self._tally = Tally(classes=self._classes, outputs=self._outputs)

    def update(self, labels: Any, predictions: Any, *, weights: Any = None) -> Self:
        """Count a batch.

        Parameters
        ----------
        labels
            The true class of every item, None where it is not known; None for a batch without any label.
        predictions
            The output for the same items, in the same order.
        weights
            The weight of each item; 1 if left out.
        """
        rows = explained("labels", _rows(labels, predictions, weights), self._missing, self._named())
        if rows:
            require.predictions("predictions", rows, "predictions")
        with self._lock:
            tally = merged([self._tally, self._batch(rows, is_weighted=weights is not None)])
            tally.classes, tally.outputs = self._classes, self._outputs
            self._tally = tally
        return self

    def merge(self, other: "Counter | Counts") -> Self:
        """Add what another counter has seen so far, or the counts of another part of the data."""
        if isinstance(other, Counter):
            addition = other.snapshot()
        elif isinstance(other, Counts):
            addition = from_document(other.to_dict())
        else:
            needed = "it must be a Counter or Counts"
            raise InputError("other", f"is of type {type(other).__name__}", needed, "Use update() for a batch")
        with self._lock:
            self._require_named(addition)
            self._tally = merged([self._tally, addition])
            self._tally.classes, self._tally.outputs = self._classes, self._outputs
        return self

    def snapshot(self) -> Tally:
        """Give what was seen so far, which later updates leave as it is."""
        with self._lock:
            return self._tally  # updates put a new one in its place

    @property
    def counts(self) -> Counts:
        """What was seen so far, which must hold at least two classes."""
        tally = self.snapshot()
        require_table(tally.class_names(), tally.output_names())
        if self._outputs is None:
            tally.require_shared_outputs("predictions")
        return tally.counts()

    def to_dict(self) -> dict[str, Any]:
        """Give plain lists and names, ready for JSON and for ``truecount counts merge``, with any number of classes."""
        return to_document(self.snapshot())

    def _batch(self, rows: list[Row], *, is_weighted: bool) -> Tally:
        batch = Tally(is_weighted=is_weighted)
        batch.add(rows)
        self._require_named(batch)
        return batch

    def _named(self) -> list[Name]:
        return [*(self._classes or ()), *(self._outputs or ())]

    def _require_named(self, addition: Tally) -> None:
        sides = (
            ("classes", "labels", self._classes, addition.class_names()),
            ("outputs", "predictions", self._outputs, addition.output_names()),
        )
        for argument, column, wanted, found in sides:
            if wanted is not None:
                require.named(column, column, argument, wanted, found)

    def __repr__(self) -> str:
        tally = self.snapshot()
        labeled, unlabeled = sum(tally.labeled.values()), sum(tally.unlabeled.values())
        return (
            f"Counter: {labeled:,} labelled and {unlabeled:,} unlabelled {'weight' if tally.is_weighted else 'items'}"
        )


def _rows(labels: Any, predictions: Any, weights: Any) -> list[Row]:
    """Count the combinations of a batch."""
    codes, outputs = encode_with_gaps("predictions", predictions)
    names: list[Name | None] = [None]
    if labels is not None:
        label_codes, names = encode_with_gaps("labels", labels)
        _require_length("labels", label_codes, codes)
        require_table(names, outputs)
        codes = label_codes * np.int64(len(outputs)) + codes
    items = _weights(weights, codes)
    size = len(names) * len(outputs)
    numbers = np.bincount(codes, minlength=size)
    sums = [numbers if items is None else np.bincount(codes, items**power, size) for power in (1, 2)]
    return [
        Row((), names[cell // len(outputs)], outputs[cell % len(outputs)], int(numbers[cell]), *_plain(cell, sums))
        for cell in np.flatnonzero(numbers).tolist()
    ]


def _plain(cell: int, sums: list[Any]) -> tuple[Any, Any]:
    return sums[0][cell].item(), sums[1][cell].item()


def _weights(weights: Any, codes: Codes) -> FloatArray | None:
    if weights is None:
        return None
    array = _check.finite_numbers("weights", weights, dimensions=1).astype(np.float64)
    _require_length("weights", array, codes)
    return array


def _require_length(argument: str, found: Any, codes: Codes) -> None:
    if len(found) != len(codes):
        needed = f"predictions has {len(codes)}, and each item needs both"
        raise InputError(argument, f"has {len(found)} values", needed, "Pass columns of the same items")
