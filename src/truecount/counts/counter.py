"""A counter for code that sees its data in batches: services, notebooks, many threads."""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, Self

import numpy as np

from truecount import _check
from truecount.counts.exchange import tally_of, to_document
from truecount.counts.groups import Groups
from truecount.counts.table import Counts
from truecount.counts.tally import Tally, merged, require_sound, tallied
from truecount.errors import InputError
from truecount.reading.arrays import array_rows, encode_keys, encode_with_gaps
from truecount.reading.columns import Columns
from truecount.reading.names import Missing
from truecount.reading.rows import Reading, Row, known_group, require_predictions


class Counter:
    r"""Counts batches as they come, and can be merged; all of it from any number of threads.

    Parameters
    ----------
    by
        The name of what groups are made by, or several; every batch then comes with its groups, and `groups` is what
        was counted.
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
        by: str | Iterable[str] = (),
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        missing: Missing = None,
    ) -> None:
        names = [by] if isinstance(by, str) else list(by)
        columns = Columns(label="labels", prediction="predictions", by=dict.fromkeys(names))
        self._reading = Reading.told(columns, missing=missing, classes=classes, outputs=outputs, is_shard=True)
        self._lock = Lock()
        self._tally = Tally(by=tuple(names), classes=self._reading.classes, outputs=self._reading.outputs)

    def update(self, labels: Any, predictions: Any, *, by: Any = None, weights: Any = None) -> Self:
        """Count a batch.

        Parameters
        ----------
        labels
            The true class of every item, None where it is not known; None for a batch without any label.
        predictions
            The output for the same items, in the same order.
        by
            The group of each item, where the counter makes groups: a column, or a mapping from name to column. Labels
            serve all groups; that of a labelled item tells whether the classifier treats groups alike.
        weights
            The weight of each item; 1 if left out.
        """
        batch = tallied(self._rows(labels, predictions, by, weights), self._reading)
        batch.is_weighted = weights is not None
        with self._lock:
            self._put(batch)
        return self

    def merge(self, other: "Counter | Counts | Groups") -> Self:
        """Add what another counter has seen so far, or the counts of another part of the data."""
        if isinstance(other, Counter):
            addition = other.snapshot()
        elif isinstance(other, Counts | Groups):
            addition = tally_of(other)
        else:
            needed = "it must be a Counter, Counts or Groups"
            raise InputError("other", f"is of type {type(other).__name__}", needed, "Use update() for a batch")
        with self._lock:
            self._put(addition)
        return self

    def snapshot(self) -> Tally:
        """Return what was seen so far, which later updates leave as it is."""
        with self._lock:
            return self._tally  # updates put a new one in its place

    @property
    def counts(self) -> Counts:
        """What was seen so far, all groups together; it must hold at least two classes."""
        return self._sound().to_counts()

    @property
    def groups(self) -> Groups:
        """What was seen so far, group by group; it must hold at least two classes."""
        if not self._reading.columns.by:
            needed = "groups are made by what by= names"
            raise InputError("by", "is not given", needed, "Begin with Counter(by='region'), and pass by= to update()")
        return self._sound().to_groups()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and names, ready for JSON and ``truecount counts merge``, with any number of classes."""
        return to_document(self.snapshot())

    def _rows(self, labels: Any, predictions: Any, by: Any, weights: Any) -> list[Row]:
        """Return the rows of a batch; labelled ones belong to no group."""
        reading = self._reading
        said = encode_with_gaps("predictions", predictions, reading.missing)
        truth = None if labels is None else encode_with_gaps("labels", labels, reading.missing)
        groups = [encode_keys("by", column) for column in self._columns_by(by)]
        for argument, column in (("labels", truth), *(("by", each) for each in groups)):
            if column is not None:
                column.require_length(argument, "predictions", len(said.codes))
        items = None
        if weights is not None:
            items = _check.finite_numbers("weights", weights, dimensions=1).astype(np.float64)
            if len(items) != len(said.codes):
                found, needed = f"has {len(items)} values", f"predictions has {len(said.codes)}"
                raise InputError("weights", found, needed, "Pass one for each item")
        rows = reading.explained(None, array_rows(truth, said, groups=groups, weights=items))
        if rows:
            require_predictions("predictions", rows, ["predictions"])
        return [
            row if row.label is None else row._replace(group=(), label_group=known_group(row.group)) for row in rows
        ]

    def _columns_by(self, by: Any) -> list[Any]:
        names = list(self._reading.columns.by)
        columns = dict(by) if isinstance(by, Mapping) else {} if by is None else dict.fromkeys(names[:1] or ["by"], by)
        if set(columns) != set(names):
            found = f"names {', '.join(map(repr, columns))}" if columns else "is not given"
            needed = f"groups are made by {', '.join(map(repr, names))}" if names else "this counter makes no groups"
            raise InputError("by", found, needed, "Pass a column for each name that the counter was made with")
        return [columns[name] for name in names]

    def _put(self, addition: Tally) -> None:
        """Add to what was seen so far, or refuse it and leave that as it is."""
        tally = merged([self._tally, addition])
        tally.require_names(self._reading, None)
        self._tally = tally

    def _sound(self) -> Tally:
        tally = self.snapshot()
        require_sound(tally, self._reading)
        return tally

    def __repr__(self) -> str:
        tally = self.snapshot()
        labeled, unlabeled = sum(tally.labeled.values()), sum(tally.unlabeled.values())
        kind = "weight" if tally.is_weighted else "items"
        return f"Counter: {labeled:,} labelled and {unlabeled:,} unlabelled {kind}"
