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
    console.print(_grid(table, console.width))
    for finding in table.findings:
        severity, _, words = remark(finding).partition(":")
        console.print(Text.assemble((severity, STYLES[severity]), ":", words))
    console.print(Text(table.how, style="dim"))


def _grid(table: Table, width: int) -> Any:
    """Lay out the cells; where they do not fit, headers break between words and long names anywhere, numbers never."""
    from rich import table as rich_table
    from rich.text import Text

    grid = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns = list(zip(*table.rows, strict=True))
    natural = sum(
        max(map(display_width, (name, *cells))) + 2 for name, cells in zip(table.header, columns, strict=True)
    )
    for position, (name, cells) in enumerate(zip(table.header, columns, strict=True)):
        narrowest = max(map(len, (*cells, *name.split()))) if position and natural - 2 > width else None
        grid.add_column(Text(name), justify="right" if position else "left", overflow="fold", width=narrowest)
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid
