"""The classifier itself, corrected for the new prevalence: what it says of each item, with how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.results.posterior import Posterior
from truecount.scores.scores import probabilities

_SMALLEST = 1e-200
"""A share drawn as zero counts as this, so that an item that can be of no other class still belongs to it."""
_BLOCK_BYTES = 4_000_000
"""What is computed at a time: little enough to stay close to the processor."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recalibration:
    """Class probabilities of items in the new population.

    ``P_new(y | x) ∝ P_old(y | x) · π′_y / π_y``, once for each draw of the ratio.

    Parameters
    ----------
    scores
        Shape (items, classes): the probabilities as they were, at the prevalence π.
    ratios
        Shape (draws, classes): draws of π′/π.
    classes
        Names of the classes, in the order of the columns.
    """

    scores: FloatArray
    ratios: FloatArray
    classes: tuple[Name, ...]

    @cached_property
    def mean(self) -> FloatArray:
        """Shape (items, classes): the probability of each class, averaged over the draws; rows sum to one."""
        mean = np.empty_like(self.scores)
        for part in self._parts(len(self.ratios)):
            mean[part] = self.scores[part] * (1 / (self.scores[part] @ self.ratios.T) @ self.ratios)
        shares: FloatArray = mean / mean.sum(axis=1, keepdims=True)  # as many as there are draws, but for rounding
        return shares

    @cached_property
    def shares(self) -> FloatArray:
        """Shape (draws, classes): the average over the items, for each draw; that of right probabilities is π′."""
        total = np.zeros_like(self.ratios)
        for part in self._parts(len(self.ratios)):
            total += (1 / (self.ratios @ self.scores[part].T)) @ self.scores[part]
        return self.ratios * total / len(self.scores)

    def interval(self, level: float = 0.95) -> FloatArray:
        """Shape (items, classes, 2): between which ends the probability lies, given what is known of the shares.

        Notes
        -----
        It holds what is not known of the prevalence, not whether the scores themselves are right.
        """
        level = _check.level(level)
        ends = np.empty((*self.scores.shape, 2))
        for part in self._parts(self.ratios.size):
            weighted = self.scores[part, None] * self.ratios
            weighted /= weighted.sum(axis=2, keepdims=True)
            ends[part] = np.moveaxis(np.quantile(weighted, [(1 - level) / 2, (1 + level) / 2], axis=1), 0, -1)
        return ends

    def decide(self, costs: Any = None, *, decisions: Sequence[Name] | None = None) -> np.ndarray[Any, Any]:
        """Choose what costs least on average, item by item.

        Parameters
        ----------
        costs
            Shape (classes, decisions): what each decision costs where each class is the truth. Left out, every mistake
            costs the same, and the most probable class is chosen.
        decisions
            Names of the decisions; the classes where there are as many, numbers otherwise.

        Returns
        -------
        Shape (items,): the name of a decision for each; of equals, the first.

        Notes
        -----
        A cost is linear in the probabilities, so their mean over the draws is all that counts.

        Examples
        --------
        >>> flat = Recalibration(scores=np.array([[0.7, 0.3]]), ratios=np.ones((1, 2)), classes=("well", "ill"))
        >>> flat.decide().tolist(), flat.decide([[0, 1], [20, 0]]).tolist()
        (['well'], ['ill'])
        """
        table = _costs(costs, len(self.classes))
        names = _decisions(decisions, table.shape[1], self.classes)
        chosen: np.ndarray[Any, Any] = names[(self.mean @ table).argmin(axis=1)]
        return chosen

    def _parts(self, numbers: int) -> Iterator[slice]:
        """Return slices of the items, of which so many numbers each are computed at a time."""
        size = max(1, _BLOCK_BYTES // (8 * numbers))
        yield from (slice(start, start + size) for start in range(0, len(self.scores), size))

    def __repr__(self) -> str:
        return f"Recalibration: {len(self.scores)} items, {len(self.classes)} classes, {len(self.ratios)} draws"


def recalibrate(scores: Any, posterior: Posterior, *, trained_on: Any = None, draws: int = 400) -> Recalibration:
    """Correct class probabilities for the prevalence of a new population.

    Parameters
    ----------
    scores
        Shape (items, classes): probabilities of the classifier, columns in the order of ``posterior.classes``.
    posterior
        Of the prevalence π′ of the population that the items come from.
    trained_on
        The prevalence π that the scores were trained or calibrated on: a share for each class, in order or by name, or
        draws of them, shape (draws, classes). Left out, it is taken to be that behind the labelled items, with its
        posterior; say it where the classifier was trained on others.
    draws
        How many draws to average over, at most; they are spread evenly over those of the posterior.

    Notes
    -----
    Not for scores that are not calibrated: a wrong probability, reweighted, stays wrong (`estimators.calibrate` mends
    many). Saerens, Latinne & Decaestecker (2002) correct by a point estimate; here what is not known of π′ and π is
    carried through (Ziegler & Czyż, 2024, footnote on π′/π).

    Examples
    --------
    >>> from truecount import Counts, infer
    >>> posterior = infer(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]), seed=1)
    >>> corrected = recalibrate([[0.5, 0.5], [0.1, 0.9]], posterior, trained_on={"fail": 0.5, "pass": 0.5})
    >>> corrected.mean.round(2)
    array([[0.84, 0.16],
           [0.38, 0.62]])
    >>> corrected.interval(0.95)[0].round(2)
    array([[0.74, 0.94],
           [0.06, 0.26]])
    """
    _check.instance_of("posterior", posterior, Posterior, "Pass what infer(counts) gives")
    rows, wanted = probabilities("scores", scores), _check.whole_number("draws", draws, least=1)
    if rows.shape[1] != len(posterior.classes):
        needed = f"the posterior has {len(posterior.classes)} classes"
        raise InputError("scores", f"has {rows.shape[1]} columns", needed, "Pass a column for each class, in order")
    old = posterior.labeled_prevalence if trained_on is None else _prevalence(trained_on, posterior.classes)
    ratios = np.maximum(spread(posterior.prevalence, wanted), _SMALLEST) / spread(old, wanted)
    return Recalibration(scores=rows, ratios=ratios, classes=posterior.classes)


def spread(draws: FloatArray, wanted: int) -> FloatArray:
    """Return so many draws, evenly spaced; of fewer, each several times."""
    chosen: FloatArray = draws[np.linspace(0, len(draws) - 1, wanted).round().astype(int)]
    return chosen


def _prevalence(given: Any, classes: Sequence[Name]) -> FloatArray:
    """Shape (draws, classes): shares above zero that sum to one; a single row where one prevalence was given."""
    if isinstance(given, Mapping):
        if set(given) != set(classes):
            needed = f"the classes are {quoted(classes)}"
            raise InputError("trained_on", f"names {quoted(given)}", needed, "Name each class once")
        given = [given[name] for name in classes]
    rows = probabilities("trained_on", np.atleast_2d(given))
    if rows.shape[1] != len(classes) or not (rows > 0).all():
        found = f"has shape {np.shape(given)}" if rows.shape[1] != len(classes) else "has a share of 0"
        needed = f"it must give each of {len(classes)} classes a share above 0"
        raise InputError("trained_on", found, needed, "Pass the shares of the items that the classifier was trained on")
    return rows


def _costs(costs: Any, n_classes: int) -> FloatArray:
    if costs is None:
        return 1 - np.eye(n_classes)
    table = np.asarray(costs, np.float64)
    if table.ndim != 2 or len(table) != n_classes or not np.isfinite(table).all():
        needed = f"it must have a row of finite numbers for each of {n_classes} classes, a column for each decision"
        raise InputError("costs", f"has shape {table.shape}", needed, "Rows are true classes")
    return table


def _decisions(names: Sequence[Name] | None, size: int, classes: Sequence[Name]) -> np.ndarray[Any, Any]:
    chosen = (classes if size == len(classes) else range(size)) if names is None else names
    if len(chosen) != size:
        raise InputError("decisions", f"names {len(chosen)}", f"costs has {size} columns", "Name each column once")
    return np.array(chosen, dtype=object if len(set(map(type, chosen))) > 1 else None)  # 1 and "ill" stay as they are
