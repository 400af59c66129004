"""A plan as one HTML page: what to gather, what comes of it, and the picture of width against cost."""

from dataclasses import replace

from truecount._advice import worded
from truecount.page.frame import drawing_of, rendered
from truecount.plots.plan import draw_plan, plan_data
from truecount.results.plan import Plan

TITLE = "How many labels?"


def render_plan(found: Plan) -> str:
    """Return the page as text; it loads nothing and runs no script."""
    from markupsafe import Markup

    first, *others = found.tables()
    about = "The numbers are in the table of costs."
    return rendered(
        "plan.html",
        title=TITLE,
        answer=first.headline,
        sentences=[worded(line, "plan") for line in found.sentences],
        picture=None
        if found.curve is None
        else drawing_of("plan", draw_plan, plan_data(found), "Width against cost", about),
        tables=[Markup(each.to_html()) for each in (replace(first, headline=""), *others)],  # noqa: S704 - escaped
    )
