"""The page: one file that holds all it needs, written whole or not at all."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from truecount import _check
from truecount._atomic import require_writable, whole_file
from truecount._types import Name
from truecount.page import text
from truecount.page.groups import render_groups
from truecount.page.pictures import shares_drawing
from truecount.page.reproduce import repeat
from truecount.page.style import rendered
from truecount.page.tables import confusion_table, counts_table, fit_table
from truecount.plots.theme import LIGHT
from truecount.results import Posterior
from truecount.results.group_posterior import GroupPosterior
from truecount.results.group_summary import Questions
from truecount.results.summary import Kind, Target
from truecount.results.table import tabulate

TITLE = "How many of each class are really there?"


def report(
    posterior: Posterior | GroupPosterior,
    path: str | PathLike[str],
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Name] | None = None,
    title: str = TITLE,
    command: str | None = None,
    questions: Questions | None = None,
) -> None:
    """Write the answer as one HTML page: a sentence, a table, a picture, findings, method, and how to reproduce it.

    Parameters
    ----------
    posterior
        What `truecount.infer` returned; of groups, the page has one class: the only one in `classes`, or the one that
        its summary chooses.
    path
        Where to write; what stood there is replaced only when the new page is whole.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    classes
        Which classes the table has, in this order; all by default. A single one has the sentence for itself.
    title
        The heading.
    command
        What was typed to get this answer, for whoever wants to reproduce it; Python that does is always given.
    questions
        Of groups: what else is asked, such as a baseline.

    Notes
    -----
    The page loads nothing from anywhere and runs no script. Same posterior, same version: same page.

    Examples
    --------
    >>> import truecount as tc
    >>> counts = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> report(tc.infer(counts, seed=1), getfixture("tmp_path") / "report.html")
    """
    _check.instance_of("posterior", posterior, (Posterior, GroupPosterior), "Pass what infer() returned")
    require_writable(path)
    if isinstance(posterior, GroupPosterior):
        questions = questions or Questions(of=classes[0] if classes else None)
        summary = posterior.summary(level, kind=kind, target=target, questions=questions)
        page = render_groups(posterior, summary, title=None if title == TITLE else title, command=command)
    else:
        page = render(posterior, level=level, kind=kind, target=target, classes=classes, title=title, command=command)
    with whole_file(path) as stream:
        stream.write(page.encode(errors="backslashreplace"))


def render(
    posterior: Posterior,
    *,
    level: float,
    kind: Kind,
    target: Target,
    classes: Sequence[Name] | None = None,
    title: str = TITLE,
    command: str | None = None,
) -> str:
    """Return the page as text."""
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target, "classes": classes, "command": command}
    return rendered("page.html", title=title, level=f"{100 * level:.6g} %", **content(posterior, **look))


def content(
    posterior: Posterior,
    *,
    level: float,
    kind: Kind,
    target: Target,
    classes: Sequence[Name] | None,
    command: str | None,
) -> dict[str, Any]:
    """Return what the template needs for one answer; without one, there are no numbers that are read off the draws."""
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target}
    has_answer = posterior.has_answer
    shown = posterior.classes if classes is None else classes
    return {
        "answer": text.answer(posterior, **look, classes=classes),
        "findings": text.remarks(posterior.findings),
        "table": tabulate(posterior, **look, classes=classes),
        "colors": [posterior.place(name) % len(LIGHT.classes) for name in shown],
        "picture": shares_drawing(posterior, **look, classes=classes) if has_answer else None,
        "method": text.method(posterior, **look),
        "assumptions": posterior.model.assumptions,
        "confusion": confusion_table(posterior, level) if has_answer else None,
        "raters": None if posterior.raters is None or not has_answer else posterior.raters.table(level),
        "fit": fit_table(posterior, level) if has_answer else [],
        "counts": counts_table(posterior.counts),
        "repeat": repeat(posterior, command),
    }
