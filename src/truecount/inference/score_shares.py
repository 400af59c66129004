"""Draws of the prevalence from scores: a calibration map from the labels, then shares given the map, draw by draw."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.inference.run import ScoreRun
from truecount.models.score_map import FittedMap

OF_EACH_MAP = 4
"""Draws of the prevalence for each draw of the map."""
BURN_IN = 3
"""Rounds before the first of them."""
FREEDOM = 6
"""Degrees of freedom of the proposals, whose tails are heavier than those of the posterior."""
LEAST_CURVATURE = 0.3
"""Proposals are no wider than this allows: coordinates are log-ratios, and flat likelihoods have no curvature."""
BLOCK = 250_000
"""Numbers in an array of classes, draws and items, about: few enough to stay in the processor's cache."""
MOST_MAPS_BY_ITEMS, FEWEST_MAPS = 1_000_000, 250
"""Draws of the map times unlabelled items at most, but so many draws at least."""
EM_ROUNDS, EM_NEAR = 60, 1e-4
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class ScoredItems:
    """Scores, and what is counted beside them.

    Parameters
    ----------
    labeled, unlabeled
        Shapes (items, classes).
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
        Of the prevalence; a quarter as many of the map.
    seed
        Of everything.
    """
    rng = np.random.default_rng([seed, 17])
    maps = max(1, -(-draws // OF_EACH_MAP))
    maps = min(maps, max(FEWEST_MAPS, MOST_MAPS_BY_ITEMS // max(1, len(items.unlabeled))))
    features = [_Features.of(fitted, scores) for scores in (items.labeled, items.unlabeled)]
    parts = [_block(rng, fitted.draw(rng, size), items, features, concentration) for size in _sizes(maps, items)]
    confusion, shares, realized, accepted = (np.concatenate(each) for each in zip(*parts, strict=True))
    thinning = confusion_stride(maps, confusion[0].size)
    return Draws(
        prevalence=shares.reshape(-1, shares.shape[2]),
        confusion=confusion[::thinning],
        stride=OF_EACH_MAP * thinning,
        effective=_effective(shares),
        realized=realized.reshape(-1, shares.shape[2]) if len(items.unlabeled) else None,
        run=ScoreRun(maps=maps, acceptance=float(accepted.mean()), labels=len(items.labeled)),
    )


def _sizes(maps: int, items: ScoredItems) -> Iterator[int]:
    """Split so many draws of the map into blocks that fit into memory."""
    longest = max(len(items.labeled), len(items.unlabeled), 1) * items.labeled.shape[1]
    at_once = max(1, BLOCK // longest)
    for start in range(0, maps, at_once):
        yield min(at_once, maps - start)


@dataclass(frozen=True, slots=True)
class _Features:
    """Of items: shapes (classes, parameters, items) and (classes, 1, items)."""

    slopes: FloatArray
    offsets: FloatArray

    @staticmethod
    def of(fitted: FittedMap, scores: FloatArray) -> "_Features":
        """Return those of a map."""
        slopes = np.ascontiguousarray(fitted.map.features(scores).transpose(1, 2, 0))
        return _Features(slopes, fitted.map.log_scores(scores).T[:, None])

    def exponentials(self, parameters: FloatArray, log_factors: FloatArray | None = None) -> FloatArray:
        """Shape (classes, draws, items): exp of the logits, of which the largest is 0 for each draw and item."""
        logits = parameters @ self.slopes + self.offsets
        if log_factors is not None:
            logits += log_factors[..., None]
        logits -= logits.max(axis=0)
        return np.exp(logits, out=logits)


def _block(
    rng: np.random.Generator,
    parameters: FloatArray,
    items: ScoredItems,
    features: list[_Features],
    concentration: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Draw with each map the confusion, shape (maps, classes, outputs), and shares, shape (maps, draws, classes)."""
    labeled, unlabeled = features
    weights = rng.standard_exponential((len(parameters), len(items.labeled)))
    joint = labeled.exponentials(parameters)
    joint *= weights / weights.sum(axis=1, keepdims=True) / joint.sum(axis=0)
    of_class = np.maximum(joint.sum(axis=2), SMALLEST)
    counted = np.zeros((len(items.outputs), items.n_outputs))
    counted[np.arange(len(items.outputs)), items.outputs] = 1.0
    confusion = (joint @ counted / of_class[..., None]).transpose(1, 0, 2)
    ratios = unlabeled.exponentials(parameters, -np.log(of_class))
    return confusion, *SharesGivenRatios(ratios, concentration, items.weight).sample(rng)


@dataclass(frozen=True, slots=True)
class SharesGivenRatios:
    """Shares of a mixture whose components are known up to a factor for each item: ``Dir(π; α) Π_j (Σ_y π_y r_yj)^w``.

    Parameters
    ----------
    ratios
        Shape (classes, problems, items): many problems of the same shape, each with its own.
    concentration
        Shape (points, classes): α; one point, or several that are equally probable before.
    weight
        How many items each stands for.
    """

    ratios: FloatArray
    concentration: FloatArray
    weight: float = 1.0

    def sample(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw shares, shape (problems, draws, classes), those realized in the items, and how many moves succeeded.

        Metropolis moves, with proposals from a t distribution at the mode in log-ratio coordinates, take turns with
        data augmentation: the first are independent of where they start, the second fit classes that are almost absent.
        """
        proposal, alpha = self._proposal(), self.concentration.mean(axis=0)
        place, log_proposal = proposal.draw(rng)
        density, accepted, shares, realized = self._log_density(place, alpha), [], [], []
        current = proposal.shares(place)
        for number in range(BURN_IN + OF_EACH_MAP):
            new, log_new = proposal.draw(rng)
            found = self._log_density(new, alpha)
            moves = np.log(rng.random(len(new))) < (found - log_new) - (density - log_proposal)
            current = np.where(moves[:, None], proposal.shares(new), current)
            accepted.append(moves)
            allotted = self._allot(rng, current)
            if self.weight == 1:
                current = np.maximum(dirichlet(rng, alpha + allotted, ()), SMALLEST)
            alpha, place = self._draw_concentration(rng, current), proposal.coordinates(current)
            density, log_proposal = self._log_density(place, alpha), proposal.log_density(place)
            if number >= BURN_IN:
                shares.append(current)
                realized.append(allotted / max(1.0, self.weight * self.ratios.shape[2]))
        return np.stack(shares, axis=1), np.stack(realized, axis=1), np.mean(accepted, axis=0)

    def _mixed(self, shares: FloatArray) -> FloatArray:
        """Shape (problems, items): the density of each item."""
        total: FloatArray = self.ratios[0] * shares[:, 0, None]
        for ratios, share in zip(self.ratios[1:], shares.T[1:], strict=True):
            total += ratios * share[:, None]
        return np.maximum(total, SMALLEST, out=total)

    def _draw_concentration(self, rng: np.random.Generator, shares: FloatArray) -> FloatArray:
        """Shape (classes,), or (problems, classes) where there are several points to draw from given the shares."""
        alpha: FloatArray = self.concentration[0]
        if len(self.concentration) == 1:
            return alpha
        from scipy.special import gammaln

        norms = gammaln(self.concentration.sum(axis=1)) - gammaln(self.concentration).sum(axis=1)
        logs = np.log(shares) @ (self.concentration - 1).T + norms
        alpha = self.concentration[(logs + rng.gumbel(size=logs.shape)).argmax(axis=1)]
        return alpha

    def _log_density(self, place: FloatArray, alpha: FloatArray) -> FloatArray:
        """Shape (problems,): of log-ratio coordinates, whose Jacobian raises every concentration by one."""
        shares = _Proposal.shares(place)
        prior = (alpha * np.log(shares)).sum(axis=1)
        total: FloatArray = prior + self.weight * np.log(self._mixed(shares)).sum(axis=1)
        return total

    def _allot(self, rng: np.random.Generator, shares: FloatArray) -> FloatArray:
        """Shape (problems, classes): items of each class, drawn item by item given the shares.

        Where an item stands for several, their spread is that of as many, about the mean.
        """
        mixed, items = self._mixed(shares), self.ratios.shape[2]
        marks, below = rng.random(mixed.shape) * mixed, np.zeros_like(mixed)
        counts, expected, before = np.empty(shares.shape), np.empty(shares.shape), np.zeros(len(shares))
        for place, ratios in enumerate(self.ratios):
            part = ratios * shares[:, place, None]
            below += part
            reached = (marks < below).sum(axis=1) if place < len(self.ratios) - 1 else np.full(len(shares), items)
            counts[:, place], before = reached - before, reached
            expected[:, place] = (part / mixed).sum(axis=1)
        if self.weight == 1:
            return counts
        spread = np.maximum(self.weight * expected + np.sqrt(self.weight) * (counts - expected), 0.0)
        rounded: FloatArray = spread * (self.weight * items / np.maximum(spread.sum(axis=1, keepdims=True), SMALLEST))
        return rounded

    def _mode(self) -> FloatArray:
        """Shape (problems, classes): by EM, with every third step doubled."""
        alpha, weight, total = self.concentration.mean(axis=0), self.weight, self.weight * self.ratios.shape[2]
        shares = np.full(self.ratios.shape[1::-1], 1 / len(alpha))
        for number in range(EM_ROUNDS):
            responsible = np.einsum("cpi,pi->pc", self.ratios, 1 / self._mixed(shares)) * shares
            new = (alpha + weight * responsible) / (alpha.sum() + total)
            moved = np.abs(new - shares).max(initial=0.0)
            shares = new if number % 3 else np.maximum(new * new / shares, 1e-9)
            shares /= shares.sum(axis=1, keepdims=True)
            if moved < EM_NEAR:
                break
        return shares

    def _proposal(self) -> "_Proposal":
        """Return the t distribution with the mode and the curvature of each problem."""
        mode = self._mode()
        total = self.weight * self.ratios.shape[2] + self.concentration.mean(axis=0).sum()
        given = self.ratios * mode.T[:, :, None] / self._mixed(mode)
        by_problem = given.transpose(1, 0, 2)
        seen = self.weight * (by_problem @ by_problem.transpose(0, 2, 1))
        identity = np.eye(mode.shape[1])
        unseen = self.weight * by_problem.sum(axis=2)[:, :, None] * identity
        complete = total * (mode[:, :, None] * identity - mode[:, :, None] * mode[:, None])
        basis = _basis(mode.shape[1])
        values, vectors = np.linalg.eigh(basis.T @ (complete - unseen + seen) @ basis)
        return _Proposal(np.log(mode) @ basis, vectors, np.sqrt(np.maximum(values, LEAST_CURVATURE)))


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A t distribution for each problem, in isometric log-ratio coordinates.

    Parameters
    ----------
    center
        Shape (problems, classes − 1).
    axes, steepness
        Shapes (problems, classes − 1, classes − 1) and (problems, classes − 1): directions, and one over the width.
    """

    center: FloatArray
    axes: FloatArray
    steepness: FloatArray

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw a point for each problem, with its log density up to a constant."""
        heavy = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, len(self.center)))
        standard = rng.standard_normal(self.center.shape) * heavy[:, None]
        place = self.center + (self.axes @ (standard / self.steepness)[..., None])[..., 0]
        return place, self._of_standard(standard)

    def log_density(self, place: FloatArray) -> FloatArray:
        """Shape (problems,): up to a constant."""
        turned = ((place - self.center)[:, None] @ self.axes)[:, 0]
        return self._of_standard(turned * self.steepness)

    def _of_standard(self, standard: FloatArray) -> FloatArray:
        exponent = -(FREEDOM + standard.shape[1]) / 2
        density: FloatArray = exponent * np.log1p((standard**2).sum(axis=1) / FREEDOM)
        return density

    @staticmethod
    def shares(place: FloatArray) -> FloatArray:
        """Shape (problems, classes): the shares at these coordinates."""
        logs = place @ _basis(place.shape[1] + 1).T
        shares: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.maximum(shares, SMALLEST, out=shares)

    @staticmethod
    def coordinates(shares: FloatArray) -> FloatArray:
        """Shape (problems, classes − 1)."""
        place: FloatArray = np.log(shares) @ _basis(shares.shape[1])
        return place


def _basis(classes: int) -> FloatArray:
    """Shape (classes, classes − 1): orthonormal columns that sum to zero."""
    basis = np.zeros((classes, classes - 1))
    for column in range(1, classes):
        basis[:column, column - 1] = 1 / np.sqrt(column * (column + 1))
        basis[column, column - 1] = -column / np.sqrt(column * (column + 1))
    return basis


def _effective(shares: FloatArray) -> FloatArray:
    """Shape (classes,): effective draws, given that those of one map have the map in common."""
    maps, each, _ = shares.shape
    total = shares.reshape(maps * each, -1).var(axis=0)
    between = shares.mean(axis=1).var(axis=0)
    common = np.clip((each * between / np.maximum(total, SMALLEST) - 1) / max(each - 1, 1), 0.0, 1.0)
    effective: FloatArray = maps * each / (1 + (each - 1) * common)
    return effective
