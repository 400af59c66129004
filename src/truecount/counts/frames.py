"""Tables of any library become counts, by one group-by where the data are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from truecount.counts.assemble import Reading, Table
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.columns import Columns
from truecount.reading.markers import Missing
from truecount.reading.periods import columns_by
from truecount.reading.rows import Row
from truecount.reading.scan import scan


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that narwhals knows, and the argument that it came as."""

    name: str
    native: Any
    is_text: bool = False

    def rows(self, columns: Columns) -> list[Row]:
        """Count the combinations of values in these columns."""
        return scan(self.name, self.native, columns)


def count_table(
    table: Any = None,
    *,
    labeled: Any = None,
    unlabeled: Any = None,
    label: str,
    prediction: str,
    by: str | Iterable[str] | Mapping[str, str | None] | None = None,
    weight: str | None = None,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    missing: Missing = None,
) -> Counts | dict[Any, Counts]:
    r"""Count a table wherever it lives: pandas, polars, Arrow, DuckDB, Dask, Ibis, Spark, or a file.

    The table's own engine does one group-by, in one pass, and only its result is fetched: a row for each class, output
    and group.

    Parameters
    ----------
    table
        A frame, eager or lazy, or the path of a file. Its rows with a missing label are the unlabelled population.
    labeled, unlabeled
        Two tables instead of one: the first labelled throughout, of the second only predictions, groups and weights
        are read.
    label, prediction
        Columns with the true class and with the output: strings, numbers or booleans.
    by
        One or several columns; then the answer has a `Counts` for each group of the unlabelled population. A mapping
        gives columns of times a frequency: ``{"time": "week"}``, ``{"region": None, "time": "month"}``, with minute,
        hour, day, week (from Monday), month, quarter or year.
    weight
        Column of weights, which are summed, and their squares too.
    classes, outputs
        Their names, in the order wanted. Left out, they are the values that occur, sorted.
    missing
        A word that stands for a missing value in labels and predictions, or several, ``["NA", "NaN"]``; ``""`` says
        that no other word does.

    Returns
    -------
    One `Counts`, or with `by` an ordered mapping from group to `Counts` for `infer_many`. The groups share the labelled
    table, which all labelled rows make up whatever their group, so they are not independent of each other: use
    ``infer_many(groups, joint=True)`` before comparing them.

    Notes
    -----
    Values become names by the same rules everywhere. Blanks around a string are not part of it; None, NaN, null and
    nothing but blanks are missing. Whole floats are whole numbers, so that labels which missing values turned into
    floats still match. 1, 1.0 and True are one name; 1 beside ``"1"`` is refused. The words NA, N/A, NaN, null and
    None are refused until `missing` explains them, or `classes` or `outputs` names them.

    Times with a zone are cut in UTC, and groups are named without it. Times without one are taken as they stand.

    Examples
    --------
    >>> import duckdb
    >>> rows = "('pass', 'pass'), ('fail', 'pass'), (NULL, 'pass'), (NULL, 'fail')"
    >>> runs = duckdb.sql(f"FROM (VALUES {rows}) AS runs(human, verdict)")
    >>> count_table(runs, label="human", prediction="verdict")
    Counts: 2 labelled and 2 unlabelled items, 2 classes, 2 outputs
    class\output  fail  pass
    fail             0     1
    pass             0     1
    unlabelled       1     1
    """
    columns = Columns(label=label, prediction=prediction, by=columns_by(by), weight=weight)
    columns.require_distinct()
    reading = Reading(columns=columns, missing=missing, classes=classes, outputs=outputs)
    if table is not None and labeled is None and unlabeled is None:
        tally = reading.of_one(_table("table", table))
    elif table is None and labeled is not None and unlabeled is not None:
        tally = reading.of_two(_table("labeled", labeled), _table("unlabeled", unlabeled))
    else:
        needed = "it is one table, or a labelled and an unlabelled one"
        raise InputError("table", "is given with others, or not at all", needed, "Pass table, or labeled and unlabeled")
    return tally.by_group() if columns.by else tally.counts()


def _table(argument: str, given: Any) -> Table:
    if isinstance(given, str | PathLike):
        from truecount.counts.files import File

        return File(given)
    return Frame(argument, given)
