"""What the command writes: files, and what stands on the screen."""

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from truecount._atomic import require_writable, whole_file
from truecount._check import level as checked_level
from truecount._progress import watch
from truecount.cli.pictures import page, picture_format, shares
from truecount.cli.screen import print_table
from truecount.results.table import tabulate, text

if TYPE_CHECKING:
    from truecount.results import Posterior
    from truecount.results.posterior import Kind, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Which summary is wanted, and where it goes; ``-`` is the standard output, and `inputs` are not written to."""

    level: float = 0.95
    interval: "Kind" = "equal-tailed"
    target: "Target" = "population"
    json_file: str | None = None
    csv_file: str | None = None
    html_file: str | None = None
    plot_file: str | None = None
    inputs: Sequence[Path] = ()

    def __post_init__(self) -> None:
        checked_level(self.level)
        wanted: dict[str, str] = {}
        for option in ("json", "csv", "html", "plot"):
            path = getattr(self, f"{option}_file")
            if path is None:
                continue
            place = path if path == "-" else realpath(path)
            if place in wanted:
                raise typer.BadParameter(f"--{wanted[place]} and --{option} cannot both go to {path!r}.")
            wanted[place] = option
            if path != "-":
                require_writable(path, self.inputs)
        if self.plot_file is not None:
            picture_format(self.plot_file)

    def deliver(self, posterior: "Posterior") -> None:
        """Write the summary of a posterior to the files, or print it as a table."""
        self.write(
            lambda: posterior.to_dict(**self.look),
            lambda summary: list(summary["classes"]),
            lambda: self._print(posterior),
            lambda: self.pictures(posterior),
        )

    def write(
        self,
        summary: Callable[[], dict[str, Any]],
        rows: Callable[[dict[str, Any]], list[dict[str, Any]]],
        show: Callable[[], None],
        pictures: Callable[[], dict[str, bytes]] = dict,
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
        pictures
            Gives what else goes to each place.
        """
        encoded = self._encoded(summary, rows) | pictures()
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

    def pictures(self, answer: "Posterior | Mapping[Any, Posterior]") -> dict[str, bytes]:
        """Give the page and the picture of a posterior, or of those of groups, as far as they are wanted."""
        made = {}
        with watch(what="drawing"):
            if self.html_file is not None:
                made[self.html_file] = page(answer, self.look)
            if self.plot_file is not None:
                made[self.plot_file] = shares(answer, self.look, self.plot_file)
        return made

    def _print(self, posterior: "Posterior") -> None:
        if sys.stdout.isatty():
            print_table(tabulate(posterior, **self.look))
        else:
            typer.echo(text(posterior, **self.look))

    @property
    def look(self) -> dict[str, Any]:
        """The interval that is wanted, in the library's words."""
        return {"level": self.level, "kind": self.interval, "target": self.target}


def _json(summary: dict[str, Any]) -> str:
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
