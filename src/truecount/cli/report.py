"""What the command writes: files, and what stands on the screen."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truecount._atomic import require_writable, write_whole
from truecount._check import level as checked_level
from truecount._progress import watch
from truecount._types import Name
from truecount._wording import visible
from truecount.cli.options import named_class
from truecount.cli.pictures import picture_format, shares
from truecount.cli.screen import print_table
from truecount.counts import Counts
from truecount.results.claim import ShareClaim, Side, claim_columns
from truecount.results.export.frame import to_csv, to_parquet
from truecount.results.export.openmetrics import to_openmetrics
from truecount.results.export.values import rows_of, to_dict
from truecount.results.separate.row_files import Output, write_rows
from truecount.results.summary import Look, Table, remark, require_realizable, tabulate

if TYPE_CHECKING:
    from truecount.results import Finding, Posterior
    from truecount.results.each_classifier import EachClassifier
    from truecount.results.summary import Kind, Target

ENDINGS = {
    "json": (".json",),
    "csv": (".csv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "html": (".html", ".htm"),
    "openmetrics": (".prom", ".om", ".txt"),
    "junit": (".xml",),
}
"""What a file may be called that is written in each format."""
OTHERS = (".tsv", ".jsonl", ".ndjson", ".xlsx", ".xls", ".ods", ".npz", ".gz", ".zst", ".zip")
PICTURES = (".png", ".svg", ".pdf")
FORMATS = {*(ending for endings in ENDINGS.values() for ending in endings), *OTHERS, *PICTURES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Which summary is wanted, and where it goes; ``-`` is the standard output, and `inputs` are not written to."""

    level: float = 0.95
    interval: "Kind" = "equal-tailed"
    target: "Target" = "population"
    of_interest: str | None = None
    by_size: bool = False
    json_file: str | None = None
    csv_file: str | None = None
    html_file: str | None = None
    plot_file: str | None = None
    parquet_file: str | None = None
    openmetrics_file: str | None = None
    junit_file: str | None = None
    title: str | None = None
    with_table: bool = False
    is_quiet: bool = False
    inputs: Sequence[Path] = ()
    rows_file: Output | None = None

    def __post_init__(self) -> None:
        checked_level(self.level)
        wanted: dict[str, str] = {}
        for option in ("json", "csv", "parquet", "html", "plot", "openmetrics", "junit"):
            path = getattr(self, f"{option}_file")
            if path is None:
                continue
            place = path if path == "-" else realpath(path)
            if place in wanted:
                raise click.BadParameter(f"--{wanted[place]} and --{option} cannot both go to {path!r}.")
            wanted[place] = option
            if path != "-":
                require_writable(path, self.inputs)
                require_ending(option, path)
        if self.plot_file is not None:
            picture_format(self.plot_file)

    def deliver(
        self, posterior: "Posterior", each: "EachClassifier | None" = None, claims: Sequence[ShareClaim] = ()
    ) -> None:
        """Write the summary of a posterior to the files, or print it as a table, with what each classifier adds.

        Claims stand beside the shares of their classes; those that do not hold are alerts.
        """
        alerts = [claim for claim in claims if claim.is_improbable]
        more: dict[str, Any] = {} if self.of_interest is None else {"class_of_interest": self.shown_class(posterior)}
        more |= {} if each is None else {"classifiers": each.to_dict()}
        more |= {"alerts": [claim.to_dict() for claim in alerts]} if claims else {}

        def summary() -> dict[str, Any]:
            values = {**to_dict(posterior, self.look), **more}
            return {**values, "classes": with_claims(values["classes"], claims)}

        self.write(
            summary,
            lambda _: with_claims(self.rows_of(posterior), claims),
            lambda: self.show(posterior, each, claims),
            lambda: self.pictures(posterior, each, claims),
            posterior.findings,
        )
        if (self.writes_files or self.rows_file is not None) and not self.with_table:
            for claim in alerts:
                click.echo(f"Alert: {visible(claim.alert)}", err=True)

    def require_claims_shown(self, thresholds: Mapping[Side, Mapping[Name, float]], classes: Sequence[Name]) -> None:
        """Refuse a claim about a class whose row --class leaves out."""
        if self.of_interest is None:
            return
        shown = named_class("--class", self.of_interest, classes)
        for side, claimed in thresholds.items():
            for name in claimed:
                if name != shown:
                    about = f"--{side} asks about {visible(name)}, whose row --class {self.of_interest} leaves out."
                    raise click.BadParameter(f"{about} Name the same class, or leave out --class.")

    def show(
        self, posterior: "Posterior", each: "EachClassifier | None" = None, claims: Sequence[ShareClaim] = ()
    ) -> None:
        """Print alerts, the table of shares with claims below, and tables of raters and of classifiers."""
        for claim in claims:
            if claim.is_improbable:
                self.print(Table([], [], (), headline=f"Alert: {visible(claim.alert)}"))
        table = tabulate(posterior, self.look, classes=self.shown(posterior))
        self.print(replace(table, note="\n".join(filter(None, [table.note, *map(str, claims)]))))
        if posterior.raters is not None and posterior.has_answer:
            click.echo()
            self.print(posterior.raters.table(self.level))
        if each is not None:
            click.echo()
            self.print(each.table(self.shown_class(posterior)))

    def shown_class(self, posterior: "Posterior") -> Name | None:
        """Return the class of interest, if there is one."""
        shown = self.shown(posterior)
        return shown[0] if shown is not None and self.of_interest is not None else None

    def write(
        self,
        summary: Callable[[], dict[str, Any]],
        rows: Callable[[dict[str, Any]], list[dict[str, Any]]],
        show: Callable[[], None],
        pictures: Callable[[], dict[str, bytes]] = dict,
        findings: Iterable["Finding"] = (),
        keys: int = 0,
    ) -> None:
        """Write the files, all or none, or print; what goes to the standard output stands there alone.

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
        findings
            Are told on the standard error where no table is printed that would tell them.
        keys
            How many columns of the rows, the first ones, say of which group they are.
        """
        encoded = self._encoded(summary, rows) | pictures()
        files = [path for path in encoded if path != "-"]
        write_whole({path: encoded[path] for path in files})
        if self.rows_file is not None:
            write_rows(self.rows_file, rows(summary()), keys, findings)
            files.append(str(self.rows_file.path))
        if "-" in encoded:
            click.echo(encoded["-"], nl=False)
        if not (encoded or files) or (self.with_table and "-" not in encoded):
            show()
        elif self.json_file != "-":
            for finding in findings:
                if not self.is_quiet or finding.severity == "serious":
                    click.echo(remark(finding), err=True)
        if files and not self.is_quiet and self.json_file != "-":
            click.echo(f"Wrote {' and '.join(map(visible, files))}.", err=True)

    def _encoded(
        self, summary: Callable[[], dict[str, Any]], rows: Callable[[dict[str, Any]], list[dict[str, Any]]]
    ) -> dict[str, bytes]:
        """Return what goes to each place; a sign that is not one becomes an escape that JSON reads back."""
        if not any((self.json_file, self.csv_file, self.parquet_file, self.openmetrics_file)):
            return {}
        values, texts = summary(), {}
        if self.json_file is not None:
            texts[self.json_file] = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if self.csv_file is not None:
            texts[self.csv_file] = to_csv(rows(values))
        if self.openmetrics_file is not None:
            texts[self.openmetrics_file] = to_openmetrics(values)
        encoded = {path: text.encode(errors="backslashreplace") for path, text in texts.items()}
        return encoded | ({} if self.parquet_file is None else {self.parquet_file: to_parquet(rows(values))})

    def pictures(
        self, answer: "Posterior", each: "EachClassifier | None" = None, claims: Sequence[ShareClaim] = ()
    ) -> dict[str, bytes]:
        """Return the page and the picture of a posterior, as far as they are wanted."""
        made, classes = {}, self.shown(answer)
        with watch(what="making page and pictures"):
            if self.html_file is not None:
                from truecount.page.answer import TITLE, render

                page = render(
                    answer,
                    self.look,
                    classes=classes,
                    title=TITLE if self.title is None else self.title,
                    command=shlex.join(["truecount", *sys.argv[1:]]),
                    classifiers=None if each is None else each.table(self.shown_class(answer)),
                    claims=claims,
                )
                made[self.html_file] = page.encode(errors="backslashreplace")
            if self.plot_file is not None:
                made[self.plot_file] = shares(answer, self.look, classes, self.plot_file)
        return made

    def print(self, table: Table) -> None:
        """Print a table, on a terminal as wide as that is."""
        if sys.stdout.isatty():
            print_table(table)
        else:
            click.echo(table.to_text())

    def shown(self, posterior: "Posterior") -> tuple[Name, ...] | None:
        """Return the classes that are shown, in their order; None for all as they are."""
        if self.of_interest is not None:
            return (named_class("--class", self.of_interest, posterior.classes),)
        return posterior.by_size() if self.by_size else None

    def require_possible(self, counts: Iterable[Counts]) -> None:
        """Refuse a summary that these counts cannot have, before there is an answer."""
        for each in counts:
            if self.of_interest is not None:
                named_class("--class", self.of_interest, each.classes)
            if self.target == "realized":
                require_realizable(each)

    def rows_of(self, posterior: "Posterior") -> list[dict[str, Any]]:
        """Return the rows of one answer's CSV."""
        rows, shown = rows_of(posterior, self.look), self.shown(posterior)
        return rows if shown is None else [rows[posterior.place(name)] for name in shown]

    @property
    def writes_files(self) -> bool:
        """Whether the answer goes to files, so that no table is printed."""
        tables = (self.json_file, self.csv_file, self.parquet_file, self.openmetrics_file)
        return any((*tables, self.html_file, self.plot_file))

    @property
    def shows_all(self) -> bool:
        """Whether the answer goes where all of it is shown, beyond the rows of groups and classes."""
        is_free = "-" not in (self.csv_file, self.parquet_file, self.openmetrics_file)
        return bool(self.json_file or self.html_file or (self.with_table and is_free))

    @property
    def look(self) -> Look:
        """The summary that is wanted, in the library's words."""
        return Look(level=self.level, kind=self.interval, target=self.target)


def with_claims(rows: Sequence[dict[str, Any]], claims: Sequence[ShareClaim]) -> list[dict[str, Any]]:
    """Return the rows of classes with what was claimed of each."""
    return [{**row, **claim_columns(claims, row["class"])} for row in rows]


def require_ending(option: str, path: str, file_format: str = "") -> None:
    """Refuse a file whose name says that it holds another format than is written."""
    file_format = file_format or option
    ending = Path(path).suffix.lower()
    if file_format in ENDINGS and ending in FORMATS and ending not in ENDINGS[file_format]:
        needed = f"it is written as {file_format.upper()}, whatever it is called"
        meant = Path(path).with_suffix(ENDINGS[file_format][0])
        raise click.BadParameter(f"--{option} {path!r} ends in {ending}: {needed}. Write --{option} {meant}.")
