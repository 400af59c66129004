"""What to know of labels that may be wrong: how far raters agree, and whether they err together."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from truecount._types import BoolArray, FloatArray, IntArray
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
SURPRISING = 0.01
"""Probability of patterns as unlike what error rates explain, if raters and classifier err independently."""
SIMULATED, FEW_SIMULATED, MANY_ITEMS = 200, 100, 5000
"""Data sets that are simulated for that, and how many where there are many items."""
OF_CHOICE = ("labels-by-output", "labels-of-groups")
"""Findings about how labels were chosen, which imputed ones say nothing of."""


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
    own = [_few_repeats(rates), _together(density, rates, draws.confusion), _alike(rates), _agreement(rates)]
    return gravest_first([*(each for each in others if each.code not in OF_CHOICE), *own])


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


def _alike(rates: RaterRates) -> Finding | None:
    """Find columns that agree on every item which has both, as a copy would."""
    pairs = rates.agreement.pairs
    alike = {pair: told[0] for pair, told in pairs.items() if told[1] == 1 and told[0] >= FEW_REPEATS}
    if not alike:
        return None
    told = listed([f"{one} and {two} ({items:,.0f} items)" for (one, two), items in alike.items()])
    return Finding(
        "raters-alike",
        "caution",
        f"These raters gave every item that both labelled the same label: {told}. If one column is a copy of the "
        "other, one rater is counted as two, and intervals are too narrow.",
        {"raters": [list(pair) for pair in alike], "items": list(alike.values())},
        "Leave a copy out; nothing is to be done if the raters worked apart.",
    )


def _together(density: RatedDensity, rates: RaterRates, confusion: FloatArray) -> Finding | None:
    """Find that labels and outputs come together in a way that no independent errors explain."""
    found = dependence(density, rates, confusion)
    if found is None or found.p_value > SURPRISING:
        return None
    pair = listed(found.pair)
    return Finding(
        "raters-err-together",
        "caution",
        f"Given the true class, raters do not err independently of each other: {pair} agree on "
        f"{abs(100 * found.excess):.1f} points {'more' if found.excess > 0 else 'less'} of their items than their "
        "error rates explain. Error rates may be too low, and intervals too narrow.",
        {"raters": list(found.pair), "excess": found.excess, "p_value": found.p_value},
        "Look at the items on which they agree; let another rater, or a better one, label some of them.",
    )


class Dependence(NamedTuple):
    """How improbable patterns are if all err independently, and the pair whose agreement differs most."""

    p_value: float
    pair: tuple[str, str]
    excess: float


def dependence(density: RatedDensity, rates: RaterRates, confusion: FloatArray) -> Dependence | None:
    """Test whether raters and classifier err independently, by a posterior predictive check of all patterns.

    The likelihood ratio of patterns of labels and outputs against the model is compared with that of data simulated
    from the same draws. It is conservative. None where there is nothing to compare: fewer than three columns.
    """
    items = density.labeled.sum()
    n_columns = density.labels.shape[1]
    if n_columns + (density.labeled.shape[1] > 1) < 3 or not items:
        return None
    rng = np.random.default_rng(0)
    number = SIMULATED if items <= MANY_ITEMS else FEW_SIMULATED
    chosen = np.linspace(0, len(rates.draws) - 1, number).astype(int)
    whole = density.whole_items
    patterns, outputs = np.nonzero(whole)
    seen = np.column_stack([density.labels[patterns], outputs])
    often = whole[patterns, outputs].astype(np.float64)
    has_label = np.repeat(seen[:, :-1] >= 0, often.astype(int), axis=0)
    worse = 0
    for draw in chosen:
        theta = rates.draws[draw], rates.labeled_prevalence[draw], confusion[draw]
        simulated, times = np.unique(_simulated(density, has_label, theta, rng), axis=0, return_counts=True)
        observed = _log_ratio(density, seen, often, theta)
        worse += _log_ratio(density, simulated, times.astype(np.float64), theta) >= observed
    pair, excess = _largest_excess(density, rates)
    return Dependence((worse + 1) / (number + 1), pair, excess)


def _simulated(density: RatedDensity, has_label: BoolArray, theta: Any, rng: np.random.Generator) -> IntArray:
    """Shape (items, columns and one for the output): data like those that were seen, with independent errors."""
    raters, shares, confusion = theta
    truth = rng.choice(len(shares), len(has_label), p=shares / shares.sum())
    columns = [_drawn(raters[rater], truth, rng) for rater in density.rater_of]
    labels = np.where(has_label, np.column_stack(columns), -1)
    return np.column_stack([labels, _drawn(confusion, truth, rng)])


def _drawn(rows: FloatArray, truth: IntArray, rng: np.random.Generator) -> IntArray:
    ends = np.cumsum(rows, axis=1)[:, :-1]
    return np.asarray((rng.random(len(truth))[:, None] > ends[truth]).sum(axis=1))


def _log_ratio(density: RatedDensity, cells: IntArray, often: FloatArray, theta: Any) -> float:
    """Return ``2 Σ n log(n / expected)`` over cells that occur; items with the same gaps are a sample of their own."""
    raters, shares, confusion = theta
    weights = shares[:, None] * confusion[:, cells[:, -1]]
    for column, rater in enumerate(density.rater_of):
        label = cells[:, column]
        weights = weights * np.where(label >= 0, raters[rater][:, label], 1.0)
    _, gaps = np.unique(cells[:, :-1] >= 0, axis=0, return_inverse=True)
    totals = np.bincount(gaps.ravel(), often)[gaps.ravel()]
    return float(2 * (often * np.log(often / np.maximum(totals * weights.sum(axis=0), 1e-300))).sum())


def _largest_excess(density: RatedDensity, rates: RaterRates) -> tuple[tuple[str, str], float]:
    """Return the two raters whose agreement differs most, in standard errors, from what their rates predict."""
    labels, items = density.labels, density.labeled.sum(axis=1)
    worst: tuple[float, tuple[str, str], float] = (-1.0, (rates.raters[0], "the classifier"), 0.0)
    for one, two in combinations(range(labels.shape[1]), 2):
        both = (labels[:, one] >= 0) & (labels[:, two] >= 0)
        number = float(items[both].sum())
        if not number:
            continue
        seen = float(items[both & (labels[:, one] == labels[:, two])].sum()) / number
        first, second = density.rater_of[one], density.rater_of[two]
        agree = float(
            np.einsum("dl,dlm,dlm->d", rates.labeled_prevalence, rates.draws[:, first], rates.draws[:, second]).mean()
        )
        size = abs(seen - agree) / np.sqrt(max(agree * (1 - agree), 1e-9) / number)
        worst = max(worst, (size, (rates.raters[first], rates.raters[second]), seen - agree))
    return worst[1], worst[2]
