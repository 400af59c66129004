"""Where the counts come from: rows in files, a matrix, counts, or a survey."""

from dataclasses import dataclass, fields
from pathlib import Path

import typer

from truecount._types import FloatArray
from truecount.cli.options import read_fraction, read_rate
from truecount.counts import Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was said about the data; the fields are those of the command."""

    tables: list[Path]
    label: str | None = None
    prediction: str | None = None
    missing: str | None = None
    confusion: Path | None = None
    unlabeled: Path | None = None
    positive: str | None = None
    sensitivity: str | None = None
    specificity: str | None = None

    def read(self) -> tuple[Counts, FloatArray | None]:
        """Give the counts, and the rows of the confusion that are known, if any are."""
        self._require_option_before_file()
        if self.tables and self._is_counts():
            return self._counts(), None
        if self.tables:
            return self._rows(), None
        if self.confusion or self.unlabeled:
            return self._matrix(), None
        if self.positive or self.sensitivity or self.specificity:
            return self._survey()
        raise typer.BadParameter("There is no data. Name a file, or give --confusion, or --positive.")

    def _is_counts(self) -> bool:
        from truecount.counts.shards import holds_lines

        if len(self.tables) != 1 or self.label or self.prediction:
            return False
        return self.tables[0].suffix.lower() == ".json" and not holds_lines(self.tables[0])

    def _counts(self) -> Counts:
        from truecount.counts.exchange import read_counts

        self._require("a file of counts", ("tables",))
        return read_counts(self.tables[0])

    def _rows(self) -> Counts:
        from truecount.counts.files import count_files

        self._require("a file", ("tables", "label", "prediction"), ("missing",))
        if len(self.tables) > 2:
            raise typer.BadParameter(
                f"{len(self.tables)} files were named. Name one table, or a labelled and an unlabelled one."
            )
        return count_files(*self.tables, label=self.label or "", prediction=self.prediction or "", missing=self.missing)

    def _matrix(self) -> Counts:
        from truecount.counts.matrix import read_matrix

        self._require("a confusion matrix", ("confusion", "unlabeled"))
        return read_matrix(str(self.confusion), str(self.unlabeled))

    def _survey(self) -> tuple[Counts, FloatArray | None]:
        from truecount.counts.survey import survey

        self._require("a survey", ("positive", "sensitivity", "specificity"))
        return survey(
            read_fraction("--positive", self.positive or ""),
            sensitivity=read_rate("--sensitivity", self.sensitivity or ""),
            specificity=read_rate("--specificity", self.specificity or ""),
        )

    def _require_option_before_file(self) -> None:
        """Notice a file of counts whose option was forgotten beside the other one's."""
        names_one = bool(self.confusion) != bool(self.unlabeled)
        if names_one and len(self.tables) == 1 and not (self.label or self.prediction):
            lacking = "--confusion" if self.unlabeled else "--unlabeled"
            raise typer.BadParameter(f"Put {lacking} before {self.tables[0]}.")

    def _require(self, what: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
        """Insist on all options that belong to this kind of data and on none that belong to another."""
        given = {field.name for field in fields(self) if getattr(self, field.name) not in (None, [])}
        stray = [_option(name) for name in sorted(given - {*needed, *allowed})]
        if stray:
            raise typer.BadParameter(f"{what.capitalize()} does not go with {' and '.join(stray)}.")
        missing = [_option(name) for name in needed if name not in given]
        if missing:
            raise typer.BadParameter(f"{what.capitalize()} also needs {' and '.join(missing)}.")


def _option(name: str) -> str:
    return "a file" if name == "tables" else f"--{name}"
