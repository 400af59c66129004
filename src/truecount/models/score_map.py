"""How probable each class is given an item's scores: a calibration map, and what labelled items say about it."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from truecount._log_sum import softmax
from truecount._types import FloatArray, IntArray

SLOPE, BIAS = 0.5, 2.0
"""Prior standard deviations of the common slope and of each class's bias; of two classes, of the bias of log-odds."""
OWN_SLOPE, BENDS, BENDS_OF_TWO = 0.5, 1.0, 0.3
"""The same for each class's own slope, where there are three or more; for the bends, those that all classes share and
those of each class; and for the spline of the log-odds of two classes."""
KNOTS, MORE_KNOTS, MANY_LABELS = 4, 9, 1000
"""Of the spline of two classes, at quantiles of the log-odds with both classes equally frequent, so that a rare one has
knots where its scores are; more of them from so many labels on."""
WIDTHS = (1.0, 3.0)
"""Multiples of the prior standard deviations; the labels choose."""
PROBABILITIES = (0.5, 0.1, 0.01)
"""Where the map of three classes or more may bend."""
STEEPER, STEEPEST = 2**0.5, 10
"""From which factor on between the slope of the map and that of the scores steeper ones are tried, doubled so often at
most."""
ROUNDS_OF_BIASES = 30
"""Towards the biases of such a start."""
SMALLEST = 1e-12
ROUNDS, NEAR = 50, 1e-6
"""Newton steps at most, and the gain of the log posterior below which they end."""


@dataclass(frozen=True)
class ScoreMap:
    """P(class | scores) as softmax of the log scores plus features times parameters, which are zero for no change.

    Parameters
    ----------
    n_classes
        How many columns scores have.
    smallest
        Added to each score before its logarithm is taken: scores of exactly 0 and 1 have one then.
    knots
        Where the map may bend: log-odds for two classes, logarithms of scores for more.
    scale
        Of the log-odds of two classes; 1 for more.
    width
        What the prior standard deviations are multiplied by.
    doublings
        How often the slope of the scores is doubled before anything else, which shrunken scores need.
    biases
        Of each class at that slope; none where the scores are taken as they are.
    """

    n_classes: int
    smallest: float
    knots: tuple[float, ...]
    scale: float = 1.0
    width: float = 1.0
    doublings: int = 0
    biases: tuple[float, ...] = ()

    @cached_property
    def prior_sd(self) -> FloatArray:
        """Shape (parameters,): how far the labels may move each parameter from zero, before they are seen."""
        if self.n_classes == 2:
            bends = np.full(len(self.knots), BENDS_OF_TWO * self.scale)
            return self.width * np.concatenate([[SLOPE * self.scale, BIAS], bends])
        each = np.ones(self.n_classes)
        bends = np.full(len(self.knots) * (1 + self.n_classes), BENDS)
        return self.width * np.concatenate([[SLOPE], BIAS * each, OWN_SLOPE * each, bends])

    def log_scores(self, scores: FloatArray) -> FloatArray:
        """Shape (items, classes): logarithms of smoothed scores, less their mean."""
        logs = self._smoothed_logs(scores)
        centred: FloatArray = logs - logs.mean(axis=1, keepdims=True)
        return centred

    @property
    def moved(self) -> slice:
        """Which classes have logits that the parameters move: of two classes one is enough."""
        return slice(1 if self.n_classes == 2 else 0, self.n_classes)

    @cached_property
    def mixing(self) -> FloatArray:
        """Shape (moved classes, own features, parameters): how parameters make up each class's coefficients.

        What a class has for itself comes on top of what all of them share.
        """
        if self.n_classes == 2:
            return np.eye(len(self.prior_sd))[None]
        classes, bends = self.n_classes, len(self.knots)
        found, each = np.zeros((classes, 2 + bends, len(self.prior_sd))), np.arange(classes)
        found[:, 1, 0] = found[each, 0, 1 + each] = found[each, 1, 1 + classes + each] = 1.0
        shared = 1 + 2 * classes
        for bend in range(bends):
            found[:, 2 + bend, shared + bend] = found[each, 2 + bend, shared + bends * (1 + each) + bend] = 1.0
        return found

    def own_features(self, scores: FloatArray) -> FloatArray:
        """Shape (moved classes, items, own features): what each coefficient of a class adds to its logit."""
        logs = self._smoothed_logs(scores)
        if self.n_classes == 2:
            odds = logs[:, 1] - logs[:, 0]
            bends = np.abs(odds[:, None] - np.array(self.knots)) / self.scale
            return np.column_stack([odds / self.scale, np.ones(len(odds)), bends])[None]
        by_class = logs.T[..., None]
        centred = by_class - by_class.mean(axis=0)
        bends = np.maximum(by_class - np.array(self.knots), 0.0)
        return np.concatenate([np.ones_like(by_class), centred, bends], axis=2)

    def logits(self, scores: FloatArray, parameters: FloatArray) -> FloatArray:
        """Shape (items, classes)."""
        found = self.log_scores(scores)
        found[:, self.moved] += (self.own_features(scores) @ (self.mixing @ parameters)[..., None])[..., 0].T
        return found

    def _smoothed_logs(self, scores: FloatArray) -> FloatArray:
        logs = np.log((scores + self.smallest) / (1 + self.n_classes * self.smallest))
        if not self.doublings:
            return logs
        logits = 2.0**self.doublings * logs + np.array(self.biases)
        steeper: FloatArray = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return steeper


@dataclass(frozen=True)
class FittedMap:
    """What labelled items say about the parameters of a map: a normal distribution around the mode.

    Parameters
    ----------
    map
        Whose parameters these are.
    mode
        Shape (parameters,): where the posterior density is highest.
    precision
        Shape (parameters, parameters): minus the second derivatives of the log posterior there.
    height
        The log posterior there, up to a constant.
    """

    map: ScoreMap
    mode: FloatArray
    precision: FloatArray
    height: float

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Shape (items, classes): P(class | scores) at the mode."""
        return softmax(self.map.logits(scores, self.mode))

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Shape (size, parameters): draws from the posterior, taken to be normal."""
        return self.at(rng.standard_normal((len(self.mode), size)).T)

    def at(self, standard: FloatArray) -> FloatArray:
        """Shape (size, parameters): the same, where points of a standard normal distribution end up."""
        root = np.linalg.cholesky(self.precision)
        found: FloatArray = self.mode + np.linalg.solve(root.T, standard.T).T
        return found


def score_map(scores: FloatArray, doublings: int = 0) -> ScoreMap:
    """Return the map for labelled scores: smoothed by half an item, with knots where the scores are.

    At another slope than their own, each class is as frequent on the whole as the scores say.
    """
    items, classes = scores.shape
    plain = ScoreMap(classes, 1 / (2 * max(items, 1)), ())
    if doublings:
        plain = replace(plain, doublings=doublings, biases=_biases(plain.log_scores(scores), 2.0**doublings))
    if classes > 2:
        return replace(plain, knots=tuple(np.log(PROBABILITIES).tolist()))
    log_scores = plain.log_scores(scores)
    odds = log_scores[:, 1] - log_scores[:, 0]
    number = KNOTS if items < MANY_LABELS else MORE_KNOTS
    probable, order = softmax(log_scores), np.argsort(odds)
    reached = np.cumsum((probable / probable.sum(axis=0)).sum(axis=1)[order])
    knots = odds[order][np.searchsorted(reached, 2 * np.arange(1, number + 1) / (number + 1))]
    return replace(plain, knots=tuple(knots.tolist()), scale=max(float(odds.std()), 1e-3))


def _biases(log_scores: FloatArray, slope: float) -> tuple[float, ...]:
    """Return what each class needs at this slope to be as frequent as before."""
    wanted, biases = softmax(log_scores).mean(axis=0), (1 - slope) * log_scores.mean(axis=0)
    for _ in range(ROUNDS_OF_BIASES):
        biases += np.log(wanted) - np.log(softmax(slope * log_scores + biases).mean(axis=0))
    return tuple(biases.tolist())


def fit_score_maps(scores: FloatArray, labels: IntArray) -> tuple[FittedMap, ...]:
    """Fit maps with priors of several widths to labelled items that the classifier was not trained on.

    That of the largest evidence, by Laplace's method, comes first. Priors allow slopes from zero to some times that of
    the scores; where the labels ask for more, priors around twice the slope, four times and so on are tried until the
    evidence falls. Their own probabilities fall off as those of a Cauchy distribution of the logarithm of the slope do.

    Parameters
    ----------
    scores
        Shape (labelled items, classes).
    labels
        Shape (labelled items,): positions of their classes.
    """
    truth = np.eye(scores.shape[1])[labels]
    found = [_of_all_widths(score_map(scores), scores, truth)]
    if _slope(found[0][-1], scores) >= STEEPER:
        for doublings in range(1, STEEPEST + 1):
            found.append(_of_all_widths(score_map(scores, doublings), scores, truth))
            if max(map(_evidence, found[-1])) < max(map(_evidence, found[-2])):
                break
    return tuple(sorted(chain(*found), key=_evidence, reverse=True))


def _of_all_widths(chosen: ScoreMap, scores: FloatArray, truth: FloatArray) -> list[FittedMap]:
    offsets, features = chosen.log_scores(scores), chosen.own_features(scores)
    fitted: list[FittedMap] = []
    for width in WIDTHS:
        start = fitted[-1].mode if fitted else None
        fitted.append(_fit(replace(chosen, width=width), offsets, features, truth, start))
    return fitted


def _slope(fitted: FittedMap, scores: FloatArray) -> float:
    """Return how much steeper a fitted map is than the scores."""
    offsets = fitted.map.log_scores(scores)
    centred = offsets - offsets.mean(axis=0)
    added = fitted.map.logits(scores, fitted.mode) - offsets
    return 1 + float((centred * added).sum() / max((centred**2).sum(), SMALLEST))


def _evidence(fitted: FittedMap) -> float:
    """Return the log evidence by Laplace's method, with the log probability of the slope."""
    spread = float(np.linalg.slogdet(fitted.precision)[1]) / 2 + float(np.log(fitted.map.prior_sd).sum())
    return fitted.height - spread - float(np.log1p(fitted.map.doublings**2))


def _fit(
    chosen: ScoreMap, offsets: FloatArray, features: FloatArray, truth: FloatArray, start: FloatArray | None = None
) -> FittedMap:
    """Find the mode by Newton's method; the log posterior is concave."""
    shrinkage, moved, is_class = chosen.prior_sd**-2, chosen.moved, truth.T
    mode = np.zeros(len(shrinkage)) if start is None else start
    shape, mixing = features.shape[:3:2], chosen.mixing.reshape(-1, len(mode))
    seen = (is_class[moved, None] @ features).ravel() @ mixing
    of_offsets = float((is_class * offsets.T).sum())

    def at(parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the log posterior, and the probabilities of classes, shape (classes, items)."""
        logits = np.ascontiguousarray(offsets.T)
        logits[moved] += (features @ (mixing @ parameters).reshape(*shape, 1))[..., 0]
        top = logits.max(axis=0)
        shares = np.exp(logits - top)
        total = shares.sum(axis=0)
        fit = of_offsets + seen @ parameters - (top + np.log(total)).sum() - shrinkage @ parameters**2 / 2
        return float(fit), shares / total

    def precision_at(predicted: FloatArray) -> FloatArray:
        found = information(features, predicted[moved], chosen.mixing)
        found[np.diag_indices(len(found))] += shrinkage
        return found

    height, predicted = at(mode)
    precision = precision_at(predicted)
    for _ in range(ROUNDS):
        slope = seen - (predicted[moved, None] @ features).ravel() @ mixing - shrinkage * mode
        step = np.linalg.solve(precision, slope)
        promised = float(slope @ step)
        reached, there = at(mode + step)
        while reached < height - NEAR:
            step /= 2
            reached, there = at(mode + step)
        mode, height, predicted = mode + step, reached, there
        if promised < NEAR:
            break
        precision = precision_at(predicted)
    return FittedMap(chosen, mode, precision, height)


def information(features: FloatArray, predicted: FloatArray, mixing: FloatArray) -> FloatArray:
    """Shape (parameters, parameters): the Fisher information of labels with these probabilities.

    Parameters
    ----------
    features
        Shape (classes, items, own features), as those of `ScoreMap.own_features`.
    predicted
        Shape (classes, items): probabilities of the same classes.
    mixing
        Shape (classes, own features, parameters).
    """
    classes, items, own = features.shape
    weighted = features * predicted[..., None]
    side_by_side = weighted.transpose(1, 0, 2).reshape(items, classes * own)
    both = -side_by_side.T @ side_by_side
    for place, within in enumerate(weighted.transpose(0, 2, 1) @ features):
        both[place * own : (place + 1) * own, place * own : (place + 1) * own] += within
    flat = mixing.reshape(classes * own, -1)
    found: FloatArray = flat.T @ both @ flat
    return found
