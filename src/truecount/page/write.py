"""The page: one file that holds all it needs, written whole or not at all."""

from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from truecount import _check
from truecount._atomic import require_writable, whole_file
from truecount.page import words
from truecount.page.look import style
from truecount.page.pictures import shares_drawing
from truecount.page.repeat import repeat
from truecount.page.tables import confusion_table, counts_table, fit_table
from truecount.plots.theme import LIGHT
from truecount.results import Posterior
from truecount.results.posterior import Kind, Target
from truecount.results.table import tabulate, visible

TITLE = "How many of each class are really there?"


def report(
    posterior: Posterior,
    path: str | PathLike[str],
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    title: str = TITLE,
    command: str | None = None,
) -> None:
    """Write the answer as one HTML page: a sentence, a table, a picture, findings, method, and how to repeat it.

    Parameters
    ----------
    posterior
        What `truecount.infer` gave.
    path
        Where to write; what stood there is replaced only when the new page is whole.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    title
        The heading.
    command
        What was typed to get this answer, for whoever wants to repeat it; Python that does is always given.

    Notes
    -----
    The page loads nothing from anywhere and runs no script. Same posterior, same version: same page.

    Examples
    --------
    >>> import truecount as tc
    >>> counts = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> report(tc.infer(counts, seed=1), getfixture("tmp_path") / "report.html")
    """
    _check.instance_of("posterior", posterior, Posterior, "Pass what infer() gives")
    require_writable(path)
    page = render(posterior, level=level, kind=kind, target=target, title=title, command=command)
    with whole_file(path) as stream:
        stream.write(page.encode(errors="backslashreplace"))


def render(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, title: str = TITLE, command: str | None = None
) -> str:
    """Give the page as text."""
    table = tabulate(posterior, level=level, kind=kind, target=target)
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target}
    text: str = _template().render(
        title=visible(title),
        style=style(),
        answer=words.answer(posterior, **look),
        serious=[finding for finding in posterior.findings if finding.severity == "serious"],
        table=table,
        colors=len(LIGHT.classes),
        picture=shares_drawing(posterior, **look),
        findings=words.findings(posterior),
        method=words.method(posterior, **look),
        assumptions=words.ASSUMPTIONS[words.design_of(posterior)],
        level=f"{100 * level:.6g} %",
        confusion=confusion_table(posterior, level),
        fit=fit_table(posterior, level),
        counts=counts_table(posterior.counts),
        repeat=repeat(posterior, command),
    )
    return text


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    machine = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return machine.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
