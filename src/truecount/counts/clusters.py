"""Items that belong together, such as the epochs of a question: counts of random groups of clusters.

Counts of single clusters would be as large as the data. What the variance needs is less: clusters are put into up to
1,024 bins by a hash of their name, and each bin is counted. Clusters are independent of each other, so bins are too,
and totals that differ more between bins than those of independent items would show how much the items of a cluster are
alike (Wolter, *Introduction to Variance Estimation*, chapter 2, random groups). Bins add up: one cluster is in the same
bin of every shard.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.errors import InputError

MOST_BINS, FEWEST_BINS = 1024, 32
MOST_NUMBERS = 1 << 18
"""Of all bins together; where a table is large, it has fewer bins."""
AGAIN = "Count the data again with cluster="


def bin_of(cluster: object) -> int:
    """Return the bin of a cluster, which its name alone decides.

    >>> bin_of("question 7") == bin_of("question 7") < MOST_BINS
    True
    """
    return crc32(str(cluster).encode(errors="surrogatepass")) % MOST_BINS


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clusters:
    """Counts of each bin of clusters.

    Parameters
    ----------
    bins
        Shape (bins,): which ones hold items.
    labeled, unlabeled
        The counts of each bin: the shape of the whole counts behind that of the bins. They add up to the whole.
    number
        How many clusters there are.
    size
        How many bins clusters are put into.
    is_single
        Whether every item is a cluster of its own, as far as one table shows: clusters then change nothing.
    """

    bins: IntArray
    labeled: FloatArray
    unlabeled: FloatArray
    number: int
    size: int = MOST_BINS
    is_single: bool = False

    @classmethod
    def of_cells(
        cls, shapes: tuple[tuple[int, ...], ...], cells: Iterable[Any], number: int, *, is_single: bool = False
    ) -> "Clusters":
        """Add up cells, each a bin, a side (0 labelled, 1 unlabelled), a place on it, and a number of items."""
        size = _bins_for(sum(map(int, map(np.prod, shapes))))
        held = [(bin_ % size, side, place, items) for bin_, side, place, items in cells]
        bins = sorted({cell[0] for cell in held})
        rows = {bin_: row for row, bin_ in enumerate(bins)}
        sides = tuple(np.zeros((len(bins), *shape)) for shape in shapes)
        for bin_, side, place, items in held:
            sides[side][(rows[bin_], *place)] += items
        return cls(
            bins=np.array(bins, np.int64),
            labeled=sides[0],
            unlabeled=sides[1],
            number=number,
            size=size,
            is_single=is_single,
        )

    def changed(self, labeled: Callable[[Any], Any], unlabeled: Callable[[Any], Any]) -> "Clusters":
        """Return what functions make of the counts of each side, which have one more axis, the bins, in front."""
        return replace(self, labeled=labeled(self.labeled), unlabeled=unlabeled(self.unlabeled))

    def placed(self, studies: Sequence[int], groups: Sequence[int], shape: tuple[int, int]) -> "Clusters":
        """Return the same among so many studies and groups, in which its own have these places."""

        def spread(own: FloatArray, places: Sequence[int], number: int) -> FloatArray:
            whole = np.zeros((len(own), number, *own.shape[2:]))
            whole[:, list(places)] = own
            return whole

        return self.changed(lambda own: spread(own, studies, shape[0]), lambda own: spread(own, groups, shape[1]))

    def coarser(self, size: int) -> "Clusters":
        """Return the same in fewer bins."""
        bins, rows = np.unique(self.bins % size, return_inverse=True)

        def added(own: FloatArray) -> FloatArray:
            total = np.zeros((len(bins), *own.shape[1:]))
            np.add.at(total, rows, own)
            return total

        return replace(self.changed(added, added), bins=bins, size=size)

    def __add__(self, other: "Clusters") -> "Clusters":
        """Add bin to bin; clusters that both have count twice in `number` alone."""
        size = min(self.size, other.size)
        labeled, unlabeled, bins = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("labeled", "unlabeled", "bins")
        )
        number = self.number + other.number
        return Clusters(bins=bins, labeled=labeled, unlabeled=unlabeled, number=number, size=size).coarser(size)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, ready for JSON; whole numbers are written as such."""
        sides = {"labeled": _plain(self.labeled), "unlabeled": _plain(self.unlabeled)}
        single = {"single": True} if self.is_single else {}
        return {"number": self.number, "size": self.size, "bins": self.bins.tolist(), **sides, **single}


def add_clusters(first: Clusters | None, second: Clusters | None) -> Clusters | None:
    """Add the clusters of two shards, which both have some or none."""
    if (first is None) != (second is None):
        needed = "the items of one cluster are told by both"
        raise InputError("clusters", "are on one side only", needed, "Count all shards with the same cluster column")
    return None if first is None or second is None else first + second


def clusters_of_groups(every: Sequence[Clusters | None]) -> Clusters | None:
    """Return the clusters of counts that each become a group with a study of its own."""
    shape, total = (len(every), len(every)), None
    for place, each in enumerate(every):
        own = None
        if each is not None:
            own = each.changed(lambda one: one[:, None], lambda one: one[:, None]).placed([place], [place], shape)
        total = add_clusters(total, own) if place else own
    return total


def read_clusters(values: Any, labeled: Any, unlabeled: Any) -> Clusters:
    """Return what `to_dict` returned, or clusters as they are, if they add up to these counts."""
    found: Clusters = values if isinstance(values, Clusters) else _read(values)
    if found.labeled.ndim == np.ndim(labeled) and len(labeled) == 1:  # of groups that share one table of labels
        found = replace(found, labeled=found.labeled[:, None])
    for side, own, whole in (("labeled", found.labeled, labeled), ("unlabeled", found.unlabeled, unlabeled)):
        if own.shape != (len(found.bins), *whole.shape) or not np.allclose(own.sum(axis=0), whole, rtol=1e-6):
            needed = "the counts of all clusters add up to those of all items"
            raise InputError("clusters", f"do not match {side}", needed, AGAIN)
    return found


def _read(values: Any) -> Clusters:
    names = ("bins", "labeled", "unlabeled", "number", "size")
    if not isinstance(values, Mapping) or set(values) - {"single"} != set(names):
        raise InputError("clusters", f"are {values!r:.60}", f"they hold {', '.join(names)}", AGAIN)
    size = _check.whole_number("clusters.size", values["size"], least=1)
    bins = np.array(_check.finite_numbers("clusters.bins", values["bins"], dimensions=1), np.int64)
    sides = {side: np.array(values[side], np.float64) for side in ("labeled", "unlabeled")}
    if len(set(bins.tolist())) < len(bins) or any(
        (own < 0).any() or not np.isfinite(own).all() for own in sides.values()
    ):
        raise InputError("clusters", "hold a bin twice or a negative number", "each bin has counts once", AGAIN)
    number, is_single = _check.whole_number("clusters.number", values["number"], least=0), values.get("single", False)
    if not isinstance(is_single, bool):
        raise InputError("clusters.single", f"is {is_single!r:.60}", "it is true or false", AGAIN)
    return Clusters(bins=bins, **sides, number=number, size=size, is_single=is_single)


def _bins_for(cells: int) -> int:
    size = MOST_BINS
    while size > FEWEST_BINS and size * cells > MOST_NUMBERS:
        size //= 2
    return size


def _plain(array: FloatArray) -> Any:
    whole = array.astype(np.int64)
    return (whole if (whole == array).all() else array).tolist()
