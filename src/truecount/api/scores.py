"""From scores to a posterior: a calibration map where it fits, cells where it does not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount.counts import Counts
from truecount.diagnostics.score_fit import map_misfit, of_scores, too_few_labels
from truecount.inference.draws import Engine
from truecount.inference.score_shares import MeanShares, ScoredItems, mean_by_scores, sample_by_scores
from truecount.models import LabelShift, Model
from truecount.models.learned import CONCENTRATIONS
from truecount.models.priors import AUTO, LEARNED
from truecount.models.score_map import FittedMap, fit_score_maps
from truecount.results import Finding, Posterior
from truecount.results.export.provenance import Origin
from truecount.results.finding import Awaited, gravest_first
from truecount.scores import Scores
from truecount.scores.partition import by_confidence

FEWEST_LABELS, FEWEST_ITEMS, ITEMS_OVER_PRIOR = 20, 50, 10
"""Labels of a class, items, and items over the sum of the prior's concentrations, below which means are of draws."""
MOST_LABELED, MOST_UNLABELED = 20_000, 8_000
"""Items that are looked at one by one; of more, every n-th, by most probable class and its probability."""


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """What labelled scores say: a fitted map, or why there is none.

    Parameters
    ----------
    fitted
        The map; None where scores are to be sorted into cells.
    finding
        Why; None where the map fits.
    """

    fitted: FittedMap | None
    finding: Finding | None = None


def fit_scores(scores: FloatArray, labels: IntArray, classes: tuple[Name, ...]) -> ScoreModel:
    """Fit maps to labelled scores and test them: the rule that decides between a map and cells.

    Cells where a class has fewer than five labels, or where no map fits at the 0.1 % level; else the map of the largest
    evidence among those that fit.
    """
    finding = too_few_labels(labels, classes)
    if finding is not None:
        return ScoreModel(None, finding)
    some = spread_items(scores, MOST_LABELED)
    for fitted in fit_score_maps(scores[some], labels[some]):
        finding = map_misfit(fitted, scores[some], labels[some])
        if finding is None:
            return ScoreModel(fitted)
    return ScoreModel(None, finding)


def asks_for_cells(model: Model, engine: Engine) -> bool:
    """Whether what was asked for is of counts: another design, a prior of rows, an engine of its own."""
    if not isinstance(model, LabelShift):
        return True
    return model.prior.confusion != AUTO or model.prior.known is not None or engine.open_choice is None


def by_map(
    fitted: FittedMap,
    scores: Scores,
    model: LabelShift,
    engine: Engine,
    origin: Origin,
    *,
    ways: Sequence[FloatArray] = (),
) -> Posterior:
    """Draw from the posterior of the map and of the prevalence.

    Those unlabelled items that `spread_items` chooses may have been scored in several `ways`, each as good as
    ``scores.unlabeled``: each has its part of the draws.
    """
    counts = scores.to_counts()
    items, concentration = scored_items(scores, ways), _concentrations(model, counts)
    draws = sample_by_scores(fitted, items, concentration, draws=engine.open_choice or 1, seed=origin.seed)
    own = model.resolved(counts)
    findings = Awaited(partial(of_scores, counts, own, draws))
    return Posterior(draws=draws, counts=counts, model=own, findings=findings, origin=origin)


def mean_by_map(
    fitted: FittedMap, scores: Scores, model: LabelShift, seed: int, *, ways: Sequence[FloatArray] = ()
) -> MeanShares | None:
    """Return the means of the posterior of `by_map` without drawing from it; None where that takes draws.

    It does without unlabelled items, where the concentration of the prevalence is learned, and where a class has few
    labels, or the prior weighs as much as the items: there the mean without draws has an error that they have not.
    """
    counts = scores.to_counts()
    concentration, items = _concentrations(model, counts), len(scores.unlabeled)
    is_learned, fewest = len(concentration) > 1, counts.labeled.sum(axis=1).min()
    if is_learned or fewest < FEWEST_LABELS or items < max(FEWEST_ITEMS, ITEMS_OVER_PRIOR * concentration.sum()):
        return None
    return mean_by_scores(fitted, scored_items(scores, ways), concentration, seed=seed)


def scored_items(scores: Scores, ways: Sequence[FloatArray]) -> ScoredItems:
    """Return those items that are looked at one by one."""
    known, new = spread_items(scores.labeled, MOST_LABELED), spread_items(scores.unlabeled, MOST_UNLABELED)
    return ScoredItems(
        labeled=scores.labeled[known],
        unlabeled=np.stack(ways or [scores.unlabeled[new]]),
        outputs=scores.labeled[known].argmax(axis=1),
        n_outputs=len(scores.classes),
        weight=len(scores.unlabeled) / max(1, len(new)),
    )


def by_cells(scores: Scores) -> Counts:
    """Count scores by the most probable class and how probable it is."""
    partition = by_confidence(int(scores.items.min()), len(scores.classes))
    return scores.to_counts(partition.fit(np.concatenate([scores.labeled, scores.unlabeled])))


def spread_items(scores: FloatArray, most: int) -> IntArray:
    """Shape (items,): positions of so many items at most, spread evenly over classes and probabilities.

    >>> spread_items(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]), 2)
    array([3, 1])
    """
    if len(scores) <= most:
        return np.arange(len(scores))
    order = np.lexsort((scores.max(axis=1), scores.argmax(axis=1)))
    return np.asarray(order[((np.arange(most) + 0.5) * len(scores) / most).astype(np.int64)])


def with_finding(posterior: Posterior, finding: Finding) -> Posterior:
    """Return the answer with one more finding."""
    before: Sequence[Finding] = posterior.findings
    return replace(posterior, findings=Awaited(lambda: gravest_first([*before, finding])))


def _concentrations(model: LabelShift, counts: Counts) -> FloatArray:
    """Shape (points, classes): of the prior of the prevalence; several points where it is learned."""
    if model.resolved(counts).prior.prevalence == LEARNED:
        return CONCENTRATIONS[:, None] * np.ones(len(counts.classes))
    return model.prior.prevalence_for(counts)[None]
