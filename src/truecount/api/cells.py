"""The verb that ends in a partition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from statistics import NormalDist
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount._version import __version__
from truecount.errors import InputError
from truecount.inference.modes.mode import ascend_together
from truecount.models import Density, Prior, density
from truecount.models.information import expected_covariance
from truecount.results.partition_choice import Candidate, PartitionChoice
from truecount.scores import Argmax, Bins, Clusters, Partition, Scores, Tree
from truecount.scores.cells import table
from truecount.scores.partition import held_out_mask

MULTIPLES = (0.25, 1.0, 4.0)
"""Of the planned labels: the numbers of labels for which widths are shown."""
MOST_ROUNDS = 1000
"""Rounds of leaps towards a mode at most; it lies next to where they start."""
PREVALENCES = 32
"""How many prevalences to average over."""
WORTH = 0.98
"""Fewer cells are chosen unless more make the interval shorter by this factor."""


def choose_partition(
    scores: Any,
    labels: Any,
    *,
    classes: Iterable[Any] | None = None,
    candidates: Sequence[Partition] | None = None,
    labeled: int | None = None,
    unlabeled: int = 1000,
    prior: Prior = Prior(),
    level: float = 0.95,
    seed: int = 0,
) -> PartitionChoice:
    """Choose how to sort scores into cells, by the width that is expected of the interval.

    Parameters
    ----------
    scores
        Shape (items, classes): probabilities of items that will *not* be counted afterwards.
    labels
        The class of each, by name.
    classes
        Names of the columns, in their order. Left out, they are 0, 1, ….
    candidates
        Partitions to compare. Left out: `Argmax`, and of several sizes `Bins` and `Tree` for two classes, `Clusters`
        and `Tree` for more.
    labeled
        How many labelled items will be counted, in the proportions of `labels`; as many as given here by default.
    unlabeled
        How many new items there will be.
    prior
        The prior; the prevalences to prepare for are drawn from it.
    level
        Of the interval.
    seed
        Of the halves and of the prevalences.

    Returns
    -------
    The choice, with its cells fitted to all items given; a table of all candidates when printed.

    Notes
    -----
    One half of the items shapes the cells, the other says how often each class falls into each, and differences that
    chance explains are taken off. The width is read off the Fisher information at the mode of the counts that are
    expected then, and averaged over prevalences drawn from the prior. More cells keep more of the scores, but the rows
    P(cell | class) must be learned from fewer labels a cell. Fewer cells are chosen unless more make the interval at
    least 2 % shorter. With few labels a cell the posterior comes out somewhat narrower than is expected here. Items
    given here must not be counted afterwards: the cells would look better than they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> second = 1 / (1 + np.exp(-1.5 * rng.normal(1.5 * labels - 0.75)))
    >>> choose_partition(second, labels, candidates=[Argmax(), Bins(5), Bins(20)], labeled=200)
    partition                       cells  50 labels  200 labels  800 labels
    Argmax()                            2       44.3        25.5        16.1
    Bins(k=5, kind='equal-width')       5       41.3        22.2        13.8  *
    Bins(k=20, kind='equal-width')     20       49.3        23.8        13.7
    Expected width of 95 % intervals, in points, averaged over the classes.
    * chosen for 200 labels: Bins(k=5, kind='equal-width')
    """
    level, seed = _check.level(level), _check.whole_number("seed", seed, least=0)
    _check.whole_number("unlabeled", unlabeled, least=1)
    rows = table(scores)
    given = Scores(rows, labels, rows[:0], classes)
    planned = _check.whole_number("labeled", len(rows) if labeled is None else labeled, least=4)
    budget = tuple(round(multiple * planned) for multiple in MULTIPLES)
    plan = _Plan(budget, unlabeled, prior, level, seed)
    found = tuple(plan.judge(each, given) for each in _tried(candidates, len(given.classes)))
    best = _best(found)
    return PartitionChoice(
        candidates=found,
        chosen=best,
        cells=found[best].partition.fit(given.labeled, given.labels),
        labels=budget,
        level=level,
        provenance={"unlabeled": unlabeled, "prior": prior.to_dict(), "seed": seed, "version": __version__},
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """What will be counted, and how."""

    labeled: tuple[int, ...]
    unlabeled: int
    prior: Prior
    level: float
    seed: int

    def judge(self, partition: Partition, scores: Scores) -> Candidate:
        """Shape the cells on one half of the items, count the other half by cell, and expect more of the same."""
        shaping = held_out_mask(scores.labels, 2, np.random.default_rng(self.seed))
        cells = partition.fit(scores.labeled[shaping], scores.labels[shaping])
        counts = scores.take(np.flatnonzero(~shaping), np.empty(0, np.int64)).to_counts(cells)
        blank = replace(density(counts, self.prior), rows=self.prior.confusion_for(counts))
        confusion, shares = _without_chance(counts.labeled + blank.rows), scores.items / len(scores.labels)
        widths = [self._width(blank, confusion, np.maximum(1.0, total * shares)) for total in self.labeled]
        return Candidate(partition=partition, size=cells.size, widths=np.array(widths))

    def _width(self, blank: Density, confusion: FloatArray, labeled: FloatArray) -> FloatArray:
        """Shape (classes,): the expected width of each class's interval, averaged over prevalences."""
        truths = np.random.default_rng([self.seed, 1]).dirichlet(blank.prevalence, PREVALENCES)
        model = replace(blank, rows=blank.rows + labeled[:, None] * confusion)
        sds = [self._sd(model, np.column_stack([truth, confusion])) for truth in truths]
        width: FloatArray = 2 * NormalDist().inv_cdf((1 + self.level) / 2) * np.mean(sds, axis=0)
        return width

    def _sd(self, model: Density, truth: FloatArray) -> FloatArray:
        """Shape (classes,): the posterior's standard deviation, by the information at the mode near the truth.

        The mode is that in log-ratio coordinates, where every concentration is larger by one, and shares stay inside.
        """
        expected = self.unlabeled * truth[:, 0] @ truth[:, 1:]
        inside = replace(model, prevalence=model.prevalence + 1, rows=model.rows + 1, unlabeled=expected)
        [mode] = ascend_together(inside, truth[None], MOST_ROUNDS)
        covariance = expected_covariance(
            mode[:, 1:],
            mode[:, 0],
            labeled=model.rows.sum(axis=1),
            unlabeled=self.unlabeled,
            prior=model.prevalence,
        )
        return np.sqrt(np.diag(covariance))


def _without_chance(table: FloatArray) -> FloatArray:
    """Return rows of shares, drawn towards their mean by what chance alone explains of their differences.

    Of Pearson's statistic, its degrees of freedom are what rows that do not differ would show.
    """
    shares = table / table.sum(axis=1, keepdims=True)
    pooled = table.sum(axis=0) / table.sum()
    statistic = (table.sum(axis=1)[:, None] * (shares - pooled) ** 2 / pooled).sum()
    by_chance = (len(table) - 1) * (len(pooled) - 1)
    kept = np.sqrt(max(0.0, 1 - by_chance / statistic)) if statistic > 0 else 0.0
    middle = shares.mean(axis=0)
    drawn: FloatArray = middle + kept * (shares - middle)
    return drawn


def _tried(candidates: Sequence[Partition] | None, n_classes: int) -> tuple[Partition, ...]:
    if candidates is None:
        grown = (Tree,) if find_spec("sklearn") else ()
        kinds, sizes = ((Bins, *grown), (3, 5, 8, 12)) if n_classes == 2 else ((Clusters, *grown), (1, 2, 3))
        numbers = sizes if n_classes == 2 else [n_classes * size for size in sizes]
        return (Argmax(), *(kind(number) for kind in kinds for number in numbers))
    if not candidates:
        raise InputError("candidates", "are empty", "there must be some to choose from", "Pass [Argmax(), Bins(5)]")
    for each in candidates:
        if isinstance(each, type) or not hasattr(each, "fit"):
            raise InputError("candidates", f"hold {each!r}", "each must be a partition", "Pass [Argmax(), Bins(5)]")
    return tuple(candidates)


def _best(candidates: Sequence[Candidate]) -> int:
    """Return the position of the fewest cells whose interval is about as short as the shortest."""
    widths = np.array([candidate.widths[1].mean() for candidate in candidates])
    good = np.flatnonzero(WORTH * widths <= widths.min())
    return min(good.tolist(), key=lambda place: (candidates[place].size, widths[place]))
