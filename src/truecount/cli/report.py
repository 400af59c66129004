"""What the command writes: files, and what stands on the screen."""

import csv
import io
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from truecount._atomic import require_writable, whole_file
from truecount._check import level as checked_level
from truecount.results.table import Table, display_width, remark, tabulate, text

if TYPE_CHECKING:
    from truecount.results import Posterior
    from truecount.results.posterior import Kind, Target

LEAST_FOR_NAMES = 8
"""Columns of a terminal that longer names of classes are broken into, but not into fewer."""
STYLES = {"info": "cyan", "caution": "yellow", "serious": "bold red"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Which summary is wanted, and where it goes; ``-`` is the standard output."""

    level: float = 0.95
    interval: "Kind" = "equal-tailed"
    target: "Target" = "population"
    json_file: str | None = None
    csv_file: str | None = None

    def __post_init__(self) -> None:
        checked_level(self.level)
        if self.json_file == self.csv_file is not None:
            raise typer.BadParameter(f"--json and --csv cannot both go to {self.json_file!r}.")
        for path in (self.json_file, self.csv_file):
            if path not in (None, "-"):
                require_writable(str(path))

    def deliver(self, posterior: "Posterior") -> None:
        """Write the summary of a posterior to the files, or print it as a table."""
        self.write(
            lambda: posterior.to_dict(level=self.level, kind=self.interval, target=self.target),
            lambda summary: list(summary["classes"]),
            lambda: self._print(posterior),
        )

    def write(
        self,
        summary: Callable[[], dict[str, Any]],
        rows: Callable[[dict[str, Any]], list[dict[str, Any]]],
        show: Callable[[], None],
    ) -> None:
        """Write the files, all or none, then print; what goes to the standard output stands there alone.

        Parameters
        ----------
        summary
            Gives what JSON holds.
        rows
            Gives the rows of the CSV from that.
        show
            Prints to the screen.
        """
        encoded = self._encoded(summary, rows)
        with ExitStack() as files:
            for path in encoded.keys() - {"-"}:
                files.enter_context(whole_file(path)).write(encoded[path])
        if "-" in encoded:
            typer.echo(encoded["-"], nl=False)
        else:
            show()

    def _encoded(
        self, summary: Callable[[], dict[str, Any]], rows: Callable[[dict[str, Any]], list[dict[str, Any]]]
    ) -> dict[str, bytes]:
        """Give what goes to each place; a sign that is not one becomes an escape that JSON reads back."""
        if self.json_file is None and self.csv_file is None:
            return {}
        values, texts = summary(), {}
        if self.json_file is not None:
            texts[self.json_file] = _json(values)
        if self.csv_file is not None:
            texts[self.csv_file] = _csv(rows(values))
        return {path: text.encode(errors="backslashreplace") for path, text in texts.items()}

    def _print(self, posterior: "Posterior") -> None:
        look: dict[str, Any] = {"level": self.level, "kind": self.interval, "target": self.target}
        if sys.stdout.isatty():
            _print_rich(tabulate(posterior, **look))
        else:
            typer.echo(text(posterior, **look))


def _json(summary: dict[str, Any]) -> str:
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _print_rich(table: Table) -> None:
    """Print to a terminal, as wide as it is."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_layout(table, console.width))
    for finding in table.findings:
        severity, _, words = remark(finding).partition(":")
        console.print(Text.assemble((severity, STYLES[severity]), ":", words))
    console.print(Text(table.how, style="dim"))


def _layout(table: Table, width: int) -> Any:
    """Give columns as wide as they like, or as narrow as they can be, or one class below the other."""
    from rich.text import Text

    columns = list(zip(table.header, zip(*table.rows, strict=True), strict=True))
    natural = [max(map(display_width, (name, *cells))) for name, cells in columns]
    narrow = [max(map(display_width, (*name.split(), *cells))) for name, cells in columns[1:]]
    if sum(natural) + 2 * len(narrow) <= width:
        return _grid(table, natural)
    for_names = width - sum(narrow) - 2 * len(narrow)
    if for_names >= min(natural[0], LEAST_FOR_NAMES):
        return _grid(table, [min(natural[0], for_names), *narrow])
    return Text(_stack(table, width))


def _grid(table: Table, widths: list[int]) -> Any:
    """Lay out the cells; headers break between words and long names anywhere, numbers never."""
    from rich import table as rich_table
    from rich.text import Text

    grid = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, (name, width) in enumerate(zip(table.header, widths, strict=True)):
        grid.add_column(Text(name), justify="right" if position else "left", overflow="fold", width=width)
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid


def _stack(table: Table, width: int) -> str:
    """Give each class a line of its own and its numbers below, where they do not fit beside each other."""
    lines = []
    for name, *cells in table.rows:
        lines.append(name)
        for header, cell in zip(table.header[1:], cells, strict=True):
            side_by_side = f"  {header}: {cell}"
            lines += [side_by_side] if len(side_by_side) <= width else [f"  {header}:", f"    {cell}"]
    return "\n".join(lines)
