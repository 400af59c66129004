"""The page of many groups: what a manager reads first, then everything that one answer has too."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._progress import step
from truecount._secrets import masked_command
from truecount._wording import labels, signed, visible
from truecount.api.groups import spread_sensitivity
from truecount.errors import InputError
from truecount.models import ErringLabels, LabelShift, Pooled, Varying, Walk
from truecount.models.model import NOT_BY_OUTPUT, SAME_ROWS, Assumption
from truecount.page.answer import assumed, group_confusion_table, isolated, remarks, sorted_in_words, unbroken
from truecount.page.frame import LONGEST_NAME, Drawing, drawing_of, rendered
from truecount.page.reproduce import Repeat, beliefs, look_in_python, printed_in_python, prior_in_python
from truecount.plots.canvas import Theme, percent_axis
from truecount.plots.groups import (
    MOST_PANELS,
    GroupsData,
    draw_caterpillar,
    draw_trend,
    groups_data,
    panel_place,
    panels_of,
)
from truecount.plots.ranks import draw_pairs, draw_ranks, pairs_data, ranks_data
from truecount.results.groups.summary import GroupSummary, Questions
from truecount.results.groups.table import (
    changes_table,
    decimals_of,
    how,
    largest_in_words,
    pairs_table,
    probability,
    refusal,
    shares_table,
)
from truecount.results.summary import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from truecount.results.groups.posterior import GroupPosterior

TITLE = "How many of each class are really in each group?"
MOST_PAIRS = 36
"""In a picture; the table has more."""
POOLED = Assumption(
    "Groups are alike in that their shares scatter around a common centre.",
    "Small groups borrow from the others, the more the fewer items they have. A group that is unlike all others, and "
    "has few items, is drawn towards them too far.",
)
WALK = Assumption(
    "Shares go from one period to the next in steps that are alike in size.",
    "How large steps are is learned from all of them. A single jump is smoothed at its edges.",
)
VARYING = Assumption(
    "The classifier differs between groups as it does between studies.",
    "Of the items of one class, the share that gets each output varies around a common one. How much it varies between "
    "studies says how much it may vary between groups without labels. If the items of a class became harder in all "
    "groups, and in no study, the answer is wrong. To check, label a few items of the groups themselves.",
)

RANDOM_LABELS = Assumption(
    "Labelled items of a group are a random sample of that group.",
    "So they tell its shares, and not only what the classifier does with each class. If some items were likelier to be "
    "labelled than others, by their class or by their output, the share of that group is wrong.",
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a heading, words, pictures, a table."""

    name: str
    heading: str
    words: str = ""
    pictures: tuple[Drawing, ...] = ()
    table: Table | None = None


def render_groups(
    answer: "GroupPosterior", summary: GroupSummary, *, title: str | None = None, command: str | None = None
) -> str:
    """Return the page of many groups as text.

    Parameters
    ----------
    answer, summary
        What was inferred, and its numbers, with what was asked of them.
    title
        The heading.
    command
        What was typed to get this answer.
    """
    more = {"level": f"{100 * summary.level:.6g} %", "is_varying": answer.draws.common_rows is not None}
    return rendered("groups.html", title=title or TITLE, **more, **group_content(answer, summary, command))


def group_content(answer: "GroupPosterior", summary: GroupSummary, command: str | None) -> dict[str, Any]:
    """Return what a page of many groups shows."""
    return {
        "answer": answer_in_words(summary),
        "alerts": [visible(alert.message) for alert in summary.alerts] if summary.has_answer else [],
        "sections": [*_sections(summary), *_study_prior(answer, summary), *_raters(answer)]
        if summary.has_answer
        else [],
        "confusion": group_confusion_table(answer, summary.level) if summary.has_answer else None,
        "findings": remarks(summary.findings),
        "method": _method(answer, summary),
        "assumptions": assumed(_assumptions(answer.model), answer.data),
        "repeat": _repeat(answer, summary, command),
    }


def answer_in_words(summary: GroupSummary) -> str:
    """Say in one sentence where the share is largest and smallest, or how it went in time."""
    if not summary.has_answer:
        return refusal(summary)
    place = summary.place
    decimals = decimals_of(summary.interval[:, [place]])
    names = [isolated(name) for name in labels(summary.names, LONGEST_NAME)]
    share = f"the true share of “{isolated(labels([summary.of], LONGEST_NAME)[0])}”"

    def told(at: int, interval: str = "") -> str:
        low, high = (f"{100 * end:.{decimals}f}" for end in summary.interval[at, place])
        middle, span = f"{100 * summary.mean[at, place]:.{decimals}f} %", f"{low} \N{EN DASH} {high} %"
        return f"{unbroken(middle)} ({interval}{unbroken(span)})"

    interval = f"{unbroken(summary.interval_name)} "
    if len(names) == 1:
        return f"In {names[0]}, {share} is about {told(0, interval)}."
    if summary.in_time and len(summary.by) == 1:
        order = np.argsort(np.asarray(summary.times), kind="stable")
        first, last = int(order[0]), int(order[-1])
        went = f"From {names[first]} to {names[last]}, {share} went from about {told(first, interval)} to {told(last)}."
        return f"{went} It is larger now with a probability of {probability(float(summary.since[-1].larger[place]))}."
    order = np.argsort(summary.mean[:, place], kind="stable")
    low, high = int(order[0]), int(order[-1])
    extremes = f"runs from about {told(low, interval)} in {names[low]} to {told(high)} in {names[high]}"
    return f"Of {len(names):,} groups, {share} {extremes}.{largest_in_words(summary, names)}"


def _sections(summary: GroupSummary) -> list[Section]:
    """Return shares, changes, comparisons and ranks, as far as there are some."""
    is_one_series = summary.in_time and len(summary.by) == 1
    shown = f"“{visible(summary.of)}”"
    sections = [
        Section(
            "shares",
            f"The true share of {shown}" + (" in time" if is_one_series else ", group by group"),
            pictures=_shares_pictures(summary, is_one_series=is_one_series),
            table=shares_table(summary, every_class=False, by_size=not summary.in_time),
        )
    ]
    if summary.pairs:
        several = len(summary.pairs) > 1
        pictures: tuple[Drawing, ...] = ()
        if several and len(summary.pairs) <= MOST_PAIRS:
            data = pairs_data(summary)
            about = "A row for each pair of groups. The numbers are in the table."
            pictures = (drawing_of("pairs", draw_pairs, data, "Differences between groups", about),)
        against = "Compared with the baseline" if summary.baseline is not None else "Compared with each other"
        table = pairs_table(summary, summary.pairs, "comparison")
        sections.append(Section("pairs", against, pictures=pictures, table=table))
    if summary.ranks is not None and summary.ranks.probability is not None and len(summary.groups) > 2:
        words = "Which group has the largest share, which the next: the probability of each rank, from joint draws."
        about = "A row for each group, a column for each rank."
        picture = drawing_of("ranks", draw_ranks, ranks_data(summary), "Probability of every rank", about)
        sections.append(Section("ranks", f"Ranks by the share of {shown}", words, (picture,)))
    if summary.changes:
        sections.append(Section("changes", f"How the share of {shown} changed", table=changes_table(summary)))
    return sections


def _shares_pictures(summary: GroupSummary, *, is_one_series: bool) -> tuple[Drawing, ...]:
    """Draw a trend, a caterpillar, or of two grouping columns one of them for each panel."""
    panels = panels_of(summary) if len(summary.by) > 1 else {}
    if 1 < len(panels) <= MOST_PANELS:
        return _panels(summary, panels)
    data = groups_data(summary, in_time=is_one_series)
    if is_one_series:
        about = f"{len(data.names):,} periods from left to right. The numbers are in the table."
        return (drawing_of("shares", draw_trend, data, "The share in time", about),)
    about = f"A row for each of {len(data.names):,} groups, the largest on top. The numbers are in the table."
    return (drawing_of("shares", draw_caterpillar, data, "The share in every group", about),)


def _panels(summary: GroupSummary, panels: dict[str, list[int]]) -> tuple[Drawing, ...]:
    """Draw each panel by itself, all with one axis of shares."""
    column = visible(summary.by[panel_place(summary)])
    each = {name: groups_data(summary, in_time=summary.in_time, chosen=chosen) for name, chosen in panels.items()}
    low, high = min(data.limits[0] for data in each.values()), max(data.limits[1] for data in each.values())

    def draw(ax: "Axes", data: GroupsData, theme: Theme) -> None:
        (draw_trend if data.times is not None else draw_caterpillar)(ax, data, theme)
        percent_axis(ax, low, high, axis="y" if data.times is not None else "x")

    drawings = []
    for number, (name, data) in enumerate(each.items()):
        short = labels([name], LONGEST_NAME)[0]
        about = f"{len(data.names):,} groups of {column} {short}. The numbers are in the table."
        made = drawing_of(f"shares-{number}", draw, data, f"The share where {column} is {short}", about)
        drawings.append(replace(made, caption=f"{column}: {short}. {made.caption}"))
    return tuple(drawings)


def _study_prior(answer: "GroupPosterior", summary: GroupSummary) -> list[Section]:
    """Show how much the answer depends on the prior of the spread between studies, where few of them tell it."""
    if "few-studies" not in [finding.code for finding in summary.findings]:
        return []
    with step("inferring under other priors of the spread between studies"):
        found = spread_sensitivity(answer, of=summary.of, level=summary.level)
    words = (
        "So few studies cannot tell how much the classifier’s error rates differ from study to study, so the width of "
        "the answer depends on the prior of these differences. Here is the answer under a prior half as wide, the one "
        f"used, and one twice as wide. {found.sentence} Do not rely on a conclusion that changes from column to column."
    )
    title = "How the answer depends on the prior of the studies’ spread"
    return [Section("studies", title, words, table=found.table())]


def _raters(answer: "GroupPosterior") -> list[Section]:
    """Return how often raters are right, where labels may be wrong."""
    return (
        [] if answer.raters is None else [Section("raters", "How often raters are right", table=answer.raters.table())]
    )


def _method(answer: "GroupPosterior", summary: GroupSummary) -> list[str]:
    """Say how the answer was made."""
    data, model = answer.data, answer.model
    studies = f" from {len(data.studies):,} studies" if data.studies else ""
    known = "of which the true class is known" if answer.raters is None else "whose labels may be wrong"
    vary = {
        Pooled: "Groups scatter around a common centre, and how much they do is learned from all of them: a group with "
        "few items borrows from the others, one with many hardly does.",
        Walk: "The shares of one period are near those of the one before, and how near is learned from all periods. "
        "Periods without items are predicted from those around them.",
    }.get(type(model.groups), "Each group has a share of its own, which says nothing of the others.")
    where, together = "1 group", ""
    if len(data) > 1:
        where = f"{len(data):,} groups"
        together = (
            f" {vary} All groups were drawn together with the misclassification rates, so that errors which they share "
            "cancel in their differences."
        )
    return [
        f"{sorted_in_words(data)} {data.labeled.sum():,.0f} labelled items{studies}, {known}, show how often each "
        f"class is misclassified. Of {data.unlabeled.sum():,.0f} unlabelled items in {where} only the "
        "output is known.",
        f"{model.method}{together}",
        f"The interval holds {100 * summary.level:.6g} % of what remains for each group by itself. It is wide where "
        "labels are few, where the classifier confuses classes, or where a group has few items.",
        *_prediction(answer),
    ]


def _prediction(answer: "GroupPosterior") -> list[str]:
    """Say whether pooling predicts groups that are left out; nothing where that has no scores."""
    try:
        scores = answer.leave_one_out()
    except InputError:
        return []
    gain = f"Log-probability {signed(scores.gain, 1)}, standard error {scores.gain_error:.1f}."
    words = f"{scores.sentence} ({gain})"
    return [f"To check whether groups should borrow from each other, each was predicted from the others. {words}"]


def _assumptions(model: LabelShift) -> tuple[Assumption, ...]:
    more = {Pooled: (POOLED,), Walk: (WALK,)}.get(type(model.groups), ())
    if not isinstance(model.confusion, Varying):
        return (*model.assumptions, *more)
    instead = {SAME_ROWS: VARYING} | ({NOT_BY_OUTPUT: RANDOM_LABELS} if model.confusion.random_labels else {})
    return (*(instead.get(each, each) for each in model.assumptions), *more)


def _repeat(answer: "GroupPosterior", summary: GroupSummary, command: str | None) -> Repeat:
    model, origin = answer.model, answer.origin
    choices = [f"{name}=tc.{choice!r}" for name, choice in _choices(model) if choice is not None]
    if isinstance(model, ErringLabels):
        choices += [f"{name}={value!r}" for name, value in model.options().items()]
    engine = [f"engine=tc.{origin.engine}"] if origin.engine else []
    code = "\n".join(
        [
            "import truecount as tc",
            "",
            f"groups = {_data_in_python(answer)}",
            f"model = tc.{type(model).__name__}({', '.join([prior_in_python(model.prior), *choices])})",
            f"answer = tc.infer({', '.join(['groups', 'model', *engine, f'seed={origin.seed}'])})",
            printed_in_python("answer", [*look_in_python(summary), *_questions_in_python(answer, summary.questions)]),
        ]
    )
    facts = [
        ("Version", f"truecount {origin.version or 'unknown'}"),
        ("Seed", str(origin.seed)),
        ("Engine", how(summary)),
        *beliefs(model),
        *((f"Model of the {name}", repr(choice)) for name, choice in _choices(model) if choice is not None),
    ]
    typed, has_secrets = (None, False) if command is None else masked_command(command)
    return Repeat(None if typed is None else visible(typed), code, facts, has_secrets)


def _questions_in_python(answer: "GroupPosterior", asked: Questions) -> list[str]:
    """Write what was asked as an argument; groups by their place, since they may be dates."""

    def named(group: Any) -> str:
        return f"answer.groups[{answer.data.index(group)}]"

    pairs = None if asked.pairs is None else repr(asked.pairs)
    if asked.pairs is not None and asked.pairs != "all":
        pairs = f"[{', '.join(f'({named(first)}, {named(second)})' for first, second in asked.pairs)}]"
    written = {
        "of": None if asked.of is None else repr(asked.of),
        "pairs": pairs,
        "baseline": None if asked.baseline is None else named(asked.baseline),
        "above": repr(dict(asked.above)) if asked.above else None,
        "below": repr(dict(asked.below)) if asked.below else None,
    }
    given = [f"{name}={value}" for name, value in written.items() if value is not None]
    return [f"questions=tc.Questions({', '.join(given)})"] if given else []


def _data_in_python(answer: "GroupPosterior") -> str:
    if answer.raters is not None:
        return f"tc.Ratings.from_json({answer.raters.data.to_json()!r})"
    return f"tc.Groups.from_json({answer.data.to_json()!r})"


def _choices(model: LabelShift) -> list[tuple[str, Any]]:
    return [("groups", model.groups), ("confusion", model.confusion)]
