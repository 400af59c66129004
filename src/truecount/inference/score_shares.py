"""Draws of the prevalence from scores: a calibration map from the labels, then shares given the map, draw by draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.inference.run import ScoreRun
from truecount.models.score_map import FittedMap

OF_EACH_MAP, OF_EACH_OF_FEW = 8, 4
"""Draws of the prevalence for each draw of the map; the second where few draws are asked for."""
ASKED_A_MAP = 16
"""Draws asked for, of which each map answers for so many: more draws of a map would be worth little."""
BURN_IN = 2
"""Rounds before the first of them."""
FREEDOM = 6
"""Degrees of freedom of the proposals, whose tails are heavier than those of the posterior."""
LEAST_CURVATURE = 0.3
"""Proposals are no wider than this allows: coordinates are log-ratios, and flat likelihoods have no curvature."""
BLOCK = 250_000
"""Numbers in an array of classes, draws and items, about: few enough to stay in the processor's cache."""
MOST_MAPS_BY_ITEMS, FEWEST_MAPS = 1_000_000, 250
"""Draws of the map times unlabelled items at most, but so many draws at least."""
ROUNDS_OF_FIRST, ROUNDS_OF_ALL, EM_NEAR = 60, 8, 1e-4
"""Of EM, towards the mode of one map and from there to those of the others; proposals need no exact modes."""
SMALLEST = 1e-300


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
        Of the prevalence, about: a quarter as many of the map where they are few, and where they are many a sixteenth,
        with half as many of the prevalence, because those that share a map are worth less than others.
    seed
        Of everything.
    """
    rng = np.random.default_rng([seed, 17])
    each = OF_EACH_MAP if draws >= OF_EACH_MAP * FEWEST_MAPS else OF_EACH_OF_FEW
    maps = max(1, -(-draws // each)) if each == OF_EACH_OF_FEW else max(FEWEST_MAPS, draws // ASKED_A_MAP)
    maps = min(maps, max(FEWEST_MAPS, MOST_MAPS_BY_ITEMS // max(1, items.unlabeled.shape[1])))
    labeled, parts = _Features.of(fitted, items.labeled), []
    for way, scores in enumerate(items.unlabeled):
        features = labeled, _Features.of(fitted, scores)
        for size in _sizes(len(range(way, maps, len(items.unlabeled))), items):
            confusion, ratios = _of_maps(rng, fitted.draw(rng, size), items, features)
            parts.append((confusion, *SharesGivenRatios(ratios, concentration, items.weight).sample(rng, each)))
    order = rng.permutation(maps) if len(items.unlabeled) > 1 else np.arange(maps)
    confusion, shares, realized, accepted = (np.concatenate(part)[order] for part in zip(*parts, strict=True))
    thinning = confusion_stride(maps, confusion[0].size)
    return Draws(
        prevalence=shares.reshape(-1, shares.shape[2]),
        confusion=confusion[::thinning],
        stride=each * thinning,
        effective=_effective(shares),
        realized=realized.reshape(-1, shares.shape[2]) if items.unlabeled.shape[1] else None,
        run=ScoreRun(maps=maps, acceptance=float(accepted.mean()), labels=len(items.labeled)),
    )


def _sizes(maps: int, items: ScoredItems) -> Iterator[int]:
    """Split so many draws of the map into blocks that fit into memory."""
    longest = max(len(items.labeled), items.unlabeled.shape[1], 1) * items.labeled.shape[1]
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


def _of_maps(
    rng: np.random.Generator, parameters: FloatArray, items: ScoredItems, features: tuple[_Features, _Features]
) -> tuple[FloatArray, FloatArray]:
    """Shapes (maps, classes, outputs), the confusion, and (classes, maps, unlabelled items), the density ratios."""
    labeled, unlabeled = features
    weights = rng.standard_exponential((len(parameters), len(items.labeled)))
    joint = labeled.exponentials(parameters)
    joint *= weights / weights.sum(axis=1, keepdims=True) / joint.sum(axis=0)
    of_class = np.maximum(joint.sum(axis=2), SMALLEST)
    counted = np.zeros((len(items.outputs), items.n_outputs))
    counted[np.arange(len(items.outputs)), items.outputs] = 1.0
    confusion = (joint @ counted / of_class[..., None]).transpose(1, 0, 2)
    return confusion, unlabeled.exponentials(parameters, -np.log(of_class))


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

    def sample(self, rng: np.random.Generator, each: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw shares, shape (problems, draws, classes), those realized in the items, and how many moves succeeded.

        Metropolis moves, with proposals from a t distribution at the mode in log-ratio coordinates, take turns with
        data augmentation: the first are independent of where they start, the second fit classes that are almost absent.
        """
        proposal, alpha = self._proposal(), self.concentration.mean(axis=0)
        current, log_proposal = proposal.draw(rng)
        mixed = self._mixed(current)
        likelihood, accepted, shares, realized = self._log_likelihood(mixed), [], [], []
        for number in range(BURN_IN + each):
            new, log_new = proposal.draw(rng)
            mixed_new = self._mixed(new)
            found = self._log_likelihood(mixed_new)
            gain = found - likelihood + (alpha * (np.log(new) - np.log(current))).sum(axis=1)
            moves = np.log(rng.random(len(new))) < gain - (log_new - log_proposal)
            current = np.where(moves[:, None], new, current)
            np.copyto(mixed, mixed_new, where=moves[:, None])
            accepted.append(moves)
            allotted = self._allot(rng, current, mixed)
            if self.weight == 1:
                current = np.maximum(dirichlet(rng, alpha + allotted, ()), SMALLEST)
                mixed = self._mixed(current)
            alpha, likelihood = self._draw_concentration(rng, current), self._log_likelihood(mixed)
            log_proposal = proposal.log_density(current)
            if number >= BURN_IN:
                shares.append(current)
                realized.append(allotted / max(1.0, self.weight * self.ratios.shape[2]))
        return np.stack(shares, axis=1), np.stack(realized, axis=1), np.mean(accepted, axis=0)

    def _mixed(self, shares: FloatArray) -> FloatArray:
        return _mixed(self.ratios, shares)

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

    def _log_likelihood(self, mixed: FloatArray) -> FloatArray:
        """Shape (problems,)."""
        total: FloatArray = self.weight * np.log(mixed).sum(axis=1)
        return total

    def _allot(self, rng: np.random.Generator, shares: FloatArray, mixed: FloatArray) -> FloatArray:
        """Shape (problems, classes): items of each class, drawn item by item given the shares.

        Where an item stands for several, their spread is that of as many, about the mean.
        """
        items, below = self.ratios.shape[2], np.zeros(())
        marks = rng.random(mixed.shape, np.float32) * mixed
        counts, expected, before = np.empty(shares.shape), np.empty(shares.shape), np.zeros(len(shares))
        for place, ratios in enumerate(self.ratios[:-1]):
            part = ratios * shares[:, place, None]
            below = below + part
            reached = np.count_nonzero(marks < below, axis=1)
            counts[:, place], before = reached - before, reached
            if self.weight != 1:
                expected[:, place] = (part / mixed).sum(axis=1)
        counts[:, -1] = items - before
        if self.weight == 1:
            return counts
        expected[:, -1] = items - expected[:, :-1].sum(axis=1)
        spread = np.maximum(self.weight * expected + np.sqrt(self.weight) * (counts - expected), 0.0)
        rounded: FloatArray = spread * (self.weight * items / np.maximum(spread.sum(axis=1, keepdims=True), SMALLEST))
        return rounded

    def _mode(self) -> FloatArray:
        """Shape (problems, classes): about, by EM from the mode of the first problem, with every third step doubled."""
        start = np.full((1, len(self.ratios)), 1 / len(self.ratios))
        first = self._climb(self.ratios[:, :1], start, ROUNDS_OF_FIRST)
        return self._climb(self.ratios, np.repeat(first, self.ratios.shape[1], axis=0), ROUNDS_OF_ALL)

    def _climb(self, ratios: FloatArray, shares: FloatArray, rounds: int) -> FloatArray:
        alpha, weight, total = self.concentration.mean(axis=0), self.weight, self.weight * ratios.shape[2]
        for number in range(rounds):
            responsible = np.einsum("cpi,pi->pc", ratios, 1 / _mixed(ratios, shares)) * shares
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
        given = self.ratios / self._mixed(mode)
        given *= mode.T[:, :, None]
        seen, identity = np.empty((*mode.shape, mode.shape[1])), np.eye(mode.shape[1])
        for one, of_one in enumerate(given):
            for other in range(one + 1):
                seen[:, one, other] = seen[:, other, one] = np.einsum("pi,pi->p", of_one, given[other])
        seen *= self.weight
        unseen = self.weight * given.sum(axis=2).T[:, :, None] * identity
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
        """Draw shares for each problem, with the log density of their log-ratios up to a constant."""
        heavy = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, len(self.center)))
        standard = rng.standard_normal(self.center.shape) * heavy[:, None]
        place = self.center + (self.axes @ (standard / self.steepness)[..., None])[..., 0]
        logs = place @ _basis(place.shape[1] + 1).T
        shares: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.maximum(shares, SMALLEST, out=shares), self._of_standard(standard)

    def log_density(self, shares: FloatArray) -> FloatArray:
        """Shape (problems,): of the log-ratios of these shares, up to a constant."""
        place = np.log(shares) @ _basis(shares.shape[1])
        turned = ((place - self.center)[:, None] @ self.axes)[:, 0]
        return self._of_standard(turned * self.steepness)

    def _of_standard(self, standard: FloatArray) -> FloatArray:
        exponent = -(FREEDOM + standard.shape[1]) / 2
        density: FloatArray = exponent * np.log1p((standard**2).sum(axis=1) / FREEDOM)
        return density


def _mixed(ratios: FloatArray, shares: FloatArray) -> FloatArray:
    """Shape (problems, items): the density of each item."""
    total: FloatArray = ratios[0] * shares[:, 0, None]
    for of_class, share in zip(ratios[1:], shares.T[1:], strict=True):
        total += of_class * share[:, None]
    return np.maximum(total, SMALLEST, out=total)


@cache
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
