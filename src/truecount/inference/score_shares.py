"""Draws of the prevalence from scores: a calibration map from the labels, then shares given the map, draw by draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, TypeAlias

import numpy as np

from truecount._log_sum import softmax
from truecount._types import FloatArray, IntArray
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.inference.run import ScoreRun
from truecount.models.hierarchy.log_ratios import log_ratio_basis
from truecount.models.score_map import FittedMap, ScoreMap

OF_EACH_MAP = 4
"""Draws of the prevalence for each draw of the map: more of them would be worth little."""
ASKED_A_MAP = 14
"""Draws asked for, of which each map answers for so many where they are many."""
PROPOSALS = 8
"""Shares proposed for each map and class, of which draws are chosen by their weights."""
FREEDOM, WIDER = 4, 1.5
"""Degrees of freedom of the proposals, and their scale in terms of the posterior's, whose tails must not be missed: few
items of a class leave a long one towards zero."""
LEAST_CURVATURE = 0.1
"""Proposals are no wider than this allows: coordinates are log-ratios, and flat likelihoods have no curvature."""
LONGEST_STEP = 3.0
"""Standard deviations that Newton's method goes from where EM ends, at most."""
BLOCK = 500_000
"""Numbers in an array of draws, proposals or classes, and items, about: few enough to stay in the processor's cache."""
SWEEPS = 20
"""Of data augmentation where the concentration is learned: absent classes are then too near to zero for proposals."""
MOST_MAPS_BY_ITEMS, FEWEST_MAPS = 1_000_000, 250
"""Draws of the map times unlabelled items at most, but so many draws at least."""
ROUNDS_OF_FIRST, ROUNDS_OF_ALL, EM_NEAR = 60, 3, 1e-4
"""Of EM, towards the mode of one map and from there to those of the others; proposals need no exact modes."""
PAIRS, FEWEST_PAIRS = 16, 4
"""Of opposite draws of the map, from which the mean alone is computed; for each way of scoring items, at least."""
SMALLEST = 1e-300
LEAST_DENSITY = 1e-9
"""Of an item, in terms of that of its most probable class: four of them multiplied have a logarithm in 32 bits."""
Single: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""Densities of items: seven digits are enough, and take half the time."""


@dataclass(frozen=True, slots=True)
class ScoredItems:
    """Scores, and what is counted beside them.

    Parameters
    ----------
    labeled
        Shape (items, classes).
    unlabeled
        Shape (ways, items, classes): each way of scoring the same items has as many draws as the others.
    outputs
        Shape (labelled items,): the output that each is counted for.
    n_outputs
        How many outputs there are.
    weight
        How many unlabelled items each row of `unlabeled` stands for.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    outputs: IntArray
    n_outputs: int
    weight: float = 1.0


def sample_by_scores(
    fitted: FittedMap, items: ScoredItems, concentration: FloatArray, *, draws: int, seed: int
) -> Draws:
    """Draw the prevalence of the unlabelled items, and the shares realized in them.

    Given parameters θ of the map, the unlabelled scores have the density ``p(s) Σ_y π_y P(y|s;θ) / P(y;θ)``, where
    P(y;θ) is the mean of P(y|s;θ) over the labelled items, with weights of the Bayesian bootstrap. θ is drawn from what
    the labels say, so unlabelled items cannot move it: a cut posterior.

    Parameters
    ----------
    fitted
        The map, with its uncertainty.
    items
        What is known.
    concentration
        Shape (points, classes): of the Dirichlet prior of the prevalence; of several points, which are equally probable
        before, the shares say which.
    draws
        Of the prevalence, about: a quarter as many of the map where they are few. Where they are many, a fourteenth,
        each with four of the prevalence, because those that share a map are worth less than others.
    seed
        Of everything.
    """
    rng = np.random.default_rng([seed, 17])
    maps = min(max(1, -(-draws // OF_EACH_MAP)), max(FEWEST_MAPS, draws // ASKED_A_MAP))
    maps = min(maps, max(FEWEST_MAPS, MOST_MAPS_BY_ITEMS // max(1, items.unlabeled.shape[1])))
    labeled, parts = _Features.of(fitted, items.labeled), list[tuple[FloatArray, ...]]()
    for way, scores in enumerate(items.unlabeled):
        features = labeled, _Features.of(fitted, scores)
        for size in _sizes(len(range(way, maps, len(items.unlabeled))), items):
            confusion, ratios = _of_maps(rng, fitted.draw(rng, size), items, features)
            start = parts[-1][1].mean(axis=(0, 1)) if parts else None
            given = SharesGivenRatios(ratios, concentration, items.weight)
            parts.append((confusion, *given.sample(rng, OF_EACH_MAP, start)))
    order = rng.permutation(maps) if len(items.unlabeled) > 1 else np.arange(maps)
    confusion, shares, realized, effective = (np.concatenate(part)[order] for part in zip(*parts, strict=True))
    thinning = confusion_stride(maps, confusion[0].size)
    return Draws(
        prevalence=shares.reshape(-1, shares.shape[2]),
        confusion=confusion[::thinning],
        stride=OF_EACH_MAP * thinning,
        effective=_effective(shares),
        realized=realized.reshape(-1, shares.shape[2]) if items.unlabeled.shape[1] else None,
        run=ScoreRun(maps=maps, share_effective=float(effective.mean()), labels=len(items.labeled)),
    )


@dataclass(frozen=True, slots=True)
class MeanShares:
    """Posterior means, shapes (classes,): of the prevalence, and of the shares realized in the unlabelled items."""

    population: FloatArray
    realized: FloatArray


def mean_by_scores(fitted: FittedMap, items: ScoredItems, concentration: FloatArray, *, seed: int) -> MeanShares:
    """Return the posterior means of `sample_by_scores`, from fewer maps, which are chosen in opposite pairs.

    What a mean owes to the linear part of a map's effect cancels within a pair, and directions of pairs are at right
    angles, so that fewer maps do than intervals need; pairs that several ways share out tell less. Given the map, π
    has mean ``(α + c) / (Σα + N)``, where c is the expected number of items of each class: the mean of one target
    follows from that of the other.

    Parameters
    ----------
    fitted, items, seed
        As `sample_by_scores` takes them; there are unlabelled items.
    concentration
        Shape (1, classes): of the Dirichlet prior of the prevalence.
    """
    rng, classes = np.random.default_rng([seed, 17]), items.labeled.shape[1]
    labeled, root = _Features.of(fitted, items.labeled), _root_of_sums(fitted.probabilities(items.labeled))
    pairs, means = max(FEWEST_PAIRS, PAIRS // len(items.unlabeled)), list[FloatArray]()
    for scores in items.unlabeled:
        standard, unlabeled = _opposites(rng, pairs, len(fitted.mode) + classes), _Features.of(fitted, scores)
        for size in _sizes(len(standard), items):
            block, standard = standard[:size], standard[size:]
            parameters = fitted.at(block[:, classes:])
            joint = labeled.exponentials(parameters)
            joint /= reduce(np.add, joint.swapaxes(0, 1))[:, None]
            of_class = np.log(np.maximum(joint.sum(axis=2, dtype=np.float64), SMALLEST))
            of_class += block[:, :classes] @ root.T - (root**2).sum(axis=1) / 2
            given = SharesGivenRatios(unlabeled.exponentials(parameters, -of_class), concentration, items.weight)
            means.append(given.mean(rng, means[-1].mean(axis=0) if means else None))
    population, alpha = np.concatenate(means).mean(axis=0), concentration[0]
    total = items.weight * items.unlabeled.shape[1]
    realized = np.maximum(population * (total + alpha.sum()) - alpha, 0.0)
    return MeanShares(population, realized / realized.sum())


def _opposites(rng: np.random.Generator, pairs: int, size: int) -> FloatArray:
    """Shape (2 · pairs, size): points of a standard normal distribution, pair after pair opposite to each other.

    Their directions are at right angles, as many as there can be, and their distance is the usual one.
    """
    found = list[FloatArray]()
    for start in range(0, pairs, size):
        basis = np.linalg.qr(rng.standard_normal((size, min(size, pairs - start))))[0]
        found.append(np.sqrt(size) * basis.T)
    points = np.concatenate(found)
    return np.stack([points, -points], axis=1).reshape(2 * pairs, size)


def _root_of_sums(probabilities: FloatArray) -> FloatArray:
    """Shape (classes, classes): times its transpose, the covariance of the logarithms of the classes' sums.

    These are sums over items with exponential weights, those of the Bayesian bootstrap.
    """
    relative = probabilities / np.maximum(probabilities.sum(axis=0), SMALLEST)
    values, vectors = np.linalg.eigh(relative.T @ relative)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def _sizes(maps: int, items: ScoredItems) -> Iterator[int]:
    """Split so many draws of the map into blocks that fit into memory."""
    longest = max(len(items.labeled), PROPOSALS * items.unlabeled.shape[1], 1) * items.labeled.shape[1]
    at_once = max(1, BLOCK // longest)
    for start in range(0, maps, at_once):
        yield min(at_once, maps - start)


@dataclass(frozen=True, slots=True)
class _Features:
    """Of items: shapes (moved classes, own features, items) and (classes, items)."""

    map: ScoreMap
    slopes: Single
    offsets: Single

    @staticmethod
    def of(fitted: FittedMap, scores: FloatArray) -> "_Features":
        """Return those of a map."""
        slopes = fitted.map.own_features(scores).swapaxes(1, 2).astype(np.float32, order="C")
        return _Features(fitted.map, slopes, fitted.map.log_scores(scores).T.astype(np.float32, order="C"))

    def exponentials(self, parameters: FloatArray, log_factors: FloatArray | None = None) -> Single:
        """Shape (draws, classes, items): exp of the logits, of which the largest is 0 for each draw and item."""
        logits = np.repeat(self.offsets[None], len(parameters), axis=0)
        coefficients = (parameters @ self.map.mixing.swapaxes(1, 2)).astype(np.float32)
        logits[:, self.map.moved] += (coefficients @ self.slopes).swapaxes(0, 1)
        if log_factors is not None:
            logits += log_factors.astype(np.float32)[..., None]
        logits -= reduce(np.maximum, logits.swapaxes(0, 1))[:, None]
        exponentials: Single = np.exp(logits, out=logits)
        return exponentials


def _of_maps(
    rng: np.random.Generator, parameters: FloatArray, items: ScoredItems, features: tuple[_Features, _Features]
) -> tuple[FloatArray, Single]:
    """Shapes (maps, classes, outputs), the confusion, and (maps, classes, unlabelled items), the density ratios."""
    labeled, unlabeled = features
    joint = labeled.exponentials(parameters)
    weights = rng.standard_exponential((len(parameters), len(items.labeled)), np.float32)
    joint *= (weights / reduce(np.add, joint.swapaxes(0, 1)))[:, None]
    counted = np.zeros((len(items.outputs), items.n_outputs), np.float32)
    counted[np.arange(len(items.outputs)), items.outputs] = 1.0
    confusion = (joint @ counted).astype(np.float64)
    of_class = np.maximum(confusion.sum(axis=2), SMALLEST)
    return confusion / of_class[..., None], unlabeled.exponentials(parameters, -np.log(of_class))


@dataclass(frozen=True, slots=True)
class SharesGivenRatios:
    """Shares of a mixture whose components are known up to a factor for each item: ``Dir(π; α) Π_j (Σ_y π_y r_yj)^w``.

    Parameters
    ----------
    ratios
        Shape (problems, classes, items): many problems of the same shape, each with its own. The largest of an item
        is about one.
    concentration
        Shape (points, classes): α; one point, or several that are equally probable before.
    weight
        How many items each stands for.
    """

    ratios: Single
    concentration: FloatArray
    weight: float = 1.0

    def sample(
        self, rng: np.random.Generator, each: int, start: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw shares, shape (problems, draws, classes), those realized in the items, and what proposals are worth.

        Draws are chosen among proposals from a t distribution at the mode in log-ratio coordinates, by importance
        weights. Data augmentation moves them on, which fits classes that are almost absent. The modes are looked for
        from `start`, shape (classes,): about those of like problems.

        The last is the effective number of proposals over their number, shape (problems,).
        """
        proposed, log_proposal = self._proposal(start).draw(rng, PROPOSALS * self.ratios.shape[1])
        logs = self._log_likelihood(proposed) + self._log_prior(proposed) - log_proposal
        weights = softmax(logs)
        shares = np.take_along_axis(proposed, _chosen(rng, weights, each)[..., None], axis=1)
        allotted = self._allot(rng, shares)
        for rest in reversed(range(self._sweeps)):
            alpha = self._draw_concentration(rng, shares)
            shares = np.maximum(dirichlet(rng, alpha + allotted, ()), SMALLEST)
            allotted = self._allot(rng, shares) if rest else allotted
        realized = allotted / max(1.0, self.weight * self.ratios.shape[2])
        return shares, realized, 1 / (weights**2).sum(axis=1) / weights.shape[1]

    def mean(self, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """Shape (problems, classes): the mean of the shares, by weighted proposals in opposite pairs; see `sample`."""
        number = PROPOSALS * self.ratios.shape[1]
        proposed, log_proposal = self._proposal(start).draw(rng, number, in_pairs=True)
        weights = softmax(self._log_likelihood(proposed) + self._log_prior(proposed) - log_proposal)
        means: FloatArray = (weights[:, None] @ proposed)[:, 0]
        return means

    @property
    def _sweeps(self) -> int:
        """Of data augmentation: none where an item stands for several."""
        if self.weight != 1:
            return 0
        return 1 if len(self.concentration) == 1 else SWEEPS

    def _mixed(self, shares: FloatArray) -> Single:
        """Shape (problems, draws, items): the density of each item."""
        mixed: Single = shares.astype(np.float32) @ self.ratios
        return np.maximum(mixed, LEAST_DENSITY, out=mixed)

    def _log_likelihood(self, shares: FloatArray) -> FloatArray:
        """Shape (problems, draws)."""
        mixed = self._mixed(shares)
        quarter = mixed.shape[2] // 4
        product = mixed[..., :quarter] * mixed[..., quarter : 2 * quarter]
        product *= mixed[..., 2 * quarter : 3 * quarter]
        product *= mixed[..., 3 * quarter : 4 * quarter]
        total: FloatArray = np.log(product).sum(axis=2, dtype=np.float64)
        total += np.log(mixed[..., 4 * quarter :]).sum(axis=2, dtype=np.float64)
        return self.weight * total

    def _log_prior(self, shares: FloatArray) -> FloatArray:
        """Shape (problems, draws): the log density of log-ratios, up to a constant, on average over the points."""
        logs = np.log(shares) @ self.concentration.T + _log_norms(self.concentration)
        total: FloatArray = np.logaddexp.reduce(logs, axis=2)
        return total

    def _draw_concentration(self, rng: np.random.Generator, shares: FloatArray) -> FloatArray:
        """Shape (classes,), or (problems, draws, classes) where there are several points to draw from."""
        alpha: FloatArray = self.concentration[0]
        if len(self.concentration) == 1:
            return alpha
        logs = np.log(shares) @ (self.concentration - 1).T + _log_norms(self.concentration)
        alpha = self.concentration[(logs + rng.gumbel(size=logs.shape)).argmax(axis=2)]
        return alpha

    def _allot(self, rng: np.random.Generator, shares: FloatArray) -> FloatArray:
        """Shape (problems, draws, classes): items of each class, drawn item by item given the shares.

        Where an item stands for several, their spread is that of as many, about the mean.
        """
        mixed, items, single = self._mixed(shares), self.ratios.shape[2], shares.astype(np.float32)
        marks = mixed * rng.random(mixed.shape, np.float32)
        counts, expected = np.empty(shares.shape), np.empty(shares.shape)
        below, before = np.zeros_like(mixed), np.zeros(shares.shape[:2])
        for place in range(shares.shape[2] - 1):
            part = self.ratios[:, None, place] * single[..., place, None]
            below += part
            reached = np.count_nonzero(marks < below, axis=2)
            counts[..., place], before = reached - before, reached
            if self.weight != 1:
                expected[..., place] = (part / mixed).sum(axis=2)
        counts[..., -1] = items - before
        if self.weight == 1:
            return counts
        expected[..., -1] = items - expected[..., :-1].sum(axis=2)
        spread = np.maximum(self.weight * expected + np.sqrt(self.weight) * (counts - expected), 0.0)
        rounded: FloatArray = spread * (self.weight * items / np.maximum(spread.sum(axis=2, keepdims=True), SMALLEST))
        return rounded

    def _climb(self, ratios: Single, shares: FloatArray, rounds: int) -> FloatArray:
        """Shape (problems, classes): nearer to the mode, by EM with every third step doubled."""
        alpha, total = self.concentration.mean(axis=0), self.weight * ratios.shape[2]
        for number in range(rounds):
            new = (alpha + self.weight * _responsible(ratios, shares)) / (alpha.sum() + total)
            moved = np.abs(new - shares).max(initial=0.0)
            shares = new if number % 3 else np.maximum(new * new / shares, 1e-9)
            shares /= shares.sum(axis=1, keepdims=True)
            if moved < EM_NEAR:
                break
        return shares

    def _proposal(self, start: FloatArray | None) -> "_Proposal":
        """Return the t distribution at the mode of each problem, with its curvature.

        Without a start, EM goes to the mode of the first problem. It goes on towards those of others, where Newton's
        method takes over.
        """
        classes = self.ratios.shape[1]
        if start is None:
            start = self._climb(self.ratios[:1], np.full((1, classes), 1 / classes), ROUNDS_OF_FIRST)[0]
        place = self._climb(self.ratios, np.repeat(start[None], len(self.ratios), axis=0), ROUNDS_OF_ALL)
        alpha, identity, basis = self.concentration.mean(axis=0), np.eye(classes), _basis(classes)
        total = self.weight * self.ratios.shape[2] + alpha.sum()
        given = self.ratios / self._mixed(place[:, None])
        given *= place.astype(np.float32)[..., None]
        seen = self.weight * (given @ given.transpose(0, 2, 1)).astype(np.float64)
        expected = self.weight * given.sum(axis=2, dtype=np.float64)
        complete = total * (place[:, :, None] * identity - place[:, :, None] * place[:, None])
        curvature = basis.T @ (complete - expected[:, :, None] * identity + seen) @ basis
        root = _root(curvature)
        slope = (alpha + expected - total * place) @ basis
        step = (slope[:, None] @ root)[:, 0]
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(np.sqrt((step**2).sum(axis=1, keepdims=True)), SMALLEST))
        return _Proposal(np.log(place) @ basis + (root @ step[..., None])[..., 0], WIDER * root)


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A t distribution for each problem, in isometric log-ratio coordinates.

    Parameters
    ----------
    center
        Shape (problems, classes − 1).
    root
        Shape (problems, classes − 1, classes − 1): times its transpose, the squared scale.
    """

    center: FloatArray
    root: FloatArray

    def draw(self, rng: np.random.Generator, number: int, *, in_pairs: bool = False) -> tuple[FloatArray, FloatArray]:
        """Draw shares, shape (problems, number, classes), with the log density of their log-ratios up to a constant.

        In pairs: the second half lies opposite to the first one.
        """
        problems, free = self.center.shape
        drawn = number // 2 if in_pairs else number
        heavy = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (problems, drawn, 1)))
        standard = rng.standard_normal((problems, drawn, free)) * heavy
        if in_pairs:
            standard = np.concatenate([standard, -standard], axis=1)
        place = self.center[:, None] + standard @ self.root.transpose(0, 2, 1)
        shares = softmax(place @ _basis(free + 1).T)
        log_density = -(FREEDOM + free) / 2 * np.log1p((standard**2).sum(axis=2) / FREEDOM)
        return np.maximum(shares, SMALLEST, out=shares), log_density


def _root(curvature: FloatArray) -> FloatArray:
    """Shape (problems, size, size): of the inverse of a curvature, which is at least `LEAST_CURVATURE` everywhere."""
    try:
        lower = np.linalg.cholesky(curvature + LEAST_CURVATURE * np.eye(curvature.shape[1]))
        root: FloatArray = np.linalg.inv(lower).transpose(0, 2, 1)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(curvature)
        root = vectors / np.sqrt(np.maximum(values, LEAST_CURVATURE))[:, None]
    return root


def _responsible(ratios: Single, shares: FloatArray) -> FloatArray:
    """Shape (problems, classes): how many items belong to each class, given the shares."""
    single = shares.astype(np.float32)
    mixed = np.maximum(single[:, None] @ ratios, LEAST_DENSITY)
    found: FloatArray = (ratios @ (1 / mixed).transpose(0, 2, 1))[..., 0].astype(np.float64) * shares
    return found


def _chosen(rng: np.random.Generator, weights: FloatArray, number: int) -> IntArray:
    """Shape (problems, number): positions, each as often as its weight says, up to one."""
    marks = (np.arange(number) + rng.random((len(weights), 1))) / number
    below = np.cumsum(weights, axis=1)[:, None, :-1]
    found: IntArray = (below < marks[..., None]).sum(axis=2)
    return found


def _log_norms(concentration: FloatArray) -> FloatArray:
    """Shape (points,): of Dirichlet densities; 0 where there is one, which needs none."""
    if len(concentration) == 1:
        return np.zeros(1)
    from scipy.special import gammaln

    norms: FloatArray = gammaln(concentration.sum(axis=1)) - gammaln(concentration).sum(axis=1)
    return norms


@cache
def _basis(classes: int) -> FloatArray:
    """Shape (classes, classes − 1): orthonormal columns that sum to zero."""
    basis = log_ratio_basis(classes)
    orthonormal: FloatArray = basis / np.linalg.norm(basis, axis=0)
    return orthonormal


def _effective(shares: FloatArray) -> FloatArray:
    """Shape (classes,): effective draws, given that those of one map have the map in common."""
    maps, each, _ = shares.shape
    total = shares.reshape(maps * each, -1).var(axis=0)
    between = shares.mean(axis=1).var(axis=0)
    common = np.clip((each * between / np.maximum(total, SMALLEST) - 1) / max(each - 1, 1), 0.0, 1.0)
    effective: FloatArray = maps * each / (1 + (each - 1) * common)
    return effective
