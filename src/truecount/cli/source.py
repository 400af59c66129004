"""Where the counts come from: rows in files, a matrix, counts, or a survey."""

import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truecount._advice import worded
from truecount._secrets import masked
from truecount._types import FloatArray
from truecount.cli.options import MisuseError, among, read_by, read_columns, read_populations, read_rate
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import InputError, TruecountWarning
from truecount.models import LabelShift, TargetLabels
from truecount.models.published import Pert

if TYPE_CHECKING:
    from truecount.counts.survey import Rate
    from truecount.counts.tally import Tally
    from truecount.reading.rows import Reading, Table

STDIN, TARGET = "-", "--target-labels"
ROWS = ("label", "missing", "by", "study", "weight", "cluster", "outputs_are_classes")
"""What may be said of rows."""
MOST_GROUPS = 10_000
"""Groups that are inferred jointly, or checked, in one run."""
NOTHING: dict[str, Any] = {"sensitivity": None, "specificity": None}
"""Rates of which a study says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was said about the data; the fields are those of the command."""

    tables: Sequence[str] = ()
    label: Sequence[str] | None = None
    prediction: Sequence[str] | None = None
    by: Sequence[str] | None = None
    study: Sequence[str] | None = None
    weight: str | None = None
    cluster: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    outputs_are_classes: bool = False
    confusion: Path | None = None
    unlabeled: Path | None = None
    positive: Sequence[str] | None = None
    sensitivity: Sequence[str] | None = None
    specificity: Sequence[str] | None = None

    @classmethod
    def among(cls, options: Mapping[str, Any]) -> "Source":
        """Return what was said about the data among all options of a command, which are named like the fields."""
        one_rate = {name: [rate] for name in NOTHING if isinstance(rate := options.get(name), str)}
        return among(cls, {**options, **one_rate})

    def read(self) -> tuple[Counts | Groups, FloatArray | None]:
        """Return the counts, by group where there are groups, and the rows of the confusion that are known, if any."""
        data, known = self.read_any()
        if isinstance(data, Ratings):
            number = len(data.raters)
            needed = (
                "labels of several raters are for truecount estimate, under label shift and without --target-labels"
            )
            if self.label:
                raise click.BadParameter(f"--label is given {number} times: {needed}. Write --label once.")
            where = masked(self.tables[0])
            raise click.BadParameter(f"{where} holds labels of {number} raters: {needed}. Count with --label once.")
        if isinstance(data, Groups):
            require_few_groups(data)
        return data, known

    def read_any(self) -> tuple[Counts | Groups | Ratings, FloatArray | None]:
        """Return the counts of any number of groups, or the patterns of labels of several raters."""
        self._require_option_before_file()
        if self.tables:
            with on_disk(self.tables) as tables:
                found = self._counted(tables) if self._is_counts(tables) else self._rows(tables)
                return self._data(tables[0], found), None
        if self.confusion or self.unlabeled:
            return self._matrix(), None
        if self.positive or self.sensitivity or self.specificity:
            return self._surveys()
        raise click.BadParameter("There is no data. Name a file, or give --confusion, or --positive.")

    @property
    def asks_for_groups(self) -> bool:
        """Whether the options make groups; a file of counts may have some without them."""
        several = max(len(self.sensitivity or ()), len(self.specificity or ())) > 1
        return bool(self.by or self.study) or several or any("=" in entry for entry in self.positive or ())

    @property
    def may_be_of_groups(self) -> bool:
        """Whether groups may be found: not among rows whose columns are named, unless some make groups."""
        return self.asks_for_groups or bool(self.tables and not (self.label or self.prediction))

    def files(self) -> list[Path]:
        """Return the files and folders that are read, which nothing may be written to."""
        from truecount.reading.locate import places_read

        named = [*self.tables, *(str(path) for path in (self.confusion, self.unlabeled) if path is not None)]
        return [place for path in named for place in places_read("/dev/stdin" if path == STDIN else path)]

    def read_under(self, design: str) -> tuple[Counts | Groups | Ratings, FloatArray | None]:
        """Return the counts; groups, any number of them, and labels of several raters only under label shift."""
        if design == "by-prediction" and (self.sensitivity or self.specificity):
            needed = "sensitivity and specificity are shares of each class, and do not tell which classes an output has"
            raise MisuseError("--design", "is 'by-prediction'", needed, "Leave out --design, or give --confusion")
        return self.read_any() if design == "label-shift" else self.read_one("--design")

    def read_one(self, what: str) -> tuple[Counts, FloatArray | None]:
        """Return the counts of one population; `what` is said not to go with several groups."""
        self.refuse_groups(what)
        counts, known = self.read()
        if isinstance(counts, Groups):
            raise _not_of_groups(what)
        return counts, known

    def refuse_groups(self, what: str) -> None:
        """Refuse groups and several studies that were asked for, before anything is read."""
        for option, entries in (("--sensitivity", self.sensitivity), ("--specificity", self.specificity)):
            if len(entries or ()) > 1:
                needed = f"{what} takes one study of each rate, and rates that vary between studies are beyond it"
                remedy = f"Leave {what} out, or give {option} once, with the study that you trust"
                raise click.BadParameter(f"{option} is given {len(entries or ())} times: {needed}. {remedy}.")
        if self.asks_for_groups:
            raise _not_of_groups(what)

    def shard(self) -> "Tally":
        """Count rows that may be a part of the data only: without a label, or with a single class."""
        return self._rows(self.tables, is_shard=True)

    def labeled(self) -> Counts:
        """Count the rows of a table that is labelled throughout."""
        from truecount.counts.tally import tallied
        from truecount.reading.files import table_of

        self._require("a file", ("tables", "label", "prediction"), ("missing", "weight"))
        reading, file = self._reading(), table_of(self.tables)
        return tallied(reading.of_labeled(file), reading, file.name).to_counts()

    def of_population(self, labels: Path, option: str) -> Counts:
        """Read labelled items of the population: counts where the file holds them, else rows with named columns."""
        from truecount.counts.matrix import holds_matrix, read_confusion
        from truecount.reading.locate import holds_counts

        if holds_counts(labels):
            return Source(tables=[str(labels)]).read_one(option)[0]
        if holds_matrix(labels) or self.confusion is not None:
            return read_confusion(labels)
        if self.label or self.prediction:
            columns: dict[str, Any] = {name: getattr(self, name) for name in ("label", "prediction", "missing")}
            return Source(tables=[str(labels)], **columns, weight=self.weight).labeled()
        raise click.BadParameter(f"{option} {labels} is a table: name its columns with --label and --prediction.")

    def without_columns(self) -> "Source":
        """Return the data without the columns that labels of the population alone have, where all else is counted."""
        from truecount.reading.locate import holds_counts

        is_counted = self.confusion or self.positive or any(holds_counts(Path(table)) for table in self.tables)
        return replace(self, label=None, prediction=None, missing=None) if is_counted else self

    def _is_counts(self, tables: Sequence[str]) -> bool:
        """Whether this is a file of counts, of which there is one only."""
        from truecount.reading.files import File, table_of
        from truecount.reading.locate import holds_lines

        if self.label or self.prediction or not isinstance(table_of(tables), File):
            return False
        is_counts = all(Path(table).suffix.lower() == ".json" and not holds_lines(Path(table)) for table in tables)
        if is_counts and len(tables) > 1:
            merge = f"truecount counts merge {' '.join(map(masked, self.tables))} -o merged.json"
            raise click.BadParameter(f"These are {len(tables)} files of counts. Merge them first: {merge}")
        return is_counts

    def _counted(self, tables: Sequence[str]) -> "Tally | Groups":
        from truecount.counts.exchange import read_counts

        self._require("a file of counts", ("tables",))
        found = read_counts(tables[0])
        if not isinstance(found, Groups):
            found.require_shared_outputs(tables[0])
        return found

    @staticmethod
    def _data(path: str, found: "Tally | Groups") -> Counts | Groups | Ratings:
        """Return what is to be inferred from; an error names the file that it came from."""
        try:
            data = found if isinstance(found, Groups) else found.to_data()
        except InputError as error:
            raise error.about(f"{path}: {error.argument}") from error
        return data

    def _rows(self, tables: Sequence[str], *, is_shard: bool = False) -> "Tally":
        from truecount.reading.files import File, table_of

        first = table_of(tables)
        if not isinstance(first, File):
            return self._of_log(first, needs_label=not is_shard)._tally([first], is_shard=is_shard)
        needed = ("tables", "prediction") if is_shard and len(tables) == 1 else ("tables", "label", "prediction")
        self._require("a file", needed, ROWS)
        if len(tables) > 2:
            raise click.BadParameter(
                f"{len(tables)} files were named. Name one table, or a labelled and an unlabelled one; "
                "a pattern in quotes or a folder is one table."
            )
        return self._tally([first, *map(File, tables[1:])], is_shard=is_shard)

    def _of_log(self, log: Any, *, needs_label: bool) -> "Source":
        """Return what is read of the logs of an evaluation tool, all of which are one table."""
        from truecount.counts.logs import named_fields
        from truecount.reading.logs.record import Fields

        self._require("a log", ("tables",), ("prediction", *ROWS))
        asked = Fields(label=self.label, prediction=self.prediction, cluster=read_columns(self.cluster or ()) or None)
        by = [*read_by(self.by or ()), *read_columns(self.study or ())]
        fields = named_fields(log, asked, by=by, needs_label=needs_label)
        label, prediction = ([each] if isinstance(each, str) else each for each in (fields.label, fields.prediction))
        cluster = [fields.cluster] if isinstance(fields.cluster, str) else fields.cluster
        return replace(self, label=label, prediction=prediction, cluster=cluster)

    def _tally(self, tables: "Sequence[Table]", *, is_shard: bool) -> "Tally":
        from truecount.counts.tally import tally_tables

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", TruecountWarning)
            tally = tally_tables(self._reading(is_shard=is_shard), *tables)
        for each in said:
            words = each.message.args[0] if isinstance(each.message, Warning) else each.message
            click.echo(worded(words, "estimate"), err=True)
        if self.outputs_are_classes:
            tally.take_outputs_for_classes()
        return tally

    def _reading(self, *, is_shard: bool = False) -> "Reading":
        from truecount.reading.columns import Columns, column_names
        from truecount.reading.rows import Reading

        columns = Columns(
            label=None if not self.label else column_names("label", self.label),
            prediction=column_names("prediction", self.prediction or ""),
            by=read_by(self.by or ()),
            weight=self.weight,
            cluster=column_names("cluster", read_columns(self.cluster)) if self.cluster else None,
            study=column_names("study", read_columns(self.study)) if self.study else None,
        )
        if self.outputs_are_classes and (len(columns.labels) > 1 or len(columns.predictions) > 1):
            raise click.BadParameter("--outputs-are-classes goes with one --label and one --prediction.")
        return Reading.told(columns, missing=self.missing, is_shard=is_shard)

    def _matrix(self) -> Counts:
        from truecount.counts.matrix import read_matrix

        self._require("a confusion matrix", ("confusion", "unlabeled"))
        return read_matrix(str(self.confusion), str(self.unlabeled))

    def _surveys(self) -> tuple[Counts | Groups, FloatArray | None]:
        """Read one population, or several that were surveyed by one test and share its validation."""
        from truecount.counts.survey import survey

        self._require("a survey", ("positive", "sensitivity", "specificity"))
        populations = read_populations("--positive", self.positive or ())
        studies = self._studies()
        first_rates = {
            option: None if isinstance(rate := rates[0], Pert) else rate for option, rates in studies.items()
        }
        surveys = {name: survey(positive, **first_rates) for name, positive in populations.items()}
        is_one_study = all(len(rates) == 1 for rates in studies.values())
        if None in surveys and is_one_study:
            return surveys[None]
        first, known = next(iter(surveys.values()))
        labeled: Any = first.labeled
        if not is_one_study:
            positive = next(iter(populations.values()))
            labeled = {
                f"{option} {number}": survey(positive, **{**NOTHING, option: rate})[0].labeled
                for option, rates in studies.items()
                for number, rate in enumerate(rates, 1)
                if isinstance(rate, tuple)
            }
            surveys = {name or "survey": each for name, each in surveys.items()}
        each = {name: counts for name, (counts, _) in surveys.items()}
        squares: dict[str, Any] = {}
        if any(counts.is_weighted for counts in each.values()):
            squares["labeled_squares"] = first.squares()[0] if is_one_study else labeled
            squares["unlabeled_squares"] = {name: counts.squares()[1] for name, counts in each.items()}
        unlabeled = {name: counts.unlabeled for name, counts in each.items()}
        return Groups(labeled, unlabeled, first.classes, first.outputs, by=("population",), **squares), known

    def _studies(self) -> dict[str, list["Rate | Pert"]]:
        """Read what was said of both rates: of several studies, what each of them counted."""
        found = {}
        for option, entries in (("sensitivity", self.sensitivity), ("specificity", self.specificity)):
            found[option] = [read_rate(f"--{option}", text) for text in entries or ()]
            if len(found[option]) > 1 and not all(isinstance(rate, tuple) for rate in found[option]):
                needed = "each of several studies has counts"
                remedy = f"Write --{option} 78/85 --{option} 27/37, or the option once"
                raise InputError(f"--{option}", f"is given {len(found[option])} times", needed, remedy)
        return found

    def published(self) -> dict[str, Pert]:
        """Return the rates that have a range, by their class."""
        if not (self.sensitivity or self.specificity):
            return {}
        studies = self._studies()
        rates = {"negative": studies["specificity"], "positive": studies["sensitivity"]}
        return {name: each[0] for name, each in rates.items() if each and isinstance(each[0], Pert)}

    def refuse_ranges(self, what: str) -> None:
        """Refuse rates with a range, which only `estimate` takes."""
        if self.published():
            raise click.BadParameter(f"{what} takes no range such as 80%..95%: write counts such as 103/122, or 0.96.")

    def _require_option_before_file(self) -> None:
        """Notice a file of counts whose option was forgotten beside the other one's."""
        names_one = bool(self.confusion) != bool(self.unlabeled)
        if names_one and len(self.tables) == 1 and not (self.label or self.prediction):
            lacking = "--confusion" if self.unlabeled else "--unlabeled"
            raise click.BadParameter(f"Put {lacking} before {masked(self.tables[0])}.")

    def _require(self, what: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
        """Insist on all options that belong to this kind of data and on none that belong to another."""
        given = {field.name for field in fields(self) if getattr(self, field.name) not in (None, False, [], ())}
        stray = [_option(name) for name in sorted(given - {*needed, *allowed})]
        if stray:
            raise click.BadParameter(f"{what.capitalize()} does not go with {' and '.join(stray)}.")
        missing = [_option(name) for name in needed if name not in given]
        if missing:
            raise click.BadParameter(f"{what.capitalize()} also needs {' and '.join(missing)}.")


def require_few_groups(groups: Groups) -> None:
    """Refuse more groups than are inferred jointly, or checked, in one run."""
    if len(groups) > MOST_GROUPS:
        counted, needed = f"makes {len(groups):,} groups", f"at most {MOST_GROUPS:,} are looked at together in one run"
        remedy = "Infer them one by one, truecount estimate ... --output results.parquet, or make coarser groups"
        raise InputError("by", counted, needed, remedy)


def _not_of_groups(what: str) -> click.BadParameter:
    """Say why an option is of one population only, and what to do."""
    reason, remedy = "it is of one population", f"Leave {what} out, or pass the rows of one group at a time"
    if what == "--design":
        reason = "groups differ in their shares, and labels carry over from one to the other under label shift alone"
        sampled = "If labels of a group are a random sample of it, give --random-labels and --study COLUMN as in --by"
        remedy = f"{sampled}; or leave --design out, or pass the rows of one group at a time"
    return click.BadParameter(f"{what} does not go with groups: {reason}. {remedy}.")


def _option(name: str) -> str:
    return "a file" if name == "tables" else f"--{name.replace('_', '-')}"


@contextmanager
def on_disk(tables: Sequence[str]) -> Iterator[list[str]]:
    """Yield the tables, with a copy on disk in place of ``-``, the standard input, which is gone afterwards."""
    if STDIN not in tables:
        yield list(tables)
        return
    if list(tables).count(STDIN) > 1:
        raise click.BadParameter("The standard input, -, can be read once only.")
    with tempfile.TemporaryDirectory(prefix="truecount-") as folder:
        copy = str(_copied(Path(folder) / "stdin"))
        try:
            yield [copy if table == STDIN else table for table in tables]
        except InputError as error:
            raise error.calling({copy: "standard input"}) from error


def _copied(path: Path) -> Path:
    """Copy the standard input, and name it by the ending that its first characters call for."""
    with path.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    with path.open("rb") as stream:
        first = stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    known = {b"PAR1": ".parquet", b"PK\x03\x04": ".eval"}
    ending = known.get(first[:4], ".json" if first[:1] in (b"{", b"[") else ".csv")
    return path.rename(path.with_suffix(ending))


def read_target(text: str, source: Source) -> tuple[Counts | Groups, LabelShift]:
    """Return the counts and a model that knows the labels of the population, or of each group.

    Parameters
    ----------
    text
        A file of labelled items, or ``column=value``: the labelled rows of the population among those of the data.
    source
        The data.
    """
    column, is_column, value = text.partition("=")
    if source.study:
        needed = "it names the column that says where labels come from"
        raise MisuseError(TARGET, "is given with --study", needed, "Leave one of them out")
    if is_column and not Path(text).exists():
        data, _ = replace(source, study=[*(source.by or ()), column]).read()
        if not isinstance(data, Groups):
            needed = "a column of the data says where labels come from"
            raise InputError(TARGET, f"is {text!r}", needed, "Name a file of rows, or of labels of the population")
        values = {
            str(each): each for each in (key[-1] if isinstance(key, tuple) else key for key in data.studies or ())
        }
        if value not in values:
            needed = f"labels have {', '.join(map(repr, values)) or 'nothing'} in column {column!r}"
            raise InputError(TARGET, f"is {text!r}", needed, "Name the value of labels of the population itself")
        _refuse_items_of_elsewhere(replace(source, by=[*(source.by or ()), column]), column, value)
        return TargetLabels.of_study(data, values[value])
    if source.asks_for_groups:
        needed = "labels of groups are told apart by a column of the data"
        remedy = f"Put them into the same table, and write {TARGET} COLUMN=VALUE, or leave the groups out"
        raise MisuseError(TARGET, "names a file, and there are groups", needed, remedy)
    counts, _ = source.without_columns().read_one(TARGET)
    found = source.of_population(Path(text), TARGET)
    from truecount.diagnostics.evidence import audited

    table = audited(counts, found, lambda each: (each.labeled.astype(float), each.unlabeled.astype(float)))
    return counts, TargetLabels(labeled=table)


def _refuse_items_of_elsewhere(source: Source, column: str, value: str) -> None:
    """Refuse unlabelled rows that the column says are not of the population."""
    data, _ = source.read()
    sizes = zip(data.groups, data.unlabeled.sum(axis=1).tolist(), strict=True) if isinstance(data, Groups) else ()
    items = [(key[-1] if isinstance(key, tuple) else key, size) for key, size in sizes if size]
    others = {str(name): size for name, size in items if name is not None and str(name) != value}
    if others:
        name, size = max(others.items(), key=lambda each: each[1])
        found = f"is '{column}={value}', and of rows without a label {size:,.0f} have {name!r} in column {column!r}"
        remedy = f"Remove these rows, or write {value!r} or nothing in that column where a row is of the population"
        raise InputError(TARGET, found, "rows without a label are items of the population itself", remedy)
