"""A plan as one HTML page: what to gather, what comes of it, and the picture of width against cost."""

from dataclasses import replace
from html import escape

from truecount._advice import worded
from truecount.page.pictures import WIDTH, drawing
from truecount.page.style import style
from truecount.plots.canvas import dress, new_axes
from truecount.plots.plan import draw_plan, plan_data
from truecount.plots.theme import LIGHT
from truecount.results.plan import Plan

TITLE = "How many labels?"


def render_plan(found: Plan, title: str = TITLE) -> str:
    """Return the page as text; it loads nothing and runs no script."""
    first, *others = found.tables()
    said = "".join(f"<p>{escape(worded(line, 'plan'))}</p>" for line in found.sentences)
    tables = "".join(f"<section>{each.to_html()}</section>" for each in others)
    top = replace(first, headline="").to_html()
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{style()}</style></head><body><main><h1>{escape(title)}</h1><p>{escape(first.headline)}</p>"
        f"{top}{said}{_figure(found)}{tables}</main></body></html>\n"
    )


def _figure(found: Plan) -> str:
    if found.curve is None:
        return ""
    data = plan_data(found)
    axis, *sentences = data.caption
    ax = new_axes(WIDTH, data.height, LIGHT)
    dress(ax, LIGHT)
    draw_plan(ax, data, LIGHT)
    made = drawing(ax, axis, "Width against cost", "The numbers are in the table of costs.", " ".join(sentences))
    return (
        f'<figure><svg viewBox="{made.view}" role="img" aria-label="{escape(made.title)}">{made.svg}</svg>'
        f"<figcaption>{escape(made.caption)}</figcaption></figure>"
    )
