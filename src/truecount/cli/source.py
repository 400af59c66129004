"""Where the counts come from: rows in files, a matrix, counts, or a survey."""

import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from truecount._secrets import masked
from truecount._types import FloatArray
from truecount.cli.options import read_by, read_populations, read_rate
from truecount.cli.wording import in_command
from truecount.counts import Counts
from truecount.errors import InputError, TruecountWarning

if TYPE_CHECKING:
    from truecount.counts.assemble import Reading
    from truecount.counts.tally import Tally

STDIN = "-"
MOST_GROUPS = 10_000


@dataclass(frozen=True, slots=True)
class Groups:
    """Counts of each group, and the columns that the groups are made by."""

    by: tuple[str, ...]
    counts: dict[Any, Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was said about the data; the fields are those of the command."""

    tables: Sequence[str]
    label: str | None = None
    prediction: str | None = None
    by: Sequence[str] | None = None
    weight: str | None = None
    missing: Sequence[str] | None = None
    confusion: Path | None = None
    unlabeled: Path | None = None
    positive: Sequence[str] | None = None
    sensitivity: str | None = None
    specificity: str | None = None

    def read(self) -> tuple[Counts | Groups, FloatArray | None]:
        """Give the counts, by group where there are groups, and the rows of the confusion that are known, if any."""
        self._require_option_before_file()
        if self.tables:
            with on_disk(self.tables) as tables:
                tally = self._counted(tables) if self._is_counts(tables) else self._rows(tables)
                return (self._groups(tables[0], tally) if tally.by else self._one(tables[0], tally)), None
        if self.confusion or self.unlabeled:
            return self._matrix(), None
        if self.positive or self.sensitivity or self.specificity:
            return self._surveys()
        raise typer.BadParameter("There is no data. Name a file, or give --confusion, or --positive.")

    @property
    def asks_for_groups(self) -> bool:
        """Whether the options make groups; a file of counts may have some without them."""
        return bool(self.by) or any("=" in entry for entry in self.positive or ())

    @property
    def may_be_of_groups(self) -> bool:
        """Whether groups may be found: not among rows whose columns are named, unless some make groups."""
        return self.asks_for_groups or bool(self.tables and not (self.label or self.prediction))

    def files(self) -> list[Path]:
        """Return the files and folders that are read, which nothing may be written to."""
        from truecount.reading.remote import places_read

        named = [*self.tables, *(str(path) for path in (self.confusion, self.unlabeled) if path is not None)]
        return [place for path in named for place in places_read("/dev/stdin" if path == STDIN else path)]

    def read_one(self, what: str) -> tuple[Counts, FloatArray | None]:
        """Give the counts of one population; `what` is said not to go with several groups."""
        self.refuse_groups(what)
        counts, known = self.read()
        if isinstance(counts, Groups):
            raise typer.BadParameter(f"{what} does not go with groups.")
        return counts, known

    def refuse_groups(self, what: str) -> None:
        """Refuse groups that were asked for, before anything is read."""
        if self.asks_for_groups:
            raise typer.BadParameter(f"{what} does not go with groups.")

    def shard(self) -> "Tally":
        """Count rows that may be a part of the data only: without a label, or with a single class."""
        return self._rows(self.tables, is_shard=True)

    def labeled(self) -> Counts:
        """Count the rows of a table that is labelled throughout."""
        from truecount.counts.files import File

        self._require("a file", ("tables", "label", "prediction"), ("missing", "weight"))
        return self._reading().of_labeled(File(self.tables[0])).counts()

    def _is_counts(self, tables: Sequence[str]) -> bool:
        """Whether this is a file of counts, of which there is one only."""
        from truecount.reading.shards import holds_lines

        if self.label or self.prediction:
            return False
        is_counts = all(Path(table).suffix.lower() == ".json" and not holds_lines(Path(table)) for table in tables)
        if is_counts and len(tables) > 1:
            merge = f"truecount counts merge {' '.join(map(masked, self.tables))} -o merged.json"
            raise typer.BadParameter(f"These are {len(tables)} files of counts. Merge them first: {merge}")
        return is_counts

    def _counted(self, tables: Sequence[str]) -> "Tally":
        from truecount.counts.exchange import read_tally

        self._require("a file of counts", ("tables",))
        tally = read_tally(tables[0])
        tally.require_shared_outputs(tables[0])
        return tally

    @staticmethod
    def _groups(path: str, tally: "Tally") -> Groups:
        if not tally.groups():
            needed, remedy = "they are made of unlabelled rows", "Merge it with counts that have some"
            raise InputError(path, "holds no groups", needed, f"{remedy}: truecount counts merge")
        if len(tally.groups()) > MOST_GROUPS:
            found, needed = f"makes {len(tally.groups()):,} groups", f"at most {MOST_GROUPS:,} are inferred in one run"
            remedy = "Make coarser groups, or count them with truecount counts and infer parts of them in Python"
            raise InputError("by", found, needed, remedy)
        return Groups(tally.by, tally.by_group())

    @staticmethod
    def _one(path: str, tally: "Tally") -> Counts:
        from truecount.counts.exchange import as_counts

        return as_counts(path, tally)

    def _rows(self, tables: Sequence[str], *, is_shard: bool = False) -> "Tally":
        from truecount.counts.files import tally_files

        needed = ("tables", "prediction") if is_shard and len(tables) == 1 else ("tables", "label", "prediction")
        self._require("a file", needed, ("label", "missing", "by", "weight"))
        if len(tables) > 2:
            raise typer.BadParameter(
                f"{len(tables)} files were named. Name one table, or a labelled and an unlabelled one; "
                "a pattern in quotes or a folder is one table."
            )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", TruecountWarning)
            tally = tally_files(self._reading(is_shard=is_shard), *tables)
        for each in said:
            typer.echo(in_command(str(each.message)), err=True)
        return tally

    def _reading(self, *, is_shard: bool = False) -> "Reading":
        from truecount.counts.assemble import Reading
        from truecount.reading.columns import Columns

        columns = Columns(
            label=self.label, prediction=self.prediction or "", by=read_by(self.by or ()), weight=self.weight
        )
        return Reading(columns=columns, missing=self.missing, is_shard=is_shard)

    def _matrix(self) -> Counts:
        from truecount.counts.matrix import read_matrix

        self._require("a confusion matrix", ("confusion", "unlabeled"))
        return read_matrix(str(self.confusion), str(self.unlabeled))

    def _surveys(self) -> tuple[Counts | Groups, FloatArray | None]:
        """Read one population, or several that were surveyed by one test and share its validation."""
        from truecount.counts.survey import survey
        from truecount.counts.table import sharing

        self._require("a survey", ("positive", "sensitivity", "specificity"))
        rates = {
            "sensitivity": read_rate("--sensitivity", self.sensitivity or ""),
            "specificity": read_rate("--specificity", self.specificity or ""),
        }
        populations = read_populations("--positive", self.positive or ())
        surveys = {name: survey(positive, **rates) for name, positive in populations.items()}
        if None in surveys:
            return surveys[None]
        known = next(iter(surveys.values()))[1]
        return Groups(("population",), sharing({name: counts for name, (counts, _) in surveys.items()})), known

    def _require_option_before_file(self) -> None:
        """Notice a file of counts whose option was forgotten beside the other one's."""
        names_one = bool(self.confusion) != bool(self.unlabeled)
        if names_one and len(self.tables) == 1 and not (self.label or self.prediction):
            lacking = "--confusion" if self.unlabeled else "--unlabeled"
            raise typer.BadParameter(f"Put {lacking} before {masked(self.tables[0])}.")

    def _require(self, what: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
        """Insist on all options that belong to this kind of data and on none that belong to another."""
        given = {field.name for field in fields(self) if getattr(self, field.name) not in (None, [], ())}
        stray = [_option(name) for name in sorted(given - {*needed, *allowed})]
        if stray:
            raise typer.BadParameter(f"{what.capitalize()} does not go with {' and '.join(stray)}.")
        missing = [_option(name) for name in needed if name not in given]
        if missing:
            raise typer.BadParameter(f"{what.capitalize()} also needs {' and '.join(missing)}.")


def _option(name: str) -> str:
    return "a file" if name == "tables" else f"--{name}"


@contextmanager
def on_disk(tables: Sequence[str]) -> Iterator[list[str]]:
    """Give the tables, with a copy on disk in place of ``-``, the standard input, which is gone afterwards."""
    if STDIN not in tables:
        yield list(tables)
        return
    if list(tables).count(STDIN) > 1:
        raise typer.BadParameter("The standard input, -, can be read once only.")
    with tempfile.TemporaryDirectory(prefix="truecount-") as folder:
        copy = str(_copied(Path(folder) / "stdin"))
        try:
            yield [copy if table == STDIN else table for table in tables]
        except InputError as error:
            parts = (error.argument, error.found, error.needed, error.remedy)
            raise InputError(*(part.replace(copy, "standard input") for part in parts)) from error


def _copied(path: Path) -> Path:
    """Copy the standard input, and give it the ending that its first signs call for."""
    with path.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    with path.open("rb") as stream:
        first = stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    ending = ".parquet" if first[:4] == b"PAR1" else ".json" if first[:1] in (b"{", b"[") else ".csv"
    return path.rename(path.with_suffix(ending))
