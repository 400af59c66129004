"""How much the prior decides: what another one would say."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from truecount._log_sum import finite_log, softmax
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, listed_classes, percent
from truecount.counts import Counts
from truecount.inference import convergence
from truecount.inference.draws import Draws
from truecount.models import Density, GivenOutput, Prior
from truecount.results.finding import Finding

Part: TypeAlias = Literal["prevalence", "confusion", "given output"]
Rerun: TypeAlias = Callable[[Density], Draws]
PARTS: dict[Part, str] = {
    "prevalence": "the prevalence",
    "confusion": "the confusion",
    "given output": "each output's classes",
}
FACTORS = (0.5, 2.0)
MOVED = 0.3
"""Posterior standard deviations that a mean may move before the prior is said to matter."""
HEAVY = 25.0
"""Largest weight, in means, from which on the tail of the weights is smoothed and judged."""
TRUSTED, FEWEST = 0.7, 400
"""Pareto k up to which, and effective draws from which on, weights are trusted; above a k of 0.7 they have a bias
(Vehtari, Simpson, Gelman, Yao & Gabry, 2024), and 400 draws know a mean to a twentieth of a standard deviation."""
MANY_CELLS = 200
"""Of the confusion, from which on chains are not run again: an answer under every other prior would take too long."""
SHORTEST = 1e-3
"""Part of the way to another prior, below which none is tried."""
CLEAR = 3.0
"""Standard errors by which a mean must have moved on a part of the way for it to be projected."""


class Models(NamedTuple):
    """The posterior at hand, and that under another prior."""

    given: Density
    other: Density


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PriorChange:
    """What another prior would say.

    Parameters
    ----------
    part, factor
        Which concentrations were multiplied, and by how much; a name such as ``"sparse"`` replaced them.
    mean, moved
        Shape (classes,): the new mean, and its distance from the old one in old standard deviations.
    pareto_k
        Of the weights that turned the draws into those of the new prior; None where no weight was large.
    is_new_run
        Whether the weights were unreliable, and the engine ran again.
    step
        How far the prior was changed on the way to the other one, from 0 to 1: chains of many classes are not run
        again, and where weights are unreliable they are those of a part of the way, on a logarithmic scale.
    error
        Shape (classes,): standard error of `moved`, from the weights and the draws; 0 where it was not measured.
    """

    part: Part
    factor: float | str
    mean: FloatArray
    moved: FloatArray
    pareto_k: float | None
    is_new_run: bool = False
    step: float = 1.0
    error: FloatArray | float = 0.0

    @property
    def is_seen(self) -> bool:
        """Whether any mean moved by more than its error, if it is only that of a part of the way."""
        return self.step == 1 or bool(self.projected.any())

    @property
    def name(self) -> str:
        """What the prior is called in a table."""
        name = f"{self.part} {self.factor}" if isinstance(self.factor, str) else f"{self.part} × {self.factor:g}"
        part = "" if self.step == 1 else f", {percent(self.step)} of the way"
        return f"{name}{part}{'' if self.is_seen else ': no change seen'}"

    @property
    def condition(self) -> str:
        """What the prior is called in a sentence."""
        return self._condition if self.step == 1 else f"{percent(self.step)} of the way to {self._condition}"

    @property
    def projected(self) -> FloatArray:
        """Shape (classes,): how far the whole change would move each mean, if it went on as it began.

        It is 0 where the beginning is within its error.
        """
        is_clear = (self.step == 1) | (self.moved > CLEAR * self.error)
        return np.where(is_clear, self.moved / self.step, 0.0)

    @property
    def _condition(self) -> str:
        if isinstance(self.factor, str):
            return f"{self.factor} rows" if self.part == "confusion" else f"a {self.factor} prior of {PARTS[self.part]}"
        return f"the prior of {PARTS[self.part]} {'halved' if self.factor < 1 else 'doubled'}"


def prior_sensitivity(prior_rows: FloatArray, model: Density, draws: Draws, rerun: Rerun) -> tuple[PriorChange, ...]:
    """Halve and double the concentrations of the prevalence, then of the rows; make those flat that are learned.

    Parameters
    ----------
    prior_rows
        Shape (classes, outputs): the rows' concentrations without the labels.
    model, draws
        The posterior.
    rerun
        Draws from another density, for where the draws at hand cannot be reweighted.
    """
    parts: list[Part] = ["prevalence"] if model.is_known.all() else ["prevalence", "confusion"]
    learned = {"prevalence": model.learned_prevalence, "confusion": model.learned_rows}
    found = []
    for part in parts:
        if learned[part] is None:
            log_prior = _log_prior(part, prior_rows, model, draws)
            for factor in FACTORS:
                models = Models(model, _scaled(part, factor, prior_rows, model))
                found.append(_reweighted(part, factor, (factor - 1) * log_prior, models, draws, rerun))
        else:
            other = _flat(part, prior_rows, model)
            log_weights = _log_fixed(part, other, model, draws)
            found.append(_reweighted(part, "flat", log_weights, Models(model, other), draws, rerun))
    return tuple(found)


def _log_fixed(part: Part, other: Density, model: Density, draws: Draws) -> FloatArray:
    """Shape (draws,): log-weights that turn draws under a learned prior into those under one with fixed numbers."""
    if part == "prevalence" and model.learned_prevalence is not None:
        logs = finite_log(draws.prevalence)
        fixed = logs @ (other.prevalence - model.prevalence)
        return np.asarray(fixed - model.learned_prevalence.log_ratio(logs[:, None, :]))
    fixed = _log_rows(other.rows - model.rows, model, draws)
    if model.learned_rows is None:
        return fixed
    return np.asarray(fixed - model.learned_rows.log_ratio(finite_log(draws.confusion)))


def _flat(part: Part, prior_rows: FloatArray, model: Density) -> Density:
    """Return the density with a flat prior in place of one that is learned."""
    if part == "prevalence":
        return replace(model, prevalence=np.ones(model.n_classes), learned_prevalence=None)
    return replace(model, rows=model.rows - prior_rows + 1.0, learned_rows=None)


def named_rows_change(
    name: str, prior_rows: FloatArray, counts: Counts, model: Density, draws: Draws, rerun: Rerun
) -> PriorChange:
    """Replace the rows' concentrations by those of that name, such as ``"sparse"``."""
    added = Prior(confusion=name).confusion_for(counts) - prior_rows
    other = replace(model, rows=model.rows + added, learned_rows=None)
    log_weights = _log_fixed("confusion", other, model, draws)
    return _reweighted("confusion", name, log_weights, Models(model, other), draws, rerun)


def given_output_sensitivity(model: GivenOutput, spread: FloatArray) -> tuple[PriorChange, ...]:
    """Halve and double the concentrations of the classes of each output; the means are exact.

    Parameters
    ----------
    model
        Counts and prior.
    spread
        Shape (classes,): standard deviations of the answer.
    """
    found = []
    for factor in FACTORS:
        mean = replace(model, prior=factor * model.prior).mean
        moved = np.divide(np.abs(mean - model.mean), spread, out=np.zeros_like(mean), where=spread > 0)
        found.append(PriorChange(part="given output", factor=factor, mean=mean, moved=moved, pareto_k=None))
    return tuple(found)


def _reweighted(
    part: Part, factor: float | str, log_weights: FloatArray, models: Models, draws: Draws, rerun: Rerun
) -> PriorChange:
    """Turn the draws into those of another density by weights, or draw from it where they are unreliable."""
    shares = draws.prevalence if part == "prevalence" else draws.prevalence[:: draws.stride]
    weights, k = _weights(log_weights)
    if _are_reliable(weights, k):
        return _weighted(part, factor, weights, shares, shares, draws, k)
    if draws.chains is not None:
        by_items = _reweighted_by_items(part, factor, models, draws)
        if by_items.step == 1 or models.given.rows.size >= MANY_CELLS:
            return by_items
    mean, base = rerun(models.other).prevalence.mean(axis=0), draws.prevalence.mean(axis=0)
    return replace(_compared(part, factor, mean, base, draws, k), is_new_run=True)


def _are_reliable(weights: FloatArray, k: float | None) -> bool:
    return (k is None or k <= TRUSTED) and bool(1 / (weights**2).sum() >= min(FEWEST, len(weights) / 2))


def _reweighted_by_items(part: Part, factor: float | str, models: Models, draws: Draws) -> PriorChange:
    """Weigh draws by their imputed items alone, as far on the way to the other prior as such weights are reliable.

    Given the items prevalence and rows have closed forms under either prior, and items vary far less than rows do.
    """
    rng, shares = np.random.default_rng(0), draws.prevalence[:: draws.stride]
    items = _imputed(models.given, shares, draws.confusion, rng)
    log_weights = _log_items(part, models, draws, items, rng)
    there = shares
    if part == "prevalence":
        there = items.sum(axis=2) + models.other.prevalence
        there = there / there.sum(axis=1, keepdims=True)
    step = 1.0
    weights, k = _weights(log_weights)
    while not _are_reliable(weights, k) and step > SHORTEST:
        step /= 2
        weights, k = _weights(step * log_weights)
    return replace(_weighted(part, factor, weights, shares, (1 - step) * shares + step * there, draws, k), step=step)


def _imputed(model: Density, shares: FloatArray, rows: FloatArray, rng: np.random.Generator) -> IntArray:
    """Shape (draws, classes, outputs): unlabelled items by class, drawn given each prevalence and confusion."""
    joint = np.maximum(shares[:, None, :] * rows.transpose(0, 2, 1), 1e-300)
    items = rng.multinomial(np.rint(model.unlabeled).astype(np.int64), joint / joint.sum(axis=2, keepdims=True))
    return np.asarray(items.transpose(0, 2, 1))


def _log_items(part: Part, models: Models, draws: Draws, items: IntArray, rng: np.random.Generator) -> FloatArray:
    """Shape (draws,): log-probability of the items under the other prior over that under the given one.

    Rows that are learned have a point of the grid drawn for each draw; the labels weigh the points under both priors,
    so that the ratio is that of the items given labels and point.
    """
    given, other = models.given, models.other
    if part == "prevalence":
        held = items.sum(axis=2)
        log_other = _log_polya(other.prevalence, held)
        if given.learned_prevalence is None:
            return log_other - _log_polya(given.prevalence, held)
        learned = given.learned_prevalence
        at_points = learned.log_evidence_at(np.arange(len(learned.even)), held[:, None, None, :])
        return np.asarray(log_other - np.logaddexp.reduce(at_points + learned.log_prior, axis=1))
    free = ~given.is_known
    rows: FloatArray = given.rows[free]
    if given.learned_rows is not None:
        grid = given.learned_rows
        heights = grid.log_densities(finite_log(draws.confusion))
        points = (heights + rng.gumbel(size=heights.shape)).argmax(axis=1)
        rows = (grid.rows_at(points) + given.rows - grid.reference_rows)[:, free]
    chosen = items[:, free]
    return np.asarray((_log_polya(other.rows[free], chosen) - _log_polya(rows, chosen)).sum(axis=1))


def _log_polya(concentration: FloatArray, items: IntArray) -> FloatArray:
    """Log-probability of items along the last axis with their shares integrated over, up to a constant of the items."""
    from scipy.special import gammaln

    start = np.broadcast_to(concentration, items.shape)
    by_cell, seen = np.zeros(items.shape), items > 0
    by_cell[seen] = gammaln(start[seen] + items[seen]) - gammaln(start[seen])
    total = concentration.sum(axis=-1)
    return np.asarray(by_cell.sum(axis=-1) - gammaln(total + items.sum(axis=-1)) + gammaln(total))


def _weighted(
    part: Part,
    factor: float | str,
    weights: FloatArray,
    shares: FloatArray,
    there: FloatArray,
    draws: Draws,
    k: float | None,
) -> PriorChange:
    """Compare weighted shares with the same draws unweighted, so that what they have in common cancels."""
    mean, base = weights @ there, shares.mean(axis=0)
    each = len(weights) * weights[:, None] * (there - mean) - (shares - base)
    worth = np.minimum(np.maximum(np.nan_to_num(draws.effective), 1.0), len(weights))
    return _compared(part, factor, mean, base, draws, k, error=np.sqrt((each**2).mean(axis=0) / worth))


def _compared(
    part: Part,
    factor: float | str,
    mean: FloatArray,
    base: FloatArray,
    draws: Draws,
    k: float | None,
    error: FloatArray | float = 0.0,
) -> PriorChange:
    """Measure how far the mean moved from the one of the draws at hand, in their standard deviations."""
    spread = draws.prevalence.std(axis=0)
    moved, error = (
        np.divide(each, spread, out=np.zeros_like(spread), where=spread > 0) for each in (np.abs(mean - base), error)
    )
    return PriorChange(part=part, factor=factor, mean=mean, moved=moved, pareto_k=k, error=error)


def _log_prior(part: Part, prior_rows: FloatArray, model: Density, draws: Draws) -> FloatArray:
    """Shape (draws,): what one more of these concentrations adds to the log-density."""
    if part == "prevalence":
        return np.asarray(finite_log(draws.prevalence) @ model.prevalence)
    return _log_rows(prior_rows, model, draws)


def _log_rows(concentration: FloatArray, model: Density, draws: Draws) -> FloatArray:
    """Shape (draws,): what so much more concentration of the learned rows adds to the log-density."""
    learned = ~model.is_known
    return np.asarray(np.einsum("lk,dlk->d", concentration[learned], finite_log(draws.confusion[:, learned])))


def _weights(log_weights: FloatArray) -> tuple[FloatArray, float | None]:
    """Weights that sum to one, smoothed where one is large, and then the Pareto k of their tail."""
    weights = softmax(log_weights)
    if weights.max() * len(weights) <= HEAVY:
        return weights, None
    smoothed, k = convergence.pareto_smoothed(log_weights)
    return softmax(smoothed), k


def _scaled(part: Part, factor: float, prior_rows: FloatArray, model: Density) -> Density:
    if part == "prevalence":
        return replace(model, prevalence=factor * model.prevalence)
    return replace(model, rows=model.rows + (factor - 1) * prior_rows)


def prior_finding(classes: tuple[Name, ...], mean: FloatArray, changes: tuple[PriorChange, ...]) -> Finding | None:
    """Name the classes that another prior would move, and by how much at most."""
    most = np.max([change.projected for change in changes], axis=0)
    rows = np.flatnonzero(most > MOVED)
    if not len(rows):
        return None
    worst = max(changes, key=lambda change: float(change.projected.max()))
    most_moved = int(worst.projected.argmax())
    names = [classes[row] for row in rows]
    return Finding(
        "prior-sensitive",
        "caution",
        f"The share of {listed_classes(names)} depends on the prior: with {worst.condition}, "
        f"{called(classes[most_moved])} would have {percent(worst.mean[most_moved])} instead of "
        f"{percent(mean[most_moved])}.",
        {"classes": names, "moved": most[rows].tolist(), "part": worst.part, "factor": worst.factor},
        "Say in a report which prior was used, or gather more data; the table of priors shows what others would say.",
    )
