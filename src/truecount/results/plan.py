"""A plan: what to gather, how wide intervals will then be, and what else would help."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._advice import ASSURANCE, RANDOM_SAMPLE, Advice, Door, worded
from truecount._types import FloatArray, Name
from truecount._wording import visible
from truecount.models import ByPrediction, Model
from truecount.planning.goal import Costs, Goal
from truecount.planning.scenario import ANY, Scenario, Sizes
from truecount.planning.search import UNLIMITED
from truecount.planning.worth import Alternative, Curve
from truecount.results.summary import Table

SURE = 0.9
"""Share of data sets for which an upper end of the widths is reported."""

LEAST_SHOWN, TWO_DIGITS = 0.001, 0.995
"""Points below which a width is as good as none, and from which on it has one decimal."""

FEWER = "Fewer labels do if they are of random items of this population (an audit): {} reach the goal by themselves."
DRAWN_SO = "If those that there are were drawn so too, plan with {}."
USUAL_ASSURANCE = 0.8
"""Probability below which an assurance is advised."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClassForecast:
    """What is expected of one class's interval, in the group where it is widest.

    Parameters
    ----------
    width
        If the data come out as expected where the truth is assumed; else the mean over what the pilot leaves open.
    mean_width
        The mean over the data sets that may come.
    sure_width
        That 90 % of these data sets stay below.
    large_sample_width
        By the formula for large samples, which knows no prior and no edge.
    """

    name: Name
    width: float
    mean_width: float
    sure_width: float
    large_sample_width: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Basis:
    """What a plan was made from: what is assumed or was counted, the sampling design of the labels, and costs.

    Parameters
    ----------
    scenarios
        What is assumed, or a pilot, by group; one population has the key None.
    shares_labels
        Whether all groups have the same labels.
    model
        The sampling design of the labels.
    costs, seed
        Of a label and of an item; of what is simulated.
    """

    scenarios: Mapping[Any, Scenario]
    shares_labels: bool
    model: Model
    costs: Costs
    seed: int

    @property
    def first(self) -> Scenario:
        """Any of the scenarios: names are the same in all."""
        return next(iter(self.scenarios.values()))

    @property
    def labeled(self) -> FloatArray:
        """Shape (classes, outputs): labels of the pilot, those of all groups together."""
        each = [scenario.labeled for scenario in self.scenarios.values()]
        labeled: FloatArray = each[0] if self.shares_labels else np.sum(each, axis=0)
        return labeled

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the rates that are assumed, or the counts of the pilot; and costs."""
        label = self.costs.label
        costs = {"label": dict(label) if isinstance(label, Mapping) else label, "item": self.costs.item}
        if self.first.is_assumed:
            assumed = {"prevalence": self.first.prevalence[0].tolist(), "confusion": self.first.confusion[0].tolist()}
            return {"assumed": assumed, "pilot": None, "costs": costs}
        items = [{"group": group, "unlabeled": each.unlabeled.tolist()} for group, each in self.scenarios.items()]
        return {"assumed": None, "pilot": {"labeled": self.labeled.tolist(), "items": items}, "costs": costs}

    def table(self) -> Table:
        """Return the cells: the share and the outputs of each class, or how many of each were counted."""
        first, outputs = self.first, [visible(name) for name in self.first.outputs]
        names = [visible(name) for name in first.classes]
        if first.is_assumed:
            header = ["class", "share", *(f"output {name}" for name in outputs)]
            shares = np.column_stack([first.prevalence[0], first.confusion[0]])
            return Table(
                header, [[name, *map(_percent, row)] for name, row in zip(names, shares.tolist(), strict=True)], ()
            )
        rows = [[name, *_whole(row)] for name, row in zip(names, self.labeled, strict=True)]
        for group, each in self.scenarios.items():
            of = "" if len(self.scenarios) == 1 else f", {visible(str(group))}"
            rows.append([f"unlabelled{of}", *_whole(each.unlabeled)])
        return Table(["class", *(f"output {name}" for name in outputs)], rows, ())


def _whole(numbers: FloatArray) -> list[str]:
    return [f"{number:,.0f}" for number in numbers]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """What to gather, and what comes of it.

    Parameters
    ----------
    sizes
        What is to be gathered, beside what is counted already: labels of each stratum, and unlabelled items, of every
        group as many.
    strata
        What labels are counted by: classes, outputs, or nothing.
    cost
        What that costs.
    classes
        The forecast of each class.
    places
        Positions of the classes that matter for the goal.
    groups
        Width of the widest class that matters, by group; empty for one population.
    difference
        Mean width of the interval of the difference of two groups that are to be told apart; None without such a goal.
    goal, probability
        What was to be reached, and how probable it is that it is met; None without one.
    is_reached
        Whether the goal is reached by this plan; True without one.
    words
        What is not reached, what can be, and what would be needed.
    make_alternatives
        Computes what would change the width, which `alternatives` returns.
    make_curve
        Computes the width against cost, which `curve` returns; None where there is none.
    reading
        Shape (strata,): items to be read at random to find as many of each class; None where labels are not by class.
    readable
        Unlabelled items that there will be, those of a pilot among them.
    level, provenance
        Of the intervals; how it was made.
    basis
        What it was made from.
    """

    sizes: Sizes
    strata: tuple[Name, ...]
    cost: float
    classes: tuple[ClassForecast, ...]
    places: tuple[int, ...]
    groups: Mapping[Any, float]
    difference: float | None
    goal: Goal | None
    probability: float | None
    is_reached: bool
    words: tuple[str, ...]
    make_alternatives: Callable[[], tuple[Alternative, ...]]
    make_curve: Callable[[], Curve] | None
    reading: FloatArray | None
    readable: float
    level: float
    provenance: Mapping[str, Any]
    basis: Basis

    @property
    def width(self) -> float:
        """The width of the widest interval that matters."""
        return max([self.classes[place].width for place in self.places])

    @property
    def compared_width(self) -> float:
        """The width that alternatives are compared by: of the difference where groups are to be told apart."""
        return self.width if self.difference is None else self.difference

    @property
    def compared(self) -> str:
        """What that is the width of."""
        return "widest interval" if self.difference is None else "interval of the difference"

    @property
    def half_width(self) -> float:
        """Half of that."""
        return self.width / 2

    @property
    def has_groups(self) -> bool:
        """Whether there are several populations."""
        return len(self.groups) > 1

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """What would change the width; computed when it is asked for."""
        return self.make_alternatives()

    @property
    def curve(self) -> Curve | None:
        """Width against cost, for several ways to split it; computed when it is asked for."""
        return None if self.make_curve is None else self.make_curve()

    @property
    def labels(self) -> dict[Name, int]:
        """Labels to gather, by stratum."""
        return {name: round(float(number)) for name, number in zip(self.strata, self.sizes.labels, strict=True)}

    @property
    def items(self) -> int:
        """Unlabelled items to gather."""
        return round(self.sizes.items)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, schema ``truecount.plan/1``."""
        curve = self.curve
        goal = None if self.goal is None else {**_plain(self.goal), "probability": self.probability}
        return {
            "schema": "truecount.plan/1",
            "width": self.width,
            "half_width": self.half_width,
            "level": self.level,
            "allocation": self._allocation(),
            "cost": self.cost,
            "classes": [
                {
                    "class": each.name,
                    "width": each.width,
                    "mean_width": each.mean_width,
                    "width_of_90_percent": each.sure_width,
                    "large_sample_width": each.large_sample_width,
                }
                for each in self.classes
            ],
            "groups": [{"group": group, "width": width} for group, width in self.groups.items()],
            "difference": self.difference,
            "goal": goal,
            "is_reached": self.is_reached,
            "words": list(self.words),
            "alternatives": [
                {"what": each.what, "width": each.width, "detail": each.detail} for each in self.alternatives
            ],
            "reading": None if self.reading is None else self._reading(),
            "curve": None
            if curve is None
            else {
                "costs": curve.costs.tolist(),
                "widths": {name: found.tolist() for name, found in curve.splits.items()},
            },
            **self.basis.to_dict(),
            **self.provenance,
        }

    def _allocation(self) -> dict[str, Any]:
        if self.strata == ("negative", "positive"):
            return {"positives": self.labels["positive"], "negatives": self.labels["negative"], "items": self.items}
        return {"labels": {str(name): number for name, number in self.labels.items()}, "items": self.items}

    def _reading(self) -> dict[str, int | None]:
        numbers = zip(self.strata, self.reading if self.reading is not None else (), strict=True)
        return {str(name): None if np.isinf(number) else int(number) for name, number in numbers}

    def tables(self) -> list[Table]:
        """Return the cells: the forecast of each class, and what would change it."""
        share = f"{100 * self.level:.6g} % interval"
        header = ["class", share, "on average", f"{100 * SURE:.0f} % of data sets below"]
        shown = [self.classes[place] for place in self.places]
        rows = [
            [visible(each.name), points(each.width), points(each.mean_width), points(each.sure_width)] for each in shown
        ]
        tables = [Table(header, rows, (), headline=self.headline)]
        if self.has_groups:
            cells = [[visible(str(group)), points(width)] for group, width in self.groups.items()]
            if self.difference is not None and self.goal is not None:
                first, second = (visible(str(group)) for group in self.goal.groups or ())
                cells.append([f"difference of {first} and {second}", points(self.difference)])
            tables.append(Table(["group", "widest interval"], cells, ()))
        if self.alternatives:
            others = [[_said(each), points(each.width)] for each in self.alternatives]
            widest = [["this plan", points(self.compared_width)], *others]
            tables.append(Table(["alternative", self.compared], widest, ()))
        if (curve := self.curve) is not None:
            names = list(curve.splits)
            lines = [
                [f"{cost:,.0f}", *(points(float(curve.splits[name][place])) for name in names)]
                for place, cost in enumerate(curve.costs)
            ]
            tables.append(Table(["cost", *names], lines, ()))
        return tables

    @property
    def headline(self) -> str:
        """What to gather, in a sentence."""
        labels = [
            f"{number:,} labels" if name == ANY else f"{number:,} of {visible(str(name))}"
            for name, number in self.labels.items()
        ]
        if not self.sizes.vector.any():
            return "Nothing is gathered beyond what is there."
        if (self.sizes.labels >= UNLIMITED).all():
            return f"Gather {self.items:,} unlabelled items; rates are taken for known. Cost: {self.cost:,.6g}."
        by = "labels by output" if isinstance(self.basis.model, ByPrediction) else "labels"
        what = ", ".join(labels) if self.strata == (ANY,) else f"{by}: {', '.join(labels)}"
        each = " in every group" if self.has_groups else ""
        is_all = self.sizes.items >= UNLIMITED
        items = "as many unlabelled items as there are" if is_all else f"{self.items:,} unlabelled items"
        return f"Gather {what}; {items}{each}. Cost: {self.cost:,.6g}."

    def __str__(self) -> str:
        return self.text("python")

    def text(self, door: Door) -> str:
        """Return the tables and sentences, in the words of Python or of the command."""
        parts = ["\n".join(table.cell_lines()) for table in self.tables()]
        said = [worded(line, door) for line in self.sentences]
        return "\n\n".join([parts[0], *(["\n".join(said)] if said else []), *parts[1:]])

    __repr__ = __str__

    @property
    def sentences(self) -> list[str]:
        """What to say beside the tables: whether the goal is met, what is needed, how much is to be read."""
        said = list(self.words)
        if self.probability is not None:
            said.insert(0, self._met_in_words(self.probability))
        if self.reading is not None and np.nansum(self.reading) > 0:
            said.append(self._read_in_words())
        for each in self.alternatives:
            if each.what == "audit for the goal" and each.labels < self.sizes.labels.sum():
                is_pilot = not self.basis.first.is_assumed
                said.append(Advice(f"{FEWER} {DRAWN_SO}" if is_pilot else FEWER, each.detail, RANDOM_SAMPLE))
        return said

    def _met_in_words(self, probability: float) -> str:
        met = f"The goal is met with a probability of {100 * probability:.0f} %"
        is_average = self.goal is not None and self.goal.kind == "narrow" and self.goal.assurance is None
        if not (is_average and self.is_reached) or probability >= USUAL_ASSURANCE:
            return f"{met}."
        return Advice("{}: the width is met on average. To meet it more surely, {}.", met, ASSURANCE)

    def _read_in_words(self) -> str:
        reading = np.zeros(len(self.strata)) if self.reading is None else self.reading
        last = int(np.argmax(reading))
        name, most = visible(str(self.strata[last])), reading[last]
        if np.isinf(most):
            return f"Reading at random may never find so many of {name}."
        place = "all groups" if self.has_groups else "this population"
        more = f", more than the {self.readable:,.0f} that there will be: read new ones too"
        return (
            f"To find so many of each class by reading items of {place} at random, read {most:,.0f}"
            f"{more if most > self.readable else ''}; {name} takes longest (9 of 10 times that is enough)."
        )


def points(width: float) -> str:
    """Return a width as half of it in points.

    >>> points(0.0625), points(0.01995), points(0.000003)
    ('± 3.1 points', '± 1.0 points', 'under ± 0.001 points')
    """
    half = 100 * width / 2
    if half < LEAST_SHOWN:
        return f"under ± {LEAST_SHOWN:g} points"
    return f"± {half:.1f} points" if half >= TWO_DIGITS else f"± {half:#.2g} points"


def _said(each: Alternative) -> str:
    return {
        "unlimited items": "unlimited unlabelled items: the floor",
        "unlimited labels": f"unlimited labels: {each.detail} known",
        "audit": f"audit: {each.detail} labels of random items",
        "audit for the goal": f"audit for the goal: {each.detail} labels",
        "half the errors": "a classifier with half the errors",
        "finer cells": f"finer cells: {each.detail}",
    }[each.what]


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def goal_in_words(goal: Goal) -> str:
    """Return a goal as a phrase.

    >>> goal_in_words(Goal.above(0.5, of="pass"))
    'the interval of pass lies above 50 %, with a probability of 80 %'
    """
    of = "every class" if goal.of is None else visible(str(goal.of))
    sure = "on average" if goal.assurance is None else f"with a probability of {_percent(goal.assurance)}"
    if goal.kind == "narrow":
        return f"an interval of at most ± {100 * goal.share:g} points for {of}, {sure}"
    if goal.kind == "apart":
        first, second = (visible(str(group)) for group in goal.groups or ("", ""))
        return f"the interval of the difference of {first} and {second} in {of} leaves out zero, {sure}"
    return f"the interval of {of} lies {goal.kind} {_percent(goal.share)}, {sure}"


def _plain(goal: Goal) -> dict[str, Any]:
    return {
        "kind": goal.kind,
        "share": goal.share,
        "of": goal.of,
        "groups": None if goal.groups is None else list(goal.groups),
        "assurance": goal.assurance,
    }
