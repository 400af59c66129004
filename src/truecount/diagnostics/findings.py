"""The findings that an answer carries: those read off counts, prior and run, and those that other modules make."""

from collections.abc import Iterator
from math import lgamma, log

import numpy as np

from truecount._advice import ALL_CLASSES, AUTO, JOINT, MORE_TIME, USE_POSTERIOR, Action, Advice, named_rows
from truecount._types import FloatArray
from truecount._wording import are_ranges, listed, listed_classes, percent
from truecount.counts import Counts
from truecount.counts.classifiers import FEWEST_LABELS
from truecount.counts.table import unseen_remedy
from truecount.counts.weights import design_effect, effective_by_output, output_design_effect
from truecount.diagnostics.classifiers import dependence_finding, independence_test
from truecount.diagnostics.clusters import clustered
from truecount.diagnostics.homogeneity import not_random
from truecount.diagnostics.identify import (
    edge_not_excluded,
    indistinct,
    kept_uncertainty,
    names_alike,
    not_identified,
    prior_dominated,
    several_answers,
    worse_than_chance,
)
from truecount.diagnostics.shift import misfit, prior_against_data
from truecount.inference.convergence import FEWEST_EFFECTIVE, RHAT_LIMIT, RHAT_MOST, RHAT_SERIOUS
from truecount.inference.draws import Draws
from truecount.inference.modes.mode import ModeRecord
from truecount.models import ByPrediction, Density, Model, Prior, SamePopulation, TargetLabels, density
from truecount.models.priors import NAMED_ROWS
from truecount.models.target_labels import learned_worth
from truecount.results.finding import Finding, Severity, gravest_first


def of_posterior(counts: Counts, prior: Prior, model: Density, draws: Draws) -> tuple[Finding, ...]:
    """Return what is cheap to find out about draws, the gravest first."""
    return gravest_first([*cautions(counts, prior, draws), *_of_answer(counts, prior, model, draws)])


def _of_answer(counts: Counts, prior: Prior, model: Density, draws: Draws) -> Iterator[Finding | None]:
    """Yield what counts and draws together show; a lack of knowledge is said once, by its cause."""
    if not model.unlabeled.sum():
        return
    camps, conflict = several_answers(counts, draws), prior_against_data(counts, prior, model, draws)
    unclear = not_identified(counts, model, draws)
    yield from (camps, conflict, misfit(counts, model), *unclear, worse_than_chance(counts, model))
    if camps is None and conflict is None:
        alike = {name for finding in unclear for name in finding.numbers["classes"]}
        kept = kept_uncertainty(model, draws)
        yield prior_dominated(counts, model, kept, said=alike)
        yield edge_not_excluded(counts, draws, kept)


def of_closed_form(counts: Counts, model: Model) -> tuple[Finding, ...]:
    """Return what is known about an answer whose labels tell P(class | output)."""
    is_random = isinstance(model, SamePopulation)
    effect = output_design_effect(counts, labels_tell_outputs=is_random)
    worth = effective_by_output(counts, labels_tell_outputs=is_random)
    together = clustered(counts, effect, worth=worth, by_output=True)
    return gravest_first([*output_cautions(counts, worth), together, not_random(counts) if is_random else None])


def of_target_labels(counts: Counts, model: TargetLabels, made: Density, draws: Draws) -> tuple[Finding, ...]:
    """Return what is known about an answer from labels of the population and labels from elsewhere."""
    both = Counts(counts.labeled + model.table(counts), counts.unlabeled, counts.classes, counts.outputs)
    found = (
        no_unlabeled(both),
        names_alike(classes=both.classes, outputs=both.outputs),
        _unlabeled_class(both, model.prior),
        _unseen_output(both, model.prior),
        _not_converged(draws),
        _sources(counts, model, made, draws),
    )
    return gravest_first(found)


def _sources(counts: Counts, model: TargetLabels, made: Density, draws: Draws) -> Finding | None:
    """Say how much labels from elsewhere counted."""
    told = learned_worth(counts, made, draws.confusion)
    if told is None:
        return None
    worth, probability = told
    places = np.searchsorted(np.cumsum(probability), [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    low, middle, high = worth[np.minimum(places, len(worth) - 1)].tolist()
    own, elsewhere = int(np.sum(model.labeled)), float(counts.labeled.sum())
    per_class = elsewhere / len(counts.classes)
    holds = float(probability[-1])
    is_unlike = holds < UNLIKE
    message = (
        f"{own:,} labels of the population and {elsewhere:,.0f} from elsewhere were combined: the {per_class:,.0f} "
        f"labels of a class from elsewhere count as about {_short(middle)} of the population ({_short(low)} to "
        f"{_short(high)}). That label shift holds has a probability of {holds:.2f}."
    )
    drifted = " The classifier treats items of a class differently here." if is_unlike else ""
    numbers = {"labels": own, "elsewhere": elsewhere, "worth": middle, "interval": [low, high], "label_shift": holds}
    advice = "Label more items of the population: labels from elsewhere tell little of it." if is_unlike else ""
    return Finding("sources-combined", "caution" if is_unlike else "info", message + drifted, numbers, advice)


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):g}"


def of_independent(counts: Counts, draws: Draws) -> tuple[Finding, ...]:
    """Return what is known about an answer that takes several classifiers for independent."""
    test = independence_test(counts)
    found = (no_unlabeled(counts), _weighted(counts), _clustered(counts), _not_converged(draws))
    return gravest_first([*found, dependence_finding(test, is_assumed=True)])


def of_mode(counts: Counts, prior: Prior, record: ModeRecord) -> tuple[Finding, ...]:
    """Return what is known about a mode."""
    return gravest_first([*of_counts(counts, prior, record.prevalence), *mode_findings(record)])


def of_counts(counts: Counts, prior: Prior, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Return what counts show about a point under label shift, without a draw."""
    if not counts.unlabeled.sum():
        return cautions(counts, prior)
    model = density(counts, prior)
    return gravest_first([*cautions(counts, prior), misfit(counts, model), *indistinct(counts, model, prevalence)])


UNLIKE = 0.05
"""Probability of label shift below which labels of the population and from elsewhere are said to differ."""
FEW_AN_OUTPUT = 10
"""Labels of a class for each output, beyond which it hardly matters what the prior of its row is."""
ROUND, BY_CHANCE, MOST_NUMBERS = (100, 50, 25, 10, 5), 0.01, 6
"""Steps that people count in, and how seldom all outputs may have a multiple of one by chance."""
MOST_UNSEEN = 0.5
"""Share of the unlabelled items with an output never labelled, beyond which nearly all is assumed."""
MOST_ABSTENTIONS = 2
"""Outputs that are no class, such as *unsure* and *refused*; more are hardly all of this kind."""
LEVEL = 0.95
"""Of the interval for the strength of a learned prior."""
MOST_WEIGHTED = 0.5
"""Part of whole sums of weights that items are worth, below which the weights are perhaps numbers of items."""
STRONG = 1000
"""How many times better another prior must explain the labels before it is named."""


def cautions(
    counts: Counts, prior: Prior, draws: Draws | None = None, worth: tuple[FloatArray, FloatArray] | None = None
) -> tuple[Finding, ...]:
    """Say what a reader should know about this answer; items are worth as many as `counts.effective`, if not told."""
    found = [
        no_unlabeled(counts),
        names_alike(classes=counts.classes, outputs=counts.outputs),
        _weighted(counts, worth),
        _clustered(counts),
        _unlabeled_class(counts, prior),
        _outputs_no_class(counts),
        None if draws is None else _few_labels(counts, prior),
        None if draws is None else _prior_against_labels(counts, prior),
        None if draws is None else _learned_prior(counts, prior),
        _unseen_output(counts, prior),
        labels_by_output(counts),
        _merged_combinations(counts),
        None if draws is None else _shared_labels(draws),
        None if draws is None else _not_converged(draws),
    ]
    return tuple(finding for finding in found if finding is not None)


def output_cautions(counts: Counts, worth: tuple[FloatArray, FloatArray]) -> tuple[Finding, ...]:
    """Say what a reader should know where labels tell the classes behind each output."""
    named = names_alike(classes=counts.classes, outputs=counts.outputs)
    found = (no_unlabeled(counts), named, _weighted(counts, worth), _unseen_output(counts, Prior()))
    return tuple(finding for finding in found if finding is not None)


def _clustered(counts: Counts) -> Finding | None:
    return None if counts.clusters is None else clustered(counts, design_effect(counts), worth=counts.effective)


def _shared_labels(draws: Draws) -> Finding | None:
    """Find a group whose labelled table others share, and that was drawn by itself."""
    if draws.run.groups_sharing_labels is None:
        return None
    return Finding(
        "shared-labels",
        "info",
        "Other groups share the labelled items, so what is wrong about them is wrong in all groups alike: a difference "
        "between two groups cannot be read off their separate draws.",
        {"groups": draws.run.groups_sharing_labels} if draws.run.groups_sharing_labels else {},
        Advice("Use {} before comparing groups.", JOINT),
    )


def no_unlabeled(counts: Counts) -> Finding | None:
    """Say that there is nothing to tell the shares by."""
    if counts.unlabeled.sum():
        return None
    return Finding(
        "no-unlabeled",
        "serious",
        "There are no unlabelled items, so this is only the prior.",
        advice="Count the outputs of the population in question.",
    )


def _weighted(counts: Counts, worth: tuple[FloatArray, FloatArray] | None = None) -> Finding | None:
    if not counts.is_weighted:
        return None
    labeled, unlabeled = (float(items.sum()) for items in worth or counts.effective)
    told = f"{labeled:.0f} labelled and {unlabeled:.0f} unlabelled items"
    sums = counts.labeled.sum(), counts.unlabeled.sum()
    is_whole = not (np.any(counts.labeled % 1) or np.any(counts.unlabeled % 1))
    may_count = is_whole and (labeled < MOST_WEIGHTED * sums[0] or unlabeled < MOST_WEIGHTED * sums[1])
    return Finding(
        "weighted-counts",
        "caution" if may_count else "info",
        f"The counts are sums of weights; they were taken to be worth {told}.",
        {"labeled": labeled, "unlabeled": unlabeled},
        "If a weight says how many items a row stands for, pass a row for each item instead."
        if may_count
        else "Use the unweighted rows where the weights do not correct how items were sampled.",
    )


def _unlabeled_class(counts: Counts, prior: Prior) -> Finding | None:
    is_told = (counts.labeled.sum(axis=1) > 0) | prior.has_given_row(counts)
    empty = [counts.classes[row] for row in _learned_rows(counts, prior) if not is_told[row]]
    if not empty:
        return None
    said = listed_classes(empty)
    them = "it" if len(empty) == 1 else "them"
    return Finding(
        "unlabeled-class",
        "caution",
        f"No labelled item belongs to {said}: what the classifier does with {them} is only assumed.",
        {"classes": empty},
        f"Label some items of {said}.",
    )


def _outputs_no_class(counts: Counts) -> Finding | None:
    """Find so many outputs beside the classes that they are hardly abstentions: classes that nobody labelled."""
    names, items = counts.uncounted, counts.unlabeled
    if counts.counted is None or len(names) <= MOST_ABSTENTIONS or counts.combinations is not None:
        return None
    share = float(items[[counts.outputs.index(name) for name in names]].sum() / items.sum())
    return Finding(
        "outputs-no-class",
        "caution",
        f"{len(names)} outputs are named like no class of the labelled items ({listed_classes(names)}); "
        f"{percent(share)} of the unlabelled items have them. A class without a labelled item has no share in this "
        "answer.",
        {"outputs": list(names), "share": share},
        Advice("If they are classes, name every class: {}", ALL_CLASSES),
    )


def _few_labels(counts: Counts, prior: Prior) -> Finding | None:
    """Find classes whose row prior weighs more than their labels, and so decides what the classifier does with them."""
    if prior.learned_rows_for(counts) is not None:
        return None
    items, weight = counts.effective.labeled.sum(axis=1), prior.confusion_for(counts).sum(axis=1)
    few = [row for row in _learned_rows(counts, prior) if 0 < items[row] < weight[row]]
    if not few:
        return None
    names = [counts.classes[row] for row in few]
    said, most = listed_classes(names), f"{items[few].min():.3g}"
    return Finding(
        "few-labels",
        "caution",
        f"With as few labels as {most} the prior decides what the classifier is taken to do with {said}: it weighs as "
        f"much as {weight[few].max():.3g} labels of a class.",
        {"classes": names, "labeled": items[few].tolist(), "prior": weight[few].tolist()},
        Advice(
            "Label more items of {}, or let the labels decide what the prior weighs: {}.", said, named_rows("learned")
        ),
    )


def _prior_against_labels(counts: Counts, prior: Prior) -> Finding | None:
    """Find that another named prior of the rows explains the labels far better, where they are few enough to matter.

    That prior need not give the better answer (``benchmarks/label_evidence.py``), so it is named and not advised.
    """
    if prior.learned_rows_for(counts) is not None:
        return None
    rows = _learned_rows(counts, prior)
    labeled = counts.effective.labeled[rows]
    items, weight = labeled.sum(axis=1), prior.confusion_for(counts)[rows]
    if not ((items > 0) & (items <= FEW_AN_OUTPUT * len(counts.outputs))).any():
        return None
    evidence = {name: _log_evidence(labeled, Prior(confusion=name).confusion_for(counts)[rows]) for name in NAMED_ROWS}
    better = max(evidence, key=lambda name: evidence[name])
    gain = evidence[better] - _log_evidence(labeled, weight)
    if gain <= log(STRONG):
        return None
    times = f"{np.exp(gain):,.0f}" if gain < log(1e6) else "over a million"
    looks = "gather on fewer outputs" if better == "sparse" else "spread over more outputs"
    return Finding(
        "prior-against-labels",
        "caution",
        f"The labels of a class {looks} than the prior of the confusion expects: {better} rows explain them {times} "
        "times better. Which prior brings the shares nearer to the truth does not follow from that.",
        {"better": better, "log_bayes_factor": gain, "prior": weight.sum(axis=1).tolist()},
        Advice(
            "Compare the answer with that of {}, as {} does, and with that of {}, where the labels decide; where they "
            "differ by much, label more items.",
            named_rows(better),
            Action("check()", "truecount check", page="a check of the answer"),
            named_rows("learned"),
        ),
    )


def _learned_prior(counts: Counts, prior: Prior) -> Finding | None:
    """Say what the labels decided about the prior of the rows."""
    learned = prior.learned_rows_for(counts)
    if learned is None or not learned.spread.any():
        return None
    even, own = learned.reference
    low, high = learned.strength_interval(LEVEL)
    part = own / (even + own)
    on_own = f", {100 * part:.0f} % of them with the output called like the class" if learned.peak.any() else ""
    labels = " to ".join(dict.fromkeys(_short(end) for end in (low, high)))
    return Finding(
        "learned-prior",
        "info",
        "Classes borrow from each other how often the classifier errs: what they have in common counts as "
        f"{labels} labels of each class{on_own}.",
        {"strength": even + own, "interval": [low, high], "own": part},
    )


def _log_evidence(labeled: FloatArray, concentration: FloatArray) -> float:
    """Log-probability of the labelled items' outputs, class by class and before any of them is seen."""
    seen, weight, items = labeled > 0, concentration.sum(axis=1), labeled.sum(axis=1)
    cells = _log_rising(concentration[seen], labeled[seen])
    return cells - _log_rising(weight, items)


def _log_rising(start: FloatArray, steps: FloatArray) -> float:
    """``Σ log Γ(start + steps) − log Γ(start)``; scipy would have to be loaded for it."""
    return sum(lgamma(a + n) - lgamma(a) for a, n in zip(start.tolist(), steps.tolist(), strict=True))


def _unseen_output(counts: Counts, prior: Prior) -> Finding | None:
    """Find outputs that no label and no known row explains; without labels, the prior explains all of them."""
    if not counts.labeled.sum():
        return None
    explained = (counts.labeled.sum(axis=0) > 0) | (np.nan_to_num(prior.known_for(counts)) > 0).any(axis=0)
    unseen = np.flatnonzero(~explained & (counts.unlabeled > 0))
    if not len(unseen):
        return None
    names = [counts.outputs[column] for column in unseen]
    known = [counts.outputs[column] for column in np.flatnonzero(explained)]
    share = float(counts.unlabeled[unseen].sum() / counts.unlabeled.sum())
    return Finding(
        "unseen-output",
        "serious" if share > MOST_UNSEEN else "caution",
        f"{percent(share)} of the unlabelled items have an output that no labelled item has ({listed(names)}): "
        "which classes they belong to is only assumed.",
        {"outputs": names, "share": share},
        f"{unseen_remedy(names, known, otherwise='Label some items with such outputs')}.",
    )


def labels_by_output(counts: Counts) -> Finding | None:
    """Notice round numbers of labels for every output, and not for every class: someone chose them so.

    As many labels in every range of a score are no sign of that: quantile bins are made so.
    """
    by_class, by_output = counts.labeled.sum(axis=1), counts.labeled.sum(axis=0)
    used = by_output[by_output > 0]
    if are_ranges(counts.outputs) and len(used) and np.ptp(used) <= 1:
        return None
    for step in ROUND:
        free = len(used) - (used.sum() % step == 0)
        by_chance = float(step) ** -int(free)
        is_chosen = len(used) > 1 and by_chance <= BY_CHANCE and not (used % step).any()
        if is_chosen and (by_class % step).any() and not counts.is_weighted:
            break
    else:
        return None
    numbers = ", ".join(f"{items:.0f}" for items in used[:MOST_NUMBERS])
    return Finding(
        "labels-by-output",
        "caution",
        f"Every output has a round number of labels ({numbers}) and the classes have not: if the labels were "
        "stratified by output, this answer is biased.",
        {"by_output": by_output.tolist(), "by_class": by_class.tolist(), "by_chance": by_chance},
        Advice("If labels were sampled by output, use {}; if not, nothing is wrong.", ByPrediction.choice()),
    )


def _merged_combinations(counts: Counts) -> Finding | None:
    """Say that rare combinations of several classifiers were merged with others."""
    found = counts.combinations
    if found is None or not any(found.merged):
        return None
    number = sum(found.merged)
    into = [str(counts.outputs[place]) for place, others in enumerate(found.merged) if others]
    return Finding(
        "rare-combinations",
        "info",
        f"{number} combination{'s' * (number > 1)} of outputs had fewer than {FEWEST_LABELS} labelled items, of all "
        "classes together, and each is counted with the one that agrees in most classifiers, the most frequent of "
        f"these: {listed(into)}.",
        {"merged": number, "into": into},
    )


def _not_converged(draws: Draws) -> Finding | None:
    reason = draws.run.not_converged
    if not reason:
        return None
    advice = Advice("See the other findings first; else use a stronger prior{}.", MORE_TIME)
    if draws.run.reason is None:
        advice = Advice("See the other findings first; else use a stronger prior, or let {} choose the engine.", AUTO)
    worst = 1.0 if draws.rhat is None else float(np.max(draws.rhat))
    apart = f"by about {np.sqrt(max(worst**2 - 1, 0)):.2g} posterior standard deviations"
    severity: Severity = "serious"
    if not worst <= RHAT_MOST:
        message = f"There is no answer: {reason}."
    elif worst > RHAT_SERIOUS:
        message = f"The chains have not converged: {reason}. Their means differ {apart}."
    elif worst > RHAT_LIMIT and np.min(draws.effective) >= FEWEST_EFFECTIVE:
        severity = "caution"
        message = f"The chains have almost converged: {reason}. Their means still differ {apart}."
    else:
        message = f"The draws have not converged: {reason}."
    return Finding("not-converged", severity, message, {"rhat": worst if np.isfinite(worst) else None}, advice)


def _learned_rows(counts: Counts, prior: Prior) -> list[int]:
    """Classes whose row of the confusion is learned and not known."""
    learned: list[int] = np.flatnonzero(np.isnan(prior.known_for(counts)[:, 0])).tolist()
    return learned


NEARLY_AS_HIGH = 3.0
"""Nats: a mode e³ times less likely, or less, is reported."""


def mode_findings(record: ModeRecord) -> tuple[Finding, ...]:
    """Say what a reader should know about a mode."""
    numbers = {"kkt_residual": record.kkt_residual, "iterations": record.iterations}
    ridge = Finding(
        "mode-not-unique",
        "caution",
        "The mode is not unique: other shares are just as likely as these, which were reached from even shares.",
        advice=Advice("{}, which shows how far they extend, or a prior that prefers some of them.", USE_POSTERIOR),
    )
    short = Finding(
        "not-converged",
        "serious",
        f"The optimizer did not converge in {record.iterations} steps.",
        numbers,
        Advice("{}, which needs no optimizer, or a stronger prior.", USE_POSTERIOR),
    )
    found = ((not record.is_unique, ridge), (not record.is_converged, short))
    return (*_rival(record), *(finding for applies, finding in found if applies))


def _rival(record: ModeRecord) -> tuple[Finding, ...]:
    if record.rival is None or record.rival_gap is None or record.rival_gap > NEARLY_AS_HIGH:
        return ()
    shares = ", ".join(f"{100 * share:.0f} %" for share in record.rival)
    other = Finding(
        "mode-has-rival",
        "caution",
        f"Shares far from these are nearly as likely: {shares}, in the order of the classes.",
        {"rival": record.rival.tolist(), "gap": record.rival_gap},
        Advice("{}, which weighs both.", USE_POSTERIOR),
    )
    return (other,)
