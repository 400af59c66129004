"""The numbers of an answer for many groups: tables, JSON, CSV, pages and pictures are made from them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, percent, signed
from truecount.counts.periods import time_place
from truecount.counts.weights import effective_groups
from truecount.errors import InputError
from truecount.models import Independent, LabelShift, Pooled, Walk
from truecount.reading.names import group_name
from truecount.results.by_class import unknown_class
from truecount.results.claim import is_improbable, refuted
from truecount.results.export.provenance import Origin
from truecount.results.finding import Finding
from truecount.results.groups.alerts import MOST_FALSE, WINDOW, Alert, change_p_value
from truecount.results.groups.contrast import group_weights, ranks_of, ratio_of
from truecount.results.summary import Kind, Target, in_parts, interval_name, interval_of, sd_of

if TYPE_CHECKING:
    from truecount.results.groups.posterior import GroupPosterior

MOST_PAIRED = 6
"""Groups of which all pairs are compared without being asked for."""
MOST_PAIRS = 50_000
MOST_RANKED = 400
"""Groups of which the probability of every rank is kept."""

VARIATIONS: dict[Any, str] = {
    Pooled: "pooled around a common centre",
    Walk: "following a walk in time",
    Independent: "independent of each other",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What is asked of an answer for many groups, beside the shares of every class.

    Parameters
    ----------
    of
        The class of interest; by default the second of two, and of more the one whose share differs most.
    pairs
        Pairs of groups to compare, or ``"all"``. By default all where there are few groups and no baseline.
    baseline
        A group that all others are compared with.
    above, below
        Claims: shares that classes are said to lie above or below, in every group.
    """

    of: Name | None = None
    pairs: tuple[tuple[Any, Any], ...] | Literal["all"] | None = None
    baseline: Any = None
    above: Mapping[Name, float] = field(default_factory=dict)
    below: Mapping[Name, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.pairs is None or self.pairs == "all":
            if self.pairs == "all" and self.baseline is not None:
                needed = "all pairs hold those with the baseline"
                raise InputError("pairs", "are all, beside a baseline", needed, "Leave one of them out")
            return
        is_list = not isinstance(self.pairs, str) and isinstance(self.pairs, Collection)
        pairs = [tuple(pair) if isinstance(pair, (tuple, list)) else () for pair in self.pairs] if is_list else [()]
        if not all(len(pair) == 2 for pair in pairs):
            needed = "it must be pairs of groups, such as [('A', 'B')], or 'all'"
            raise InputError("pairs", f"is {self.pairs!r:.60}", needed, "Write it so")
        object.__setattr__(self, "pairs", tuple(pairs))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairSummary:
    """How the first of two groups compares with the second; arrays have shape (classes,), of intervals (classes, 2).

    `difference` is the first minus the second, `ratio` the median of the first over the second, which is infinite
    where the second share is zero, `larger` the probability that the first share is larger.
    """

    first: Any
    second: Any
    difference: FloatArray
    interval: FloatArray
    ratio: FloatArray
    ratio_interval: FloatArray
    larger: FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankSummary:
    """Ranks of the groups by the share of the class of interest; rank 1 is the largest. Shapes (groups,).

    `interval` has shape (groups, 2), `probability` of each rank (groups, ranks), or is None for very many groups.
    """

    mean: FloatArray
    interval: IntArray
    largest: FloatArray
    smallest: FloatArray
    probability: FloatArray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A share that a class is said to lie above or below, and how probable that is in each group, shape (groups,)."""

    name: Name
    side: Literal["above", "below"]
    threshold: float
    probability: FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupSummary:
    """What an answer says of each class in each group, in numbers; arrays have shape (groups, classes).

    Parameters
    ----------
    groups, by, times, classes
        Names, the columns that groups are made by, and when each group was, if groups have times.
    of
        The class of interest.
    level, kind, target
        Of the intervals.
    status
        ``"ok"``, ``"not-converged"`` or ``"no-answer"``.
    items
        Shape (groups,): how many unlabelled items there are.
    counted
        Shares by plain counting, of all items, abstentions too; None where a class is no output, NaN without items.
    own
        The estimate of each group by its own items alone; None where it was not computed.
    mean, median, sd, interval
        Of the posterior; the interval has shape (groups, classes, 2).
    effective_draws, rhat
        What the draws are worth.
    borrowed
        Shape (groups,): how much of what is known of a group comes from the others, from 0 to 1; None where groups do
        not borrow.
    spread
        Shape (classes, 3): the standard deviation of a share between these groups, and its interval.
    total
        Shape (classes, 3): the share in all groups together, weighed by their items, and its interval.
    pairs, baseline
        Pairs that were compared; with a baseline, each group with it.
    ranks
        By the class of interest; None where groups have times, or there is one group only.
    changes, since
        Of groups with times: each compared with the one before, and with the baseline or the first.
    claims
        What was claimed, and how probable it is.
    alerts
        A share of the class of interest that changed, and claims that do not hold.
    uncounted
        The share of all items that outputs have which are no class.
    variation
        How groups vary, in words.
    findings, origin, model, questions
        What to know, what it was asked for with, the model as plain values, and what was asked of it beside.
    """

    groups: tuple[Any, ...]
    by: tuple[str, ...]
    times: NDArray[Any] | None
    classes: tuple[Name, ...]
    of: Name
    level: float
    kind: Kind
    target: Target
    status: str
    items: FloatArray
    counted: FloatArray | None
    own: FloatArray | None
    mean: FloatArray
    median: FloatArray
    sd: FloatArray
    interval: FloatArray
    effective_draws: FloatArray
    rhat: FloatArray
    borrowed: FloatArray | None
    spread: FloatArray
    total: FloatArray
    pairs: tuple[PairSummary, ...]
    baseline: Any
    ranks: RankSummary | None
    changes: tuple[PairSummary, ...]
    since: tuple[PairSummary, ...]
    claims: tuple[Claim, ...]
    alerts: tuple[Alert, ...]
    uncounted: Mapping[Name, float]
    variation: str
    findings: tuple[Finding, ...]
    origin: Origin
    model: dict[str, Any]
    questions: Questions

    @property
    def place(self) -> int:
        """Where the class of interest stands."""
        return self.classes.index(self.of)

    @property
    def names(self) -> tuple[str, ...]:
        """What the groups are called in tables and pictures."""
        return tuple(map(group_name, self.groups))

    @property
    def interval_name(self) -> str:
        """What the interval is called above a column and in a sentence."""
        return interval_name(self.level, self.kind)

    @property
    def has_answer(self) -> bool:
        """Whether the chains agree enough to be summarised."""
        return self.status != "no-answer"

    @property
    def in_time(self) -> bool:
        """Whether groups are points in time, in one series or in several."""
        return self.times is not None and bool(self.changes or len(self.groups) == 1)

    @property
    def is_one_series(self) -> bool:
        """Whether all groups are periods of one series."""
        return self.in_time and len(self.changes) == len(self.groups) - 1

    def by_size(self) -> list[int]:
        """Return where groups stand, the one with the largest share of the class of interest first."""
        return [int(at) for at in np.argsort(-self.mean[:, self.place], kind="stable")]


def summarize_groups(
    answer: "GroupPosterior", *, level: float, kind: Kind, target: Target, questions: Questions
) -> GroupSummary:
    """Return the numbers of an answer, and what was asked of it beside."""
    _check.level(level)
    _check.one_of("kind", kind, ("equal-tailed", "hdi"))
    _check.one_of("target", target, ("population", "realized"))
    shares = answer.prevalence if target == "population" else _realized(answer)
    of = _class_of_interest(answer, questions.of)
    series = _series(answer)
    since, compared = _against_baseline(answer, questions.baseline, series), _pairs(answer, questions, series)

    def pair(places: tuple[int, int]) -> PairSummary:
        return _compared(answer.groups, shares, places, level, kind)

    claims = _claims(answer, shares, questions)
    weights = group_weights(answer.data)
    total = np.einsum("dgc,g->dc", shares, weights / weights.sum())
    return GroupSummary(
        groups=answer.groups,
        by=answer.data.by,
        times=answer.data.times,
        classes=answer.classes,
        of=of,
        level=level,
        kind=kind,
        target=target,
        status=answer.status,
        items=answer.data.unlabeled.sum(axis=1).astype(np.float64),
        counted=answer.counted,
        own=answer.own,
        mean=shares.mean(axis=0),
        median=in_parts(lambda some: np.asarray(np.median(some, axis=0)), shares),
        sd=sd_of(shares),
        interval=np.clip(interval_of(shares, level, kind), 0.0, 1.0),
        effective_draws=answer.effective_draws,
        rhat=answer.rhat,
        borrowed=None if isinstance(answer.model.groups, Independent) else answer.borrowed,
        spread=_with_interval(_between_groups(shares), level, kind),
        total=_with_interval(total, level, kind),
        pairs=tuple(map(pair, compared)),
        baseline=questions.baseline,
        ranks=_ranks(answer, shares[:, :, answer.classes.index(of)], level)
        if not series and len(answer.groups) > 1
        else None,
        changes=tuple(pair((later, earlier)) for each in series for earlier, later in pairwise(each)),
        since=tuple(map(pair, since)),
        claims=claims,
        alerts=(*_changed(answer, of, series), *_refuted(answer, claims)),
        uncounted=_uncounted(answer),
        variation=VARIATIONS[type(answer.model.groups)],
        findings=tuple(answer.findings),
        origin=answer.origin,
        model=model_values(answer.model),
        questions=questions,
    )


def _between_groups(shares: FloatArray) -> FloatArray:
    """Return the standard deviation between groups in each draw, shape (draws, classes), without a copy of all."""
    return in_parts(lambda some: np.asarray(some.std(axis=0)), shares.swapaxes(0, 1))


def _realized(answer: "GroupPosterior") -> FloatArray:
    """Return draws of the shares among each group's own items, shape (draws, groups, classes)."""
    return np.stack([answer.realized(group) for group in answer.groups], axis=1)


def _uncounted(answer: "GroupPosterior") -> dict[Name, float]:
    items, outputs = answer.data.unlabeled.sum(axis=0), answer.data.outputs
    return {
        name: float(number / items.sum())
        for name, number in zip(outputs, items, strict=True)
        if name not in answer.classes and number
    }


def model_values(model: LabelShift) -> dict[str, Any]:
    """Return a model of groups as plain values: how groups vary, and how the confusion does."""
    choices = {"groups": model.groups, "confusion": model.confusion}
    return model.to_dict() | {
        name: None if choice is None else {"name": type(choice).__name__, **asdict(choice)}
        for name, choice in choices.items()
    }


def _class_of_interest(answer: "GroupPosterior", wanted: Name | None) -> Name:
    if wanted is None:
        if len(answer.classes) == 2:
            return answer.classes[1]
        return answer.classes[int(answer.mean.std(axis=0).argmax())]
    if wanted not in answer.classes:
        raise unknown_class("of", f"is {wanted!r}", wanted, answer.classes)
    return wanted


def _series(answer: "GroupPosterior") -> list[list[int]]:
    """Return groups in the order of time, for each of the other parts of their keys; none where times do not order."""
    times = answer.data.times
    if times is None or len(answer.groups) < 2:
        return []
    place = time_place(answer.groups)
    rest = [
        tuple(part for at, part in enumerate(key) if at != place)
        if isinstance(key, tuple) and place is not None
        else ()
        for key in answer.groups
    ]
    series: dict[Any, list[int]] = {}
    for at in np.argsort(times, kind="stable"):
        series.setdefault(rest[int(at)], []).append(int(at))
    has_ties = any(times[one] == times[other] for each in series.values() for one, other in pairwise(each))
    return [] if has_ties else list(series.values())


def _against_baseline(answer: "GroupPosterior", baseline: Any, series: list[list[int]]) -> list[tuple[int, int]]:
    """Return each other group with the baseline, or with the first of its series."""
    if not series:
        return []
    first = [answer.data.index(baseline)] * len(series) if baseline is not None else [each[0] for each in series]
    return [(at, start) for each, start in zip(series, first, strict=True) for at in each if at != start]


def _pairs(answer: "GroupPosterior", questions: Questions, series: list[list[int]]) -> list[tuple[int, int]]:
    """Return the pairs that are compared, as positions."""
    groups, index = answer.groups, answer.data.index
    if isinstance(questions.pairs, tuple):
        found = [(index(first), index(second)) for first, second in questions.pairs]
        if any(first == second for first, second in found):
            needed = "a comparison is of two groups"
            raise InputError("pairs", "compare a group with itself", needed, "Name two different groups")
        return found
    if questions.baseline is not None:
        start = index(questions.baseline)
        return [] if series else [(at, start) for at in range(len(groups)) if at != start]
    number = len(groups) * (len(groups) - 1) // 2
    if questions.pairs == "all" and number > MOST_PAIRS:
        found_pairs, needed = f"are {number:,} of {len(groups):,} groups", f"at most {MOST_PAIRS:,} are compared"
        raise InputError("pairs", found_pairs, needed, "Compare all groups with a baseline, or name pairs")
    if questions.pairs == "all" or (len(groups) <= MOST_PAIRED and not series):
        return [(second, first) for first, second in combinations(range(len(groups)), 2)]
    return []


def _compared(
    groups: tuple[Any, ...], shares: FloatArray, places: tuple[int, int], level: float, kind: Kind
) -> PairSummary:
    first, second = (shares[:, at] for at in places)
    difference = first - second
    ratio = ratio_of(first, second)
    return PairSummary(
        first=groups[places[0]],
        second=groups[places[1]],
        difference=difference.mean(axis=0),
        interval=interval_of(difference, level, kind),
        ratio=np.median(ratio, axis=0),
        ratio_interval=_ratio_interval(ratio, level, kind),
        larger=(difference > 0).mean(axis=0),
    )


def _ratio_interval(ratio: FloatArray, level: float, kind: Kind) -> FloatArray:
    """Return the interval; of equal tails, with ends that are draws, where some ratios are infinite."""
    if np.isfinite(ratio).all():
        return interval_of(ratio, level, kind)
    return np.quantile(ratio, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf").T


def _with_interval(draws: FloatArray, level: float, kind: Kind) -> FloatArray:
    """Return mean, lower and upper end, shape (classes, 3)."""
    return np.column_stack([draws.mean(axis=0), interval_of(draws, level, kind)])


def _ranks(answer: "GroupPosterior", shares: FloatArray, level: float) -> RankSummary | None:
    groups = answer.groups
    if len(groups) < 2:
        return None
    ranks = ranks_of(groups, shares, answer.origin.seed)
    return RankSummary(
        mean=ranks.mean,
        interval=ranks.interval(level),
        largest=np.array(list(ranks.best.values())),
        smallest=np.array(list(ranks.worst.values())),
        probability=ranks.probability() if len(groups) <= MOST_RANKED else None,
    )


def _claims(answer: "GroupPosterior", shares: FloatArray, questions: Questions) -> tuple[Claim, ...]:
    claims = []
    for side, told in (("above", questions.above), ("below", questions.below)):
        for name, threshold in told.items():
            if name not in answer.classes:
                raise unknown_class(side, f"names {name!r}", name, answer.classes)
            if not 0 <= threshold <= 1:
                raise InputError(side, f"is {threshold!r}", "a share lies between 0 and 1", "Write 0.8 for 80 %")
            draws = shares[:, :, answer.classes.index(name)]
            holds = draws > threshold if side == "above" else draws < threshold
            claims.append(Claim(name=name, side=side, threshold=threshold, probability=holds.mean(axis=0)))  # type: ignore[arg-type]
    return tuple(claims)


def _changed(answer: "GroupPosterior", of: Name, series: list[list[int]]) -> Iterator[Alert]:
    """Find series whose last periods differ from those before; confusion that varies may change outputs too."""
    if answer.confusion.ndim == 4:
        return
    items = effective_groups(answer.data)[1]
    confusion, place = answer.confusion.mean(axis=0), answer.classes.index(of)
    for each in series:
        seen = [at for at in each if items[at].sum() > 0]
        p_value = change_p_value(items[seen], confusion, place)
        if p_value <= MOST_FALSE:
            last = answer.groups[seen[-1]]
            before, now = (
                float(np.average(answer.mean[part, place], weights=items[part].sum(axis=1)))
                for part in (seen[:-WINDOW], seen[-WINDOW:])
            )
            steps = np.diff(answer.mean[seen, place])
            at = int((steps if now > before else -steps).argmax())
            start, end = (group_name(answer.groups[seen[each]]) for each in (at, at + 1))
            message = (
                f"The share of {called(of)} changed: {percent(now)} in the last {WINDOW} periods, up to "
                f"{group_name(last)}, {percent(before)} before; the largest step was from {start} to {end} "
                f"({signed(100 * steps[at], 1)} points). Without a change, such a difference has a probability of "
                f"{percent(p_value)}."
            )
            yield Alert(kind="changed", group=last, name=of, probability=p_value, message=message)


def _refuted(answer: "GroupPosterior", claims: tuple[Claim, ...]) -> Iterator[Alert]:
    """Find groups in which a claim does not hold."""
    for claim in claims:
        for group, probability in zip(answer.groups, map(float, claim.probability), strict=True):
            if is_improbable(probability):
                told = refuted(claim.name, claim.side, claim.threshold, probability)
                message = f"In {group_name(group)} the share of {told}"
                kind: Any = f"not-{claim.side}"
                yield Alert(kind=kind, group=group, name=claim.name, probability=probability, message=message)
