"""The main job on an example that ships with the package, explained."""

import sys
from pathlib import Path
from shutil import get_terminal_size, which
from textwrap import fill

import click

from truecount.cli.estimate import quiet_infer
from truecount.cli.report import Report
from truecount.counts import Counts, count_table
from truecount.examples import JUDGE
from truecount.examples.make_judge import PASS_RATE
from truecount.inference import Auto
from truecount.models import LabelShift
from truecount.results import Posterior


def demo() -> None:
    """Run the main job on an example and explain it.

    \b
      truecount demo
    """  # noqa: D301
    counts = count_table(JUDGE, label="human", prediction="verdict")
    posterior = quiet_infer(counts, LabelShift(), Auto(), seed=0)
    _say(_question(counts))
    click.echo(f"\n  {_program()} estimate {_short(JUDGE)} --label human --prediction verdict\n")
    Report().deliver(posterior)
    _say("", *_explanation(posterior))
    click.echo(f"\nNow yours: {_program()} estimate --help")


def _question(counts: Counts) -> str:
    return (
        f"A judge, a language model, gave its verdict on {counts.unlabeled.sum():,} answers of a new release. Nobody "
        f"read them. People read {counts.labeled.sum():,} answers of the release before, on which the judge had given "
        "its verdict too. How many answers of the new release really pass?"
    )


def _explanation(posterior: Posterior) -> list[str]:
    counts, row = posterior.counts, posterior.classes.index("pass")
    judged = counts.unlabeled[row] / counts.unlabeled.sum()
    wrongly_passed, failed = counts.labeled[1 - row, row], counts.labeled[1 - row].sum()
    low, high = posterior.interval()[row]
    return [
        f"counted: the judge passes {_percent(judged)} of the new answers. That is too kind: of the {failed} answers "
        f"that people failed, it passed {wrongly_passed}.",
        f"true share: with the judge's errors corrected, {_percent(posterior.mean[row])} pass.",
        f"95 % interval: it is {_percent(0.95, 0)} probable that between {_percent(low)} and {_percent(high)} pass. "
        f"It is wide because the judge's error rates were estimated from {counts.labeled.sum()} answers only.",
        f"The truth: this example was made so that {_percent(PASS_RATE['v2'], 0)} pass.",
        "",
        "All this assumes that the judge treats a good answer, and a bad one, of the new release as it did before, "
        "and that the answers people read were not picked by its verdict.",
    ]


def _program() -> str:
    """How to call this program again: by its name where the shell finds it, else by its path or through Python."""
    called = Path(sys.argv[0])
    if which("truecount"):
        return "truecount"
    return _short(called) if called.stem == "truecount" else f"{_short(Path(sys.executable))} -m truecount"


def _short(path: Path) -> str:
    """Return a path as it may be typed here."""
    here = Path.cwd()
    near = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return f'"{near}"' if " " in near else near


def _percent(share: float, decimals: int = 1) -> str:
    """Return a percentage that does not break at the end of a line."""
    return f"{100 * share:.{decimals}f}\N{NO-BREAK SPACE}%"


def _say(*paragraphs: str) -> None:
    width = min(80, get_terminal_size().columns)
    for paragraph in paragraphs:
        lines = fill(paragraph, width, subsequent_indent="  " if ": " in paragraph[:20] else "")
        click.echo(lines.replace("\N{NO-BREAK SPACE}", " "))
