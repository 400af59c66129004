"""What to know of an answer for many groups."""

import numpy as np

from truecount._advice import Action, Advice
from truecount._chi_square import chi_square_quantile
from truecount._wording import called, listed, listed_classes, percent
from truecount.counts.design_effect import DesignEffect
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups, group_design_effects, own_design_effects
from truecount.diagnostics.classifiers import dependence_finding, independence_test
from truecount.diagnostics.clusters import clustered
from truecount.diagnostics.findings import MOST_UNSEEN, cautions
from truecount.diagnostics.homogeneity import labels_differ
from truecount.diagnostics.identify import indistinct_in_groups, names_alike
from truecount.diagnostics.own_labels import own_labels_finding
from truecount.diagnostics.shift import CHEAP_LEVEL, MOST_TIMES, Tables, best_fit, closest_mix, most_surprising
from truecount.inference import convergence
from truecount.inference.convergence import interval_end_error
from truecount.inference.group_draws import GroupDraws
from truecount.models import Independent, LabelShift, Varying, density
from truecount.models.groups import effective_sides
from truecount.reading.names import group_name
from truecount.results.finding import Finding, Severity, gravest_first
from truecount.results.groups.borrowing import borrowed_shares

MOVED, MOVED_FAR = 0.05, 0.003
"""Probabilities that groups move some rate of the confusion as far from what the labels say, at most, if both agree."""
FEW_GROUPS = 5
"""Below so many the prior of the spread influences the answer."""
VERY_FEW_STUDIES = 3
"""Up to so many the prior decides how wide the answer is."""
WITHOUT_BORROWING = Action(
    "another spread=, or with Independent()",
    "--independent",
    "estimate",
    page="an answer in which no group borrows from the others",
)
MORE_STUDIES = Action(
    "See with spread_sensitivity(answer) how much that matters, and label",
    "See on the page of --html FILE how much that matters, and label",
    "estimate",
    page="Label",
)
LOOKED_AT = 20
"""Groups, the largest, that are asked which classes are traded for one another."""
ROUGH, USUAL_LEVEL = 0.05, 0.95
"""Monte Carlo standard error of an interval's end, over the width of the interval, from which on it is told."""
MOST_VALUES = 400
"""Shares of groups whose intervals are looked at."""
MORE_DRAWS = Action("Auto(effective_draws=20000)", "--draws 20000", page="more draws")
MOSTLY = 0.5
"""How much a group borrows from which on that is said."""


def group_findings(groups: Groups, model: LabelShift, draws: GroupDraws) -> tuple[Finding, ...]:
    """Return what to know before relying on the answer, the gravest first."""
    return gravest_first(
        [
            _not_converged(groups, draws),
            _labels_outweighed(groups, model, draws),
            _misfit(groups, model),
            None if isinstance(model.confusion, Varying) else labels_differ(groups, model.prior),
            *_of_all_labels(groups, model, draws),
            names_alike(groups=[group_name(group) for group in groups.groups]),
            clustered(
                groups,
                *group_design_effects(groups),
                worth=effective_sides(groups, model.confusion),
                classes=_own_effects(groups, model),
            ),
            _unseen_output(groups, model),
            own_labels_finding(groups, model),
            _few_groups(groups, draws),
            _one_group(groups, model),
            _mostly_borrowed(groups, model, draws),
            _few_studies(groups, model),
            _empty_groups(groups, model),
            _rough_ends(groups, draws),
        ]
    )


def _own_effects(groups: Groups, model: LabelShift) -> list[DesignEffect]:
    """Return the design effect of the classes of each group's labels, where they tell its shares."""
    is_random = isinstance(model.confusion, Varying) and model.confusion.random_labels
    own = set(groups.studies or ()) if is_random else set()
    every = zip(groups.groups, own_design_effects(groups), strict=True)
    return [each for name, each in every if name in own]


def independent_group_findings(groups: Groups, model: LabelShift, draws: GroupDraws) -> tuple[Finding, ...]:
    """Return the same where several classifiers are taken for independent, which labels test."""
    return gravest_first(
        [
            _not_converged(groups, draws),
            *_of_total(groups, model),
            dependence_finding(independence_test(groups.total), is_assumed=True),
            clustered(groups, *group_design_effects(groups), worth=effective_groups(groups)),
            _few_groups(groups, draws),
            _one_group(groups, model),
            _mostly_borrowed(groups, model, draws),
            _empty_groups(groups, model),
        ]
    )


def _not_converged(groups: Groups, draws: GroupDraws) -> Finding | None:
    """Find what has not converged, and name it."""
    every = draws.convergence()
    failed = [
        each
        for each in every
        if not (each.rhat <= convergence.RHAT_LIMIT and each.effective >= convergence.FEWEST_EFFECTIVE)
    ]
    if not failed:
        return None
    rhat, effective = max(each.rhat for each in failed), min(each.effective for each in failed)
    is_mild = rhat <= convergence.RHAT_SERIOUS and effective >= convergence.FEWEST_EFFECTIVE
    severity: Severity = "caution" if is_mild else "serious"
    return Finding(
        "not-converged",
        severity,
        f"The chains of the {len(groups)} groups have not converged for the {listed([each.name for each in failed])}: "
        f"R-hat is {rhat:.3f} (wanted at most {convergence.RHAT_LIMIT}), the least effective sample size "
        f"{effective:.0f} (wanted at least {convergence.FEWEST_EFFECTIVE}).",
        {
            "rhat": rhat,
            "effective_draws": effective,
            "quantities": {each.name: {"rhat": each.rhat, "effective_draws": each.effective} for each in every},
        },
        "Draw again with another seed; if that does not help, label more items, or merge small groups.",
    )


def _labels_outweighed(groups: Groups, model: LabelShift, draws: GroupDraws) -> Finding | None:
    """Find the rate of the one confusion that the groups moved furthest from what its labels say."""
    from scipy.special import betainc

    if isinstance(model.confusion, Varying):
        return None
    whole, prior = groups.total, model.prior
    rows = prior.confusion_for(whole) + effective_groups(groups)[0].sum(axis=0)
    size = rows.sum(axis=1, keepdims=True)
    said = rows / size
    sd = np.sqrt(said * (1 - said) / (size + 1))
    found = draws.confusion.mean(axis=0)
    is_learned = np.isnan(prior.known_for(whole))
    below = betainc(rows, size - rows, found)
    by_chance = np.where(is_learned, 2 * np.minimum(below, 1 - below), 1.0) * max(int(is_learned[:, 1:].sum()), 1)
    row, column = np.unravel_index(by_chance.argmin(), by_chance.shape)
    if by_chance[row, column] > MOVED:
        return None
    name, output = called(groups.classes[row]), str(groups.outputs[column])
    return Finding(
        "labels-outweighed",
        "serious" if by_chance[row, column] <= MOVED_FAR else "caution",
        f"By its labels and their prior, {name} gets the output {output} {percent(said[row, column])} of the time; by "
        f"the {len(groups)} groups taken together, {percent(found[row, column])}. Either the classifier treats the "
        "groups differently from the labelled items, or the labels are few.",
        {
            "class": groups.classes[row],
            "output": groups.outputs[column],
            "by_labels": float(said[row, column]),
            "by_all": float(found[row, column]),
            "standard_deviations": float(abs(found - said)[row, column] / sd[row, column]),
            "groups": len(groups),
        },
        f"Label more items of {name}, some in each group.",
    )


def _misfit(groups: Groups, model: LabelShift) -> Finding | None:
    """Find groups whose outputs no mix of the labelled rows explains, each with its share of the false alarms."""
    if isinstance(model.confusion, Varying) or len(groups.outputs) < 2 or not groups.unlabeled.any():
        return None
    labels, items = effective_groups(groups)
    known = model.prior.known_for(groups.total)
    labeled = np.where(np.isnan(known), labels.sum(axis=0), 0.0)
    most = MOST_TIMES * max(labeled.sum(), 1.0) if np.isnan(known).any() else np.inf
    with_items = np.flatnonzero(items.sum(axis=1) > 0)
    items = items[with_items]
    items = items * np.minimum(1.0, most / items.sum(axis=1, keepdims=True))
    tables = Tables(labeled=np.broadcast_to(labeled, (len(items), *labeled.shape)), unlabeled=items, known=known)
    bound = chi_square_quantile(len(groups.outputs) - 1, 1 - CHEAP_LEVEL / len(items))
    deviance = best_fit(tables, enough=bound).deviance
    found = np.flatnonzero(deviance > bound)
    if not len(found):
        return None
    worst = int(deviance.argmax())
    seen, expected = items[worst] / items[worst].sum(), closest_mix(tables.take([worst]))
    output = most_surprising(seen, expected)
    names = [group_name(groups.groups[with_items[at]]) for at in found]
    there = group_name(groups.groups[with_items[worst]])
    return Finding(
        "label-shift-violated",
        "serious",
        f"No mix of the classes explains the outputs of {listed(names)}: in {there} {percent(seen[output])} of the "
        f"items have the output {groups.outputs[output]!s:.60}, where the nearest mix of what was labelled has "
        f"{percent(expected[output])}.",
        {"groups": names, "deviance": deviance[found].tolist(), "bound": bound},
        "The classifier seems to treat some class differently there: label some items of these groups.",
    )


OF_ALL_GROUPS = (
    "no-unlabeled",
    "names-alike",
    "weighted-counts",
    "unlabeled-class",
    "outputs-no-class",
    "labels-by-output",
)
"""Findings about one table that hold of all groups together."""


def _of_total(groups: Groups, model: LabelShift) -> list[Finding]:
    found = cautions(groups.total, model.prior, worth=effective_sides(groups, model.confusion))
    return [each for each in found if each.code in OF_ALL_GROUPS]


def _of_all_labels(groups: Groups, model: LabelShift, draws: GroupDraws) -> list[Finding]:
    """Find what the labelled items of all groups together cannot tell."""
    whole = groups.total
    found = _of_total(groups, model)
    if not whole.unlabeled.any() or not whole.labeled.any():
        return found
    largest = np.argsort(-groups.unlabeled.sum(axis=1), kind="stable")[:LOOKED_AT]
    shares = draws.prevalence[:, largest]
    return [*found, *indistinct_in_groups(whole, density(whole, model.prior.fixed), shares)]


def _unseen_output(groups: Groups, model: LabelShift) -> Finding | None:
    """Find outputs that no labelled item has; without labels, a prior that needs none explains all of them."""
    if not groups.labeled.sum() and not model.prior.needs_labels(groups.total):
        return None
    has_known_rate = (np.nan_to_num(model.prior.known_for(groups.total)) > 0).any(axis=0)
    unseen = (groups.labeled.sum(axis=(0, 1)) == 0) & ~has_known_rate
    items = groups.unlabeled[:, unseen].sum()
    if not items:
        return None
    names = [str(name) for name, is_unseen in zip(groups.outputs, unseen, strict=True) if is_unseen]
    share = float(items / groups.unlabeled.sum())
    return Finding(
        "unseen-output",
        "serious" if share > MOST_UNSEEN else "caution",
        f"{percent(share)} of the unlabelled items have the output {listed(names)}, which no labelled item has.",
        {"share": share, "outputs": names},
        "Label some items with that output.",
    )


def _few_groups(groups: Groups, draws: GroupDraws) -> Finding | None:
    if not draws.spread.shape[1] or len(groups) >= FEW_GROUPS:
        return None
    return Finding(
        "few-groups",
        "info",
        f"{len(groups)} groups are too few to tell how much groups differ: how far each is drawn towards the others "
        "depends on the prior of their standard deviation.",
        {"groups": len(groups)},
        Advice("Compare with {}.", WITHOUT_BORROWING),
    )


def _one_group(groups: Groups, model: LabelShift) -> Finding | None:
    """Find one group by itself, unless it is there for the sake of studies that vary."""
    if len(groups) > 1 or isinstance(model.confusion, Varying):
        return None
    return Finding(
        "one-group",
        "info",
        f"There is one group only, {group_name(groups.groups[0])}: it has nothing to be compared with, or to borrow "
        "from.",
        {"groups": 1},
        "Group by another column, or leave the groups out.",
    )


def _mostly_borrowed(groups: Groups, model: LabelShift, draws: GroupDraws) -> Finding | None:
    """Find groups with items of which the others say more than they do themselves."""
    if isinstance(model.groups, Independent) or len(groups) < 2:
        return None
    borrowed = borrowed_shares(groups, model, draws)
    found = np.flatnonzero((borrowed > MOSTLY) & (groups.unlabeled.sum(axis=1) > 0))
    if not len(found):
        return None
    names = [group_name(groups.groups[at]) for at in found]
    return Finding(
        "mostly-borrowed",
        "info",
        f"More is known of {listed(names)} from the other groups than from their own items: the answer says where such "
        "groups mostly lie, and a group that is unlike the others would not show.",
        {"groups": names, "borrowed": [float(borrowed[at]) for at in found]},
        "Collect more items there, or read the estimate of each group on its own beside it.",
    )


def _few_studies(groups: Groups, model: LabelShift) -> Finding | None:
    is_learned = np.isnan(model.prior.known_for(groups.total)[:, 0])
    if not isinstance(model.confusion, Varying) or not is_learned.any():
        return None
    of_class = np.where(is_learned, (groups.labeled.sum(axis=2) > 0).sum(axis=0), FEW_GROUPS)
    studies = int(of_class.min())
    if studies >= FEW_GROUPS:
        return None
    names = [name for name, number in zip(groups.classes, of_class, strict=True) if number == studies]
    number = {0: "no study", 1: "one study"}.get(studies, f"{studies} studies") + (" each" if len(names) > 1 else "")
    return Finding(
        "few-studies",
        "info" if studies > VERY_FEW_STUDIES else "caution",
        f"Labels of {listed_classes(names)} come from {number}. That is too few to tell how much the classifier's "
        "error rates differ from study to study, so the width of the interval depends on the prior of these "
        f"differences (standard deviation on the log-odds scale; the prior's scale is {model.confusion.spread:g}).",
        {"studies": studies, "spread": model.confusion.spread},
        Advice("{} items of more studies or groups.", MORE_STUDIES),
    )


def _empty_groups(groups: Groups, model: LabelShift) -> Finding | None:
    empty = np.flatnonzero(groups.unlabeled.sum(axis=1) == 0)
    if not len(empty):
        return None
    names = [group_name(groups.groups[at]) for at in empty]
    source = "the prior" if isinstance(model.groups, Independent) else "a prediction from the other groups"
    return Finding(
        "group-without-items",
        "info",
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} no unlabelled items: the answer is {source}.",
        {"groups": names},
        "Leave out what is not meant to be predicted.",
    )


def _rough_ends(groups: Groups, draws: GroupDraws) -> Finding | None:
    """Find an interval with so heavy a tail that its ends would move with another seed."""
    shares = draws.prevalence[:, :, 1:] if len(groups.classes) == 2 else draws.prevalence
    flat = shares.reshape(len(shares), -1)
    if not flat.shape[1] or flat.shape[1] > MOST_VALUES:
        return None
    error = interval_end_error(flat, draws.chains, USUAL_LEVEL)
    width = np.ptp(np.quantile(flat, [(1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2], axis=0), axis=0)
    relative = np.divide(error.max(axis=1), width, out=np.zeros_like(width), where=width > 0)
    worst = int(relative.argmax())
    if not relative[worst] > ROUGH:
        return None
    name = groups.classes[1] if len(groups.classes) == 2 else groups.classes[worst % len(groups.classes)]
    who = group_name(groups.groups[worst // shares.shape[2]])
    points = 100 * error[worst].max()
    return Finding(
        "ends-rough",
        "info",
        f"The {100 * USUAL_LEVEL:g} % interval of {called(name)} in {who} has a heavy tail: with another seed one of "
        f"its ends would move by {points:.2g} points or so.",
        {"group": who, "class": name, "standard_error": float(error[worst].max()), "width": float(width[worst])},
        Advice("Do not read more into its digits, or use {}.", MORE_DRAWS),
    )
