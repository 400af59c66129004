"""The verb of planning: what to gather, and how wide intervals will then be."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from truecount import _check
from truecount._advice import Action, Advice
from truecount._progress import watch
from truecount._types import FloatArray
from truecount._version import __version__
from truecount._wording import listed
from truecount.api.bayesian import chosen_model
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.models import LabelShift, Model
from truecount.models.register import require_plain_label_shift
from truecount.planning import normal
from truecount.planning.forecast import tells_nothing
from truecount.planning.goal import Costs, Goal, checked_budget
from truecount.planning.groups import Together, group_scenarios
from truecount.planning.pilot import pilot_scenario
from truecount.planning.problem import Forecasts, Problem
from truecount.planning.reading import items_to_read
from truecount.planning.scenario import Assumed, Scenario, Sizes, assumed_scenario
from truecount.planning.search import UNLIMITED, Choice, best_sizes, cheapest_sizes
from truecount.planning.worth import Alternative, Curve, alternatives, curve, indistinct, unlimited_widths
from truecount.results.plan import SURE, Basis, ClassForecast, Plan, points
from truecount.scores import Scores

NOTHING = "Nothing is labelled, so that the interval is the prior's alone, and tells nothing."
EQUAL = Costs()
"""A label costs as much as an item."""
CLOSE = 0.1
"""How near to what can be reached a plan comes where the goal itself cannot be."""
ANYTHING = Goal.narrow(0.25)
"""What is made small where no goal is given: the widest interval."""


def plan(
    data: "Assumed | Counts | Groups | Scores",
    model: Model = LabelShift(),
    *,
    goal: Goal | None = None,
    labels: Any = None,
    items: float | None = None,
    budget: float | None = None,
    costs: Costs = EQUAL,
    of: Any = None,
    level: float = 0.95,
    large_sample: bool = False,
    seed: int = 0,
) -> Plan:
    """Plan how many labels and items to gather, and forecast the intervals that come of it.

    Parameters
    ----------
    data
        A pilot, which is part of the data in the end, and whose posterior is averaged over; or what is `Assumed`.
    model
        The sampling design of the labels: they are counted by class under `LabelShift`, by output under
        `ByPrediction`, and together under `SamePopulation`.
    goal
        What to reach at the least cost: ``Goal.narrow(0.03)``, ``Goal.above(0.5, of="pass")``, ``Goal.below``, or
        ``Goal.apart("A", "B", of="pass")`` for two groups.
    labels
        Labels to gather, beside those of a pilot: a number for each stratum, as a mapping or in order; or one number
        for all, which is then divided as is best. None leaves them to be found, where there is a budget or a goal.
    items
        Unlabelled items to gather, beside those of a pilot, of every group as many; 0 where there are no more. None
        leaves them to be found by what they cost, where there is a budget or a goal; without either, and beside one
        number of labels, none are added to a pilot.
    budget
        What may be spent; it is divided as is best between what is left to be found.
    costs
        Of a label and of an item, also of items that are given; of an item that costs nothing as many as there are
        are gathered.
    of
        The class whose interval matters, where no goal names one; all by default, of which the widest matters.
    level
        Of the intervals.
    large_sample
        Plan by the formula for large samples, as sample-size calculators do: no prior, no edge, no simulation. Refused
        where error rates vary between validation studies, of which the formula knows nothing.
    seed
        Of what is simulated.

    Returns
    -------
    The plan, a table when printed; `to_dict` gives what ``--json`` writes.

    Notes
    -----
    Sizes are searched for by Fisher information, averaged over the posterior of the pilot; what is found is then
    simulated and inferred from, and the search corrected by that. Groups are inferred from as `infer` does it: pooled
    where there are three or more, or as the model says.

    Examples
    --------
    >>> test = Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98)
    >>> found = plan(test, labels={"positive": 120, "negative": 220}, items=660, level=0.9)
    >>> round(found.width, 2)
    0.06
    """
    level, seed = _check.level(level), _check.whole_number("seed", seed, least=0)
    chosen = chosen_model(model, None)
    _check.instance_of("costs", costs, Costs, "Pass Costs(label=..., item=...)")
    wanted = _wanted(goal, of)
    together = _together(data, chosen)
    _require_one_study(data, together, large_sample=large_sample, goal=goal, budget=budget)
    with watch(what="planning"):
        problem = Problem(
            scenarios=_scenarios(data, chosen, seed),
            goal=wanted,
            level=level,
            is_large_sample=bool(large_sample),
            seed=seed,
            together=together,
        )
        _require_groups(problem)
        prices = costs.vector(problem.first.strata)
        prices[-1] *= len(problem.scenarios)
        if isinstance(data, Groups) and not data.shares_labels:
            prices[:-1] *= len(problem.scenarios)
        if items is None and (goal is not None or budget is not None) and prices[-1] == 0:
            items = UNLIMITED
        elif items is None and goal is None and budget is None and not problem.first.is_assumed:
            items = 0
        choice, budget = _choice(problem.first, labels, items, budget, prices)
        sizes, words = _sizes(problem, choice, budget, has_goal=goal is not None)
        basis = Basis(
            scenarios=problem.scenarios,
            shares_labels=not isinstance(data, Groups) or data.shares_labels,
            model=problem.first.model,
            costs=costs,
            seed=seed,
        )
        asked = None if goal is None else wanted
        return _answer(problem, Choice(choice.fixed, prices), sizes, words, asked, data, basis)


def _wanted(goal: Goal | None, of: Any) -> Goal:
    """Return the goal, of the class that is asked for."""
    if goal is None:
        return replace(ANYTHING, of=of)
    _check.instance_of("goal", goal, Goal, "Pass Goal.narrow(0.03)")
    if of is not None and goal.of not in (None, of):
        raise InputError("of", f"is {of!r}", f"the goal is of {goal.of!r}", "Leave one of them out")
    return goal if of is None else replace(goal, of=of)


def _scenarios(data: Any, model: Model, seed: int) -> dict[Any, Scenario]:
    require_plain_label_shift(model, "a plan")
    if isinstance(data, Assumed):
        return {None: assumed_scenario(data, model)}
    if isinstance(data, Groups):
        if not isinstance(model, LabelShift):
            needed = "groups are planned under label shift"
            raise InputError("model", f"is {model!r:.60}", needed, "Plan each group by itself")
        return group_scenarios(data, model, seed)
    counts = data.to_counts() if isinstance(data, Scores) else data
    _check.instance_of("data", counts, Counts, "Pass Counts, Groups, Scores, or Assumed(...) where there is no pilot")
    return {None: pilot_scenario(counts, model, seed)}


def _together(data: Any, model: Model) -> Together | None:
    """Return how groups are inferred together; None for one population."""
    if not isinstance(data, Groups) or not isinstance(model, LabelShift):
        return None
    return Together.of(data, model)


def _require_one_study(data: Any, together: Together | None, **asked: Any) -> None:
    """Refuse what is worked out by the formula for large samples where error rates vary between studies."""
    argument = next((name for name, value in asked.items() if value not in (None, False)), None)
    if argument is None or together is None or together.studies is None:
        return
    varying = f"error rates vary between {_studies_in_words(data)}"
    needed = (
        "the formula for large samples, by which sizes are searched, takes the labels of all studies for those of one "
        "and would promise too much"
    )
    sizes = " ".join(f"--labels {name}=100" for name in data.classes)
    remedy = Advice(
        "Forecast sizes of your choice instead, and compare several: {}",
        Action(f"labels={dict.fromkeys(data.classes, 100)!r}, items=0", f"{sizes} --items 0"),
    )
    raise InputError(argument, f"is given, and {varying}", needed, remedy)


def _studies_in_words(groups: Groups) -> str:
    """Say how many studies have labels, and of what where each has labels of some classes only.

    >>> labels = {"a": [[9, 1], [0, 0]], "b": [[8, 2], [0, 0]], "c": [[0, 0], [3, 7]]}
    >>> _studies_in_words(Groups(labels, {"survey": [5, 5]}, ["negative", "positive"]))
    '3 validation studies (2 studies of specificity and 1 of sensitivity)'
    """
    number = groups.labeled.any(axis=2).sum(axis=0)
    every = f"{len(groups.labeled)} validation studies"
    if (number == len(groups.labeled)).all():  # each study has labels of all classes
        return every
    of_test = {"negative": "specificity", "positive": "sensitivity"}
    names = [of_test[str(name)] if set(groups.classes) == set(of_test) else name for name in groups.classes]
    first, *others = (f"{each} of {name}" for each, name in zip(number, names, strict=True))
    kind = "study" if number[0] == 1 else "studies"
    return f"{every} ({listed([first.replace(' ', f' {kind} ', 1), *others])})"


def _require_groups(problem: Problem) -> None:
    """Refuse to tell groups apart that are not there."""
    for group in problem.goal.groups or ():
        if group not in problem.scenarios:
            known = [key for key in problem.scenarios if key is not None]
            needed = f"the groups are {listed(known)}" if known else "the data are one population"
            raise InputError("goal", f"names the group {group!r}", needed, "Pass Groups, and name two of them")
    problem.goal.places(problem.first.classes)


def _choice(
    scenario: Scenario, labels: Any, items: float | None, budget: float | None, prices: FloatArray
) -> tuple[Choice, float | None]:
    """Return which sizes are given and which are to be found, and what may be spent on these."""
    fixed = np.full(len(scenario.strata) + 1, np.nan)
    if items is not None:
        fixed[-1] = _size("items", items)
    if labels is None:
        return Choice(fixed, prices), None if budget is None else checked_budget(budget)
    if isinstance(labels, int | float | np.number) and len(scenario.strata) > 1 and np.isfinite(labels):
        if budget is not None:
            raise InputError("labels", "is one number, and there is a budget", "one of them decides", "Leave one out")
        if items is None and not scenario.is_assumed:
            fixed[-1] = 0.0
        if np.isnan(fixed[-1]):
            needed = "the number of items must be given beside the number of labels"
            raise InputError("items", "is None", needed, "Pass items=..., or a budget for both")
        return Choice(fixed, np.append(np.ones(len(scenario.strata)), 0.0)), _size("labels", labels)
    fixed[:-1] = _given_labels(labels, scenario)
    return Choice(fixed, prices), None if budget is None else checked_budget(budget)


def _given_labels(labels: Any, scenario: Scenario) -> FloatArray:
    """Return labels of each stratum; some may be None in a mapping, and are to be found."""
    strata = scenario.strata
    if isinstance(labels, Mapping):
        unknown = [name for name in labels if name not in strata]
        if unknown:
            needed = f"labels are counted by {', '.join(map(repr, strata))}"
            raise InputError("labels", f"names {unknown[0]!r}", needed, "Name some of these")
        labels = [labels.get(name) for name in strata]
    numbers = [labels] * len(strata) if np.ndim(labels) == 0 else list(labels)
    if len(numbers) != len(strata):
        needed = f"it must have one for each of {', '.join(map(repr, strata))}"
        raise InputError("labels", f"has {len(numbers)} numbers", needed, "Pass a mapping by name")
    return np.array([np.nan if number is None else _size("labels", number) for number in numbers])


def _size(argument: str, number: Any) -> float:
    """Return a size; infinitely many are as many as make no difference."""
    if isinstance(number, bool) or not isinstance(number, int | float | np.number) or not number >= 0:
        raise InputError(argument, f"is {number!r:.60}", "it must be a number, 0 or more", "Write 100")
    return float(min(number, UNLIMITED))


def _sizes(problem: Problem, choice: Choice, budget: float | None, *, has_goal: bool) -> tuple[Sizes, list[str]]:
    """Return what to gather, and in words what cannot be had."""
    if budget is not None:
        if choice.sunk > budget + 1e-9:
            found = f"is {budget:,.6g}"
            raise InputError("budget", found, f"the sizes given cost {choice.sunk:,.6g} already", "Raise it")
        return best_sizes(problem.loss, choice, budget), []
    if not choice.is_free.any():
        return Sizes.of(choice.fixed), []
    if not has_goal:
        if problem.first.is_assumed:
            needed = "without them a budget or a goal says how many"
            raise InputError("labels", "or items are left open", needed, "Pass budget=1000, or goal=Goal.narrow(0.03)")
        return Sizes.of(np.nan_to_num(choice.fixed, nan=0.0)), []
    cheapest = problem.cheapest(choice)
    return (cheapest, []) if cheapest is not None else _nearest(problem, choice)


def _nearest(problem: Problem, choice: Choice) -> tuple[Sizes, list[str]]:
    """Return sizes that come near to what can be reached, and say why no more can be."""
    limit = problem.loss(choice.limit())
    near = cheapest_sizes(problem.loss, choice, limit + CLOSE * min(limit, 1 - limit))
    sizes = Sizes.of(np.nan_to_num(choice.fixed, nan=0.0)) if near is None else near
    if problem.goal.kind != "narrow":
        most = 100 * (1 - limit)
        told = (
            f"Not reachable: with any number of {_open(choice)} the goal is met with a probability of at most "
            f"{most:.0f} %, by what is known now."
        )
        return sizes, [told, *_needed(problem, choice)]
    least = points(min(limit * _ratio(problem, problem.forecasts(sizes), sizes), 1.0))
    found = [f"Not reachable: no number of {_open(choice)} gets below {least}; this plan comes near to that."]
    return sizes, [*found, *_needed(problem, choice)]


def _needed(problem: Problem, choice: Choice) -> list[str]:
    """Say what would reach the goal, if anything can be chosen."""
    everything = Choice(np.full_like(choice.fixed, np.nan), choice.costs)
    enough, scenario = problem.cheapest(everything), problem.first
    alike = indistinct(scenario)
    if enough is None and problem.goal.kind != "narrow":
        return ["More data do not help. Ask for a lower assurance, or for a threshold further off."]
    if enough is None:
        classes = listed(alike or [str(name) for name in scenario.classes])
        return [
            f"The outputs do not tell {classes} apart well enough, so that labels and items do not help. Needed: a "
            "classifier whose outputs differ between them, or labels of the population itself (an audit)."
        ]
    named = [f"{number:,.0f} of {name}" for name, number in zip(scenario.strata, enough.labels, strict=True)]
    there = "" if scenario.is_assumed else " beside what is there"
    where = " in every group" if len(problem.scenarios) > 1 else ""
    return [
        f"Needed{there}: about these labels: {', '.join(named)}; and {enough.items:,.0f} unlabelled items{where}, at a "
        f"cost of {choice.costs @ enough.vector:,.0f}."
    ]


def _open(choice: Choice) -> str:
    labels, items = bool(choice.is_free[:-1].any()), bool(choice.is_free[-1])
    return "labels and unlabelled items" if labels and items else "labels" if labels else "unlabelled items"


def _answer(
    problem: Problem, choice: Choice, sizes: Sizes, words: list[str], goal: Goal | None, data: Any, basis: Basis
) -> Plan:
    forecasts, scenario = problem.forecasts(sizes), problem.first
    probability = None if goal is None else problem.probability(forecasts, sizes)
    is_reached = not words
    if goal is not None and is_reached:
        found, target = problem.reached(forecasts, sizes)
        is_reached = found <= 1.03 * target if goal.kind == "narrow" else found <= target + 0.03
        words = [] if is_reached else [_missed(problem, found), *_needed(problem, choice)]
    is_told, has_labels = not tells_nothing(scenario, sizes), bool(sizes.labels.sum() + scenario.labeled.sum())
    if not is_told and goal is None:
        tenth = replace(problem, goal=Goal.narrow(0.1, of=problem.goal.of))
        words = [NOTHING, *(f"For ± 10 points: {line[0].lower()}{line[1:]}" for line in _needed(tenth, choice))]
    ratio = _ratio(problem, forecasts, sizes)
    is_simulated = is_told and not problem.is_large_sample
    is_of_studies = problem.together is not None and problem.together.studies is not None  # no formula holds for these
    widest = max(float(found.width[problem.places].max()) for found in forecasts.values())

    def others() -> tuple[Alternative, ...]:
        with watch(what="planning"):
            has_formula = is_simulated and not is_of_studies
            told = alternatives(problem, sizes, ratio, has_goal=goal is not None) if has_formula else []
            return (*told, *_finer_cells(data, sizes, widest))

    def against_cost() -> Curve:
        with watch(what="planning"):
            return curve(problem, choice, sizes, ratio)

    is_by_class = isinstance(scenario.model, LabelShift)
    return Plan(
        sizes=sizes,
        strata=scenario.strata,
        cost=float(choice.costs @ np.where(sizes.vector < UNLIMITED, sizes.vector, 0.0)),
        classes=_classes(problem, forecasts, sizes),
        places=tuple(problem.places),
        groups={
            group: float(found.width[problem.places].max())
            for group, found in forecasts.each.items()
            if group is not None
        },
        difference=None if forecasts.difference is None else problem.simulated_width(forecasts),
        goal=goal,
        probability=probability,
        is_reached=is_reached,
        words=tuple(words),
        make_alternatives=cache(others),
        make_curve=cache(against_cost) if is_simulated and has_labels and not is_of_studies else None,
        reading=_reading(problem, sizes) if is_by_class else None,
        readable=sum(each.counted_items + sizes.items for each in problem.scenarios.values()),
        level=problem.level,
        provenance={
            "model": scenario.model.to_dict(),
            "truth": "assumed" if scenario.is_assumed else "pilot",
            "large_sample": problem.is_large_sample,
            "seed": problem.seed,
            "version": __version__,
        },
        basis=basis,
    )


def _missed(problem: Problem, found: float) -> str:
    """Say by how much given sizes miss the goal."""
    if problem.goal.kind == "narrow":
        return f"Not reached: these sizes give {points(found)}, and ± {100 * problem.goal.share:g} were asked for."
    return f"Not reached: these sizes meet the goal with a probability of {100 * (1 - found):.0f} %."


def _ratio(problem: Problem, forecasts: Forecasts, sizes: Sizes) -> float:
    """Return by how much the simulated width differs from the one by Fisher information."""
    return problem.simulated_width(forecasts) / max(problem.width(sizes), 1e-12)


def _classes(problem: Problem, forecasts: Forecasts, sizes: Sizes) -> tuple[ClassForecast, ...]:
    widths = np.array([found.width for found in forecasts.values()])
    widest = widths.argmax(axis=0)
    each, scenarios = list(forecasts.values()), list(problem.scenarios.values())
    large = [normal.large_sample_widths(scenario, sizes, problem.level).mean(axis=0) for scenario in scenarios]
    return tuple(
        ClassForecast(
            name=name,
            width=float(widths[group, place]),
            mean_width=float(each[group].mean[place]),
            sure_width=float(np.quantile(each[group].widths[:, place], SURE)),
            large_sample_width=float(large[group][place]),
        )
        for place, (name, group) in enumerate(zip(problem.first.classes, widest, strict=True))
    )


def _reading(problem: Problem, sizes: Sizes) -> FloatArray:
    shares = np.mean([scenario.prevalence[:512] for scenario in problem.scenarios.values()], axis=0)
    return items_to_read(np.where(sizes.labels < UNLIMITED, sizes.labels, 0.0), shares)


def _finer_cells(data: Any, sizes: Sizes, width: float) -> list[Alternative]:
    """Return what finer cells of scores would be worth, by how they compare with the most probable class."""
    if not isinstance(data, Scores):
        return []
    from truecount.api.cells import choose_partition

    names = [data.classes[code] for code in data.labels]
    total = len(names) + round(float(sizes.labels.sum()))
    items = max(len(data.unlabeled) + round(sizes.items), 1)
    found = choose_partition(data.labeled, names, classes=data.classes, labeled=total, unlabeled=items)
    best, plain = found.candidates[found.chosen], found.candidates[0]
    gain = float(best.widths[1].mean() / plain.widths[1].mean())
    return [Alternative("finer cells", width * min(gain, 1.0), repr(best.partition))]


def floor(data: "Assumed | Counts", model: Model = LabelShift(), *, level: float = 0.95, seed: int = 0) -> FloatArray:
    """Return the width of each class's interval that no number of labels and items gets under, shape (classes,)."""
    return unlimited_widths(next(iter(_scenarios(data, model, seed).values())), _check.level(level))
