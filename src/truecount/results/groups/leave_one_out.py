"""How well the other groups predict each group's items, pooled and independent: leave-one-group-out scores.

``log p(n_g | the other groups)``, where the confusion and what groups have in common are drawn from the posterior of
all groups, weighted by ``1 / p(n_g | them)`` with a smoothed tail, and the group's own prevalence is integrated out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._log_sum import finite_log
from truecount._types import FloatArray
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.inference.group_draws import GroupDraws
from truecount.inference.group_shares import DEGREES, PriorOfLatents, approximate_shares, t_noise
from truecount.models import Cut, Independent, LabelShift, Varying, Walk
from truecount.models.groups import group_density, walk_loading
from truecount.models.hierarchy.dirichlet import DirichletGroups
from truecount.models.hierarchy.log_ratios import log_ratio_basis, shares_of

DRAWS = 400
"""Of the confusion and of what groups have in common."""
POINTS = 64
"""At which a group's prevalence is integrated."""
BATCH = 2_000_000
FLAT = 1e-9
"""Range of log-weights below which a group says nothing of the others, as one without items."""
K_LIMIT = 0.7
"""Tail shape above which a weighted mean is not reliable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """Log-probability of each group's items by the other groups, pooled and independent.

    Parameters
    ----------
    groups
        Their names.
    pooled, independent
        Shape (groups,): under the model of the answer; and where the prevalence of a group has its prior alone. The
        confusion is the same in both.
    tail
        Shape (groups,): the tail shape k of the weights; above 0.7 a group's scores are not reliable.
    """

    groups: tuple[Any, ...]
    pooled: FloatArray
    independent: FloatArray
    tail: FloatArray

    @property
    def gain(self) -> float:
        """How much better pooling predicts, in units of log-probability, all groups added up."""
        return float((self.pooled - self.independent).sum())

    @property
    def gain_error(self) -> float:
        """Standard error of the gain."""
        each = self.pooled - self.independent
        return float(np.sqrt(len(each)) * each.std(ddof=1)) if len(each) > 1 else float("nan")

    @property
    def is_reliable(self) -> bool:
        """Whether the tails of all weights are short enough."""
        return bool((self.tail <= K_LIMIT).all())

    @property
    def sentence(self) -> str:
        """What the scores say, in words."""
        if not self.is_reliable:
            number = int((self.tail > K_LIMIT).sum())
            return (
                f"Some scores are not reliable: {number} of {len(self.groups)} groups are too influential to leave out."
            )
        if not abs(self.gain) >= 2 * self.gain_error:
            return "The groups do not tell whether pooling predicts a left-out group better than no pooling."
        better, worse = ("pooling", "no pooling") if self.gain > 0 else ("no pooling", "pooling")
        return f"A left-out group is predicted better by {better} than by {worse}."


def leave_one_out(data: Groups, model: LabelShift, draws: GroupDraws, seed: int) -> LeaveOneOut:
    """Return leave-one-group-out scores, of draws of all groups."""
    _require_scorable(model)
    stride = max(1, len(draws.prevalence) // DRAWS)
    unlabeled, rows = effective_groups(data)[1].T, draws.confusion[::stride, :, :, None]
    basis, concentration = log_ratio_basis(len(data.classes)), model.prior.prevalence_for(data.total)
    located, scale, learned = _prior_of_left_out(data, model, draws, stride)
    flat = DirichletGroups(basis, concentration)
    level = np.zeros((len(data.classes), len(data)))
    if isinstance(model.groups, Walk):
        level[:, int(np.argmin(np.asarray(data.times)))] = concentration
    rng = np.random.default_rng([seed, *b"leave one out"])
    points = t_noise(rng, (POINTS, len(data.classes) - 1))
    width = max(1, BATCH // (len(rows) * len(data.classes) * len(data.outputs)))
    pooled, independent = [], []
    for at in range(0, len(data), width):
        part = slice(at, at + width)
        there = (unlabeled[:, part], rows, basis)
        about = (located[:, :, part], scale[:, :, part])
        prior = _normal_prior(flat, about[1], level[:, part]) if learned is None else _dirichlet_prior(learned, *about)
        pooled.append(_evidence(*there, *about, prior, points))
        even = np.zeros_like(located[:, :, part])
        alike = (even, np.ones_like(even))
        independent.append(_evidence(*there, *alike, _dirichlet_prior(flat, *alike), points))
    by_pooled, by_flat = np.concatenate(pooled, axis=1), np.concatenate(independent, axis=1)
    for first in np.flatnonzero(level.any(axis=0)):
        about, none = (located[:, :, [first]], scale[:, :, [first]]), np.zeros_like(unlabeled[:, [first]])
        prior = _normal_prior(flat, about[1], level[:, [first]])
        by_pooled[:, [first]] -= _evidence(none, rows, basis, *about, prior, points)
    scores = [_weighted(*each) for each in zip(by_pooled.T, by_flat.T, strict=True)]
    values = np.array(scores).reshape(-1, 3)
    return LeaveOneOut(groups=data.groups, pooled=values[:, 0], independent=values[:, 1], tail=values[:, 2])


def _require_scorable(model: LabelShift) -> None:
    is_noisy = isinstance(model.groups, Walk) and model.groups.noise
    if isinstance(model.confusion, Cut):
        needed = "scores weigh draws of the confusion that the left-out group was part of, and a cut one was never"
        raise InputError("model", "has confusion=Cut()", needed, "Infer without it: LabelShift(groups=Pooled())")
    if isinstance(model.groups, Independent) or isinstance(model.confusion, Varying) or is_noisy:
        needed = "scores compare pooling, or a walk without noise, with none, under one confusion for all groups"
        raise InputError("model", f"is {model!r:.120}", needed, "Infer with LabelShift(groups=Pooled())")


def _prior_of_left_out(
    data: Groups, model: LabelShift, draws: GroupDraws, stride: int
) -> tuple[FloatArray, FloatArray, DirichletGroups | None]:
    """Return mean and scale of each group's log-ratios given the others (draw, log-ratio, group), and a Dirichlet."""
    density = group_density(data, model.prior, model.groups or Independent(), model.confusion)
    located, spread = density.centre.located(draws.centre[::stride]), draws.spread[::stride]
    if not isinstance(model.groups, Walk):
        scale = np.broadcast_to(spread[:, :, None], located.shape)
        return located, np.array(scale), density.dirichlet
    basis = log_ratio_basis(len(data.classes))
    logs = finite_log(draws.prevalence[::stride])
    ratios = np.einsum("sgl,lj->sjg", logs, np.linalg.pinv(basis).T)
    order = np.argsort(np.asarray(data.times), kind="stable")
    gaps = (np.diff(walk_loading(data)[order], axis=0) ** 2).sum(axis=1)
    before, after = np.concatenate([[0.0], 1 / gaps]), np.concatenate([1 / gaps, [0.0]])
    sorted_ratios = ratios[:, :, order]
    earlier, later = np.roll(sorted_ratios, 1, axis=2), np.roll(sorted_ratios, -1, axis=2)
    mean, scale = np.empty_like(ratios), np.empty_like(ratios)
    mean[:, :, order] = (before * earlier + after * later) / (before + after)
    scale[:, :, order] = spread[:, :, None] / np.sqrt(before + after)
    return mean, scale, None


def _evidence(
    unlabeled: FloatArray,
    rows: FloatArray,
    basis: FloatArray,
    located: FloatArray,
    scale: FloatArray,
    prior: "LatentPrior",
    points: FloatArray,
) -> FloatArray:
    """Return the log-probability of each group's items, its prevalence integrated out, shape (draw, group)."""
    from scipy.special import gammaln

    derivatives, log_prior = prior
    found = approximate_shares(unlabeled, rows, basis, located, scale, derivatives)
    constant = _t_constant(points.shape[1])
    total = np.full(located.shape[::2], -np.inf)
    for point in points:
        latent = found.moved(np.broadcast_to(point, found.mean.shape))
        shares = shares_of(basis, located + scale * latent.transpose(0, 2, 1))
        outputs = (shares[:, :, None] * rows).sum(axis=1)
        value = np.where(unlabeled > 0, unlabeled * finite_log(outputs), 0.0).sum(axis=1)
        value = value + log_prior(shares, latent) - found.log_t(latent) - constant
        total = np.logaddexp(total, value)
    ways = gammaln(unlabeled.sum(axis=0) + 1) - gammaln(unlabeled + 1).sum(axis=0)
    result: FloatArray = total - np.log(len(points)) + ways
    return result


def _t_constant(size: int) -> float:
    from scipy.special import gammaln

    return float(gammaln((DEGREES + size) / 2) - gammaln(DEGREES / 2) - size / 2 * np.log(DEGREES * np.pi))


LogPrior = Callable[[FloatArray, FloatArray], FloatArray]
LatentPrior = tuple[PriorOfLatents, LogPrior]
"""Curvature and gradient of the prior of a group's latents, and its log-density."""


def _normal_prior(dirichlet: DirichletGroups, scale: FloatArray, level: FloatArray) -> LatentPrior:
    """Return a standard normal prior times ``Π shares ^ level`` (class, group), which is left without its constant.

    The first period of a walk is where its level has a prior, beside the step to the next period.
    """
    sizes, size, concentration = scale.transpose(0, 2, 1), scale.shape[1], level[None]

    def prior(shares: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        curvature = dirichlet.curvature(concentration, shares).transpose(0, 3, 1, 2)
        by_level = dirichlet.gradient(concentration, shares)[0] * scale
        return np.eye(size) + curvature * sizes[..., None] * sizes[:, :, None], by_level - latent

    def log_density(shares: FloatArray, latent: FloatArray) -> FloatArray:
        by_level = (concentration * finite_log(shares)).sum(axis=1)
        value: FloatArray = by_level - 0.5 * (latent**2).sum(axis=2) - 0.5 * size * np.log(2 * np.pi)
        return value

    return prior, log_density


def _dirichlet_prior(dirichlet: DirichletGroups, located: FloatArray, scale: FloatArray) -> LatentPrior:
    from scipy.special import gammaln

    concentration = dirichlet.concentration(located, scale[:, 0, 0])
    sizes = scale.transpose(0, 2, 1)
    volume = np.log(sizes).sum(axis=2) + 0.5 * np.linalg.slogdet(dirichlet.basis.T @ dirichlet.basis)[1]
    volume = volume + 0.5 * np.log(len(dirichlet.basis))
    normaliser = gammaln(concentration.sum(axis=1)) - gammaln(concentration).sum(axis=1)

    def prior(shares: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        curvature = dirichlet.curvature(concentration, shares).transpose(0, 3, 1, 2)
        return curvature * sizes[..., None] * sizes[:, :, None], dirichlet.gradient(concentration, shares)[0] * scale

    def log_density(shares: FloatArray, latent: FloatArray) -> FloatArray:
        weighted = (concentration * finite_log(shares)).sum(axis=1)
        value: FloatArray = normaliser + weighted + volume
        return value

    return prior, log_density


def _weighted(pooled: FloatArray, independent: FloatArray) -> tuple[float, float, float]:
    """Return both scores of one group, and the tail shape of the weights ``1 / p(n_g | draw)``."""
    weights, tail = np.zeros_like(pooled), 0.0
    if np.ptp(pooled) > FLAT:
        weights, tail = convergence.pareto_smoothed(-pooled)
    weights = weights - np.logaddexp.reduce(weights)
    first, second = (float(np.logaddexp.reduce(weights + each)) for each in (pooled, independent))
    return first, second, tail
