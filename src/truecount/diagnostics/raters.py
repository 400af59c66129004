"""What to know of labels that may be wrong: how far raters agree, and whether they err together."""

from itertools import combinations

import numpy as np

from truecount._types import FloatArray
from truecount._wording import listed, percent
from truecount.counts import Counts, Groups
from truecount.diagnostics.findings import of_posterior
from truecount.diagnostics.hierarchy import group_findings
from truecount.inference.draws import Draws
from truecount.inference.group_draws import GroupDraws
from truecount.models import LabelShift
from truecount.models.erring_labels import ErringLabels, RatedDensity
from truecount.results.finding import Finding, gravest_first
from truecount.results.raters import RaterRates

FEW_REPEATS = 30
"""Items with two labels, below which error rates are hardly known."""
SURPRISING = 0.005
"""Probability of raters agreeing so far beyond their error rates, if they err independently."""
SIMULATED = 400
ROUND_LABELS = "labels-by-output"
"""A finding about how labels were chosen, which imputed ones say nothing of."""


def rater_findings(
    data: Counts | Groups, model: ErringLabels, density: RatedDensity, rates: RaterRates, draws: Draws | GroupDraws
) -> tuple[Finding, ...]:
    """Return what to know before relying on the answer, the gravest first."""
    plain = LabelShift(model.prior.fixed, groups=model.groups)
    if isinstance(data, Groups) and isinstance(draws, GroupDraws):
        others = group_findings(data, plain, draws)
    elif isinstance(data, Counts) and isinstance(draws, Draws):
        others = of_posterior(data, plain.prior, plain.density(data), draws)
    else:
        others = ()
    own = [_few_repeats(rates), _together(density, rates), _agreement(rates)]
    return gravest_first([*(each for each in others if each.code != ROUND_LABELS), *own])


def _agreement(rates: RaterRates) -> Finding | None:
    if not rates.agreement.items:
        return None
    errors = rates.error_rate()
    told = listed([f"{name} {percent(error)}" for name, error in zip(rates.raters, errors[:, 0], strict=True)])
    return Finding(
        "raters-err",
        "info",
        f"Labels are not taken for true classes. Raters are inferred to err on so many of the labelled items: {told}.",
        rates.to_dict()["agreement"],
    )


def _few_repeats(rates: RaterRates) -> Finding | None:
    if not 0 < rates.agreement.items < FEW_REPEATS:
        return None
    number = rates.agreement.items
    return Finding(
        "few-repeats",
        "caution",
        f"Only {number:.0f} item{'s' if number > 1 else ''} have two labels or more: how often raters err is mostly "
        "assumed.",
        {"items": number},
        "Let a second rater label more of the items.",
    )


def _together(density: RatedDensity, rates: RaterRates) -> Finding | None:
    """Find two raters, or a rater and the classifier, that agree more or less than their error rates explain."""
    found = dependence(density, rates)
    if found is None or found[1] > SURPRISING:
        return None
    excess, chance, pair = found
    return Finding(
        "raters-err-together",
        "caution",
        f"{pair[0]} and {pair[1]} agree on {abs(100 * excess):.1f} points {'more' if excess > 0 else 'fewer'} of their "
        "items than their error rates explain: given the true class they do not err independently, and error rates "
        "and intervals are too good.",
        {"raters": list(pair), "excess": excess, "p_value": chance},
        "Look at items on which they agree against the others; let another rater, or a better one, label some of them.",
    )


def dependence(density: RatedDensity, rates: RaterRates) -> tuple[float, float, tuple[str, str]] | None:
    """Return the pair of raters whose agreement differs most from what is predicted, by a posterior predictive check.

    Returns
    -------
    Agreement beyond what is predicted, the probability of one as surprising (two-sided, over all pairs), and the pair;
    None where fewer than three raters have items in common: two can always be explained.
    """
    labels, items = density.labels, density.labeled.sum(axis=1)
    if labels.shape[1] < 3:
        return None
    rng, pairs, worst = np.random.default_rng(0), list(combinations(range(labels.shape[1]), 2)), None
    chosen = np.linspace(0, len(rates.draws) - 1, SIMULATED).astype(int)
    rho, tau = rates.draws[chosen], rates.labeled_prevalence[chosen]
    for one, two in pairs:
        both = (labels[:, one] >= 0) & (labels[:, two] >= 0)
        number = float(items[both].sum())
        if not number:
            continue
        seen = float(items[both & (labels[:, one] == labels[:, two])].sum()) / number
        first, second = density.rater_of[one], density.rater_of[two]
        agree: FloatArray = np.einsum("dl,dlm,dlm->d", tau, rho[:, first], rho[:, second])
        simulated = rng.binomial(round(number), np.clip(agree, 0, 1)) / number
        excess = seen - float(simulated.mean())
        spread = float(simulated.std()) or 1 / number
        if worst is None or abs(excess / spread) > worst[0]:
            worst = (abs(excess / spread), excess, (rates.raters[first], rates.raters[second]))
    if worst is None:
        return None
    from scipy.special import ndtr

    return worst[1], float(min(1.0, 2 * len(pairs) * ndtr(-worst[0]))), worst[2]
