"""A plan as one HTML page: what to gather, what comes of it, width against cost, and what it was planned from."""

from dataclasses import replace

from truecount._advice import worded
from truecount._secrets import masked_command
from truecount._version import __version__
from truecount._wording import visible
from truecount.models import LabelShift, Varying
from truecount.page.frame import Drawing, drawing_of, rendered
from truecount.page.groups import Section
from truecount.page.reproduce import beliefs
from truecount.plots.plan import draw_plan, plan_data
from truecount.results.plan import Plan, goal_in_words

TITLE = "How many labels?"
MOST_CELLS = 400
"""Of what was counted or assumed; a larger table is no longer read."""
STUDIES = "The labels of all studies are counted here together; error rates vary between studies."
HEADINGS = {
    "class": "How wide intervals will be",
    "group": "Groups",
    "alternative": "What else would help",
    "cost": "Width against cost",
}
"""By what the first column of a table holds."""


def render_plan(found: Plan, *, command: str | None = None) -> str:
    """Return the page as text; it loads nothing and runs no script."""
    typed, has_secrets = (None, False) if command is None else masked_command(command)
    return rendered(
        "plan.html",
        title=TITLE,
        answer=found.headline,
        sentences=[worded(line, "plan") for line in found.sentences],
        sections=[*_forecasts(found), _known(found)],
        facts=_facts(found),
        command=None if typed is None else visible(typed),
        has_secrets=has_secrets,
    )


def _forecasts(found: Plan) -> list[Section]:
    sections = []
    for table in found.tables():
        name = table.header[0]
        pictures = (_drawing(found),) if name == "cost" else ()
        sections.append(Section(name, HEADINGS[name], pictures=pictures, table=replace(table, headline="")))
    return sections


def _drawing(found: Plan) -> Drawing:
    return drawing_of(
        "plan", draw_plan, plan_data(found), "Width against cost", "The numbers are in the table of costs."
    )


def _known(found: Plan) -> Section:
    """Say what the plan was made from."""
    basis = found.basis
    heading = "What was assumed" if basis.first.is_assumed else "The pilot"
    table, model = basis.table(), basis.model
    is_varying = isinstance(model, LabelShift) and isinstance(model.confusion, Varying)
    if len(table.rows) * len(table.header) <= MOST_CELLS:
        return Section("known", heading, words=STUDIES if is_varying else "", table=table)
    words = f"{len(basis.first.classes):,} classes and {len(basis.first.outputs):,} outputs"
    if not basis.first.is_assumed:
        items = sum(each.counted_items for each in basis.scenarios.values())
        words = f"{basis.labeled.sum():,.0f} labels and {items:,.0f} unlabelled items of {words}"
    return Section("known", heading, words=f"{words}.")


def _facts(found: Plan) -> list[tuple[str, str]]:
    label, item = found.basis.costs.label, found.basis.costs.item
    by_name = [f"{visible(str(name))} {cost:,.6g}" for name, cost in label.items()] if isinstance(label, dict) else []
    of_labels = ", ".join(by_name) if by_name else f"{label:,.6g}"
    goal = [] if found.goal is None else [("Goal", goal_in_words(found.goal))]
    return [
        *goal,
        ("Level of the intervals", f"{100 * found.level:.6g} %"),
        ("Cost of a label", of_labels),
        ("Cost of an unlabelled item", f"{item:,.6g}"),
        ("Labelled items", found.basis.model.sampling),
        *beliefs(found.basis.model),
        ("Seed", str(found.basis.seed)),
        ("Version", f"truecount {__version__}"),
    ]
