"""Columns, frames and files become counts, by one path: tables yield rows, and a tally adds them up."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, TypedDict, Unpack, overload

from truecount.counts.groups import Groups
from truecount.counts.ratings import Ratings
from truecount.counts.table import Counts
from truecount.counts.tally import tallied, tally_tables
from truecount.errors import InputError
from truecount.reading.arrays import Column, array_rows, encode_clusters, encode_columns, encode_keys, named_columns
from truecount.reading.columns import Columns, column_names, columns_by
from truecount.reading.names import Missing
from truecount.reading.rows import Frame, Reading, Table, require_few_names, require_studies

By: TypeAlias = str | Iterable[str] | Mapping[str, str | None]
"""One column or several; a mapping gives columns of times a frequency."""


class Named(TypedDict, total=False):
    """What may be said of names in any form of `count` and `count_table`."""

    classes: Iterable[Any] | None
    outputs: Iterable[Any] | None
    missing: Missing


class ArrayOptions(Named, total=False):
    """What any form of `count` takes besides labels, predictions and groups."""

    cluster: Any
    new_cluster: Any


class TableOptions(Named, total=False):
    """What any form of `count_table` takes besides labels, predictions and groups."""

    labeled: Any
    unlabeled: Any
    weight: str | None
    cluster: str | Sequence[str] | None


@overload
def count(
    labels: Mapping[str, Any],
    predictions: Any,
    new_predictions: Any,
    *,
    by: Any = None,
    **options: Unpack[ArrayOptions],
) -> Ratings: ...
@overload
def count(
    labels: Any, predictions: Any, new_predictions: Any, *, by: None = None, **options: Unpack[ArrayOptions]
) -> Counts: ...
@overload
def count(
    labels: Any, predictions: Any, new_predictions: Any, *, by: Any, study: Any = None, **options: Unpack[ArrayOptions]
) -> Groups: ...
def count(
    labels: Any,
    predictions: Any,
    new_predictions: Any,
    *,
    by: Any = None,
    study: Any = None,
    cluster: Any = None,
    new_cluster: Any = None,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    missing: Missing = None,
) -> Counts | Groups | Ratings:
    r"""Count how often each class got each output, and how often each output came up in the unlabelled population.

    Parameters
    ----------
    labels
        The true class of every labelled item: a list, a tuple, a NumPy array, or a column of pandas, polars or arrow,
        holding strings, numbers or booleans.
    predictions
        The classifier's output for the same items, in the same order. Of several classifiers, a mapping from name to
        column, or a frame; of several raters, `labels` likewise. Some of these may be missing for an item.
    new_predictions
        The output for every item of the unlabelled population, in the same form; it may be empty.
    by
        The group of every item of the unlabelled population, in the same order: a column, or a mapping from name to
        column where several make the groups.
    study
        Where each label comes from, a column in the order of `labels`, where labels come from several studies: the
        answer is then `Groups`, with a table for each study.
    cluster, new_cluster
        Which items belong together (epochs of a question, patients of a household), in the order of `labels` and of
        `new_predictions`; one cluster may have items on both sides. Give both or neither.
    classes, outputs
        Their names, in the order wanted. Left out, they are the values that occur, sorted: numbers, then strings.
        One that is named but does not occur is kept with zeros; one that occurs but is not named is an error.
    missing
        A word that stands for a missing value, or several; ``""`` says that no other word does.

    Returns
    -------
    `Counts`, whole numbers; rows are classes, columns are outputs. With `by`, `Groups`, which share the labelled items.

    Notes
    -----
    Rows are matched by position; the index of a pandas column is ignored. Values become names by the rules of
    `count_table`. Levels of a categorical column that never occur are left out, and the order of its levels is not
    used: pass ``classes=`` or ``outputs=``.

    Where labelled and unlabelled items have no output in common, mostly because one side is spelled otherwise, they are
    refused unless `outputs` names them all. A missing value is an error. If the classifier abstained, that is an
    output: give it a name.

    Examples
    --------
    >>> count(["cat", "dog", "dog"], ["cat", "cat", "dog"], ["dog", "bird", "dog"])
    Counts: 3 labelled and 3 unlabelled items, 2 classes, 3 outputs
    class\output  bird  cat  dog
    cat              0    1    0
    dog              0    1    1
    unlabelled       1    0    2
    """
    named = dict(by) if isinstance(by, Mapping) else {} if by is None else {getattr(by, "name", None) or "group": by}
    sides = {"labels": labels, "predictions": predictions, "new_predictions": new_predictions}
    columns = Columns(
        label=named_columns("labels", labels),
        prediction=_same_columns(predictions, new_predictions),
        by=dict.fromkeys(map(str, named)),
        cluster=None if cluster is None and new_cluster is None else "cluster",
    )
    reading = Reading.told(columns, missing=missing, classes=classes, outputs=outputs)
    found = {side: encode_columns(side, column, reading.missing) for side, column in sides.items()}
    for side, column in found.items():
        argument, wanted = ("classes", reading.classes) if side == "labels" else ("outputs", reading.outputs)
        column.require_full(side)
        if wanted is None:
            require_few_names(None, [side], argument, column.names)
        else:
            column.require_named(side, argument, wanted)
    groups = {name: encode_keys(f"by[{name!r}]" if len(named) > 1 else "by", each) for name, each in named.items()}
    found["labels"].require_length("labels", "predictions", len(found["predictions"].codes))
    for column in groups.values():
        column.require_length("by", "new_predictions", len(found["new_predictions"].codes))
    studies = [] if study is None else [encode_keys("study", study)]
    for column in studies:
        column.require_length("study", "labels", len(found["labels"].codes))
    known, new = _both_clusters(cluster, new_cluster, len(found["labels"].codes), len(found["new_predictions"].codes))
    rows = array_rows(found["labels"], found["predictions"], groups=studies, cluster=known)
    require_studies("labels", rows, [] if study is None else ["study"])
    rows += array_rows(None, found["new_predictions"], groups=list(groups.values()), cluster=new)
    return tallied(reading.explained(None, rows), reading).to_data()


def _both_clusters(cluster: Any, new_cluster: Any, labeled: int, unlabeled: int) -> tuple[Column | None, Column | None]:
    """Return the clusters of both sides, which are given together or not at all."""
    if cluster is None and new_cluster is None:
        return None, None
    if cluster is None or new_cluster is None:
        found, needed = "came without the other side's", "items of both sides belong to clusters"
        remedy = "Pass cluster= and new_cluster=; items that stand alone are clusters of their own"
        raise InputError("cluster" if new_cluster is None else "new_cluster", found, needed, remedy)
    known, new = encode_clusters("cluster", cluster), encode_clusters("new_cluster", new_cluster)
    known.require_length("cluster", "labels", labeled)
    new.require_length("new_cluster", "new_predictions", unlabeled)
    return known, new


def _same_columns(predictions: Any, new_predictions: Any) -> str | tuple[str, ...]:
    """Return the classifiers, which must be the same on both sides and in one order."""
    known, new = (named_columns("predictions", each) for each in (predictions, new_predictions))
    if known != new:
        found, needed = f"are {new!r} and those of labelled items {known!r}", "both sides have the same classifiers"
        raise InputError("new_predictions", found, needed, "Pass the same columns on both sides, in the same order")
    return known


@overload
def count_table(
    table: Any = None,
    *,
    label: list[str] | tuple[str, ...],
    prediction: str | Sequence[str],
    by: By | None = None,
    study: str | Sequence[str] | None = None,
    **options: Unpack[TableOptions],
) -> Ratings: ...
@overload
def count_table(
    table: Any = None,
    *,
    label: str,
    prediction: str | Sequence[str],
    by: None = None,
    **options: Unpack[TableOptions],
) -> Counts: ...
@overload
def count_table(
    table: Any = None,
    *,
    label: str,
    prediction: str | Sequence[str],
    by: By,
    study: str | Sequence[str] | None = None,
    **options: Unpack[TableOptions],
) -> Groups: ...
def count_table(
    table: Any = None,
    *,
    labeled: Any = None,
    unlabeled: Any = None,
    label: str | Sequence[str],
    prediction: str | Sequence[str],
    by: By | None = None,
    study: str | Sequence[str] | None = None,
    weight: str | None = None,
    cluster: str | Sequence[str] | None = None,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    missing: Missing = None,
) -> Counts | Groups | Ratings:
    r"""Count a table wherever it lives: pandas, polars, Arrow, DuckDB, Dask, Ibis, Spark, or a file.

    The table's own engine does one group-by, in one pass, and only its result is fetched: a row for each class, output
    and group.

    Parameters
    ----------
    table
        A frame, eager or lazy, or the path of a file: CSV, TSV, JSON Lines, a JSON array of records, or Parquet; the
        ending says which. A pattern such as ``"runs/*.parquet"`` or a folder is one table, in which folders such as
        ``week=3`` are columns. A log of an evaluation tool is a table too, as `read_log` says. Rows with a missing
        label are the unlabelled population.
    labeled, unlabeled
        Two tables instead of one: the first labelled throughout, of the second only predictions, groups and weights
        are read.
    label, prediction
        Columns with the true class and with the output: strings, numbers or booleans. In JSON and Parquet,
        ``answer.verdict`` is the entry ``verdict`` of ``answer``, unless a column is called exactly so. Several
        predictions are those of several classifiers, whose combinations are counted as outputs; several labels are
        those of several raters, of whom each may err, and the answer is `Ratings`. Some of them may be missing.
    by
        One or several columns; then the answer is `Groups` of the unlabelled population. A mapping gives columns of
        times a frequency: ``{"time": "week"}``, ``{"region": None, "time": "month"}``, with minute, hour, day, week
        (from Monday), month, quarter or year.
    study
        Column that says where the label of a row comes from, where labels come from several studies: the answer is
        then `Groups`, with a table for each study. The columns of `by`, one or several, make each group's own labels
        its study.
    weight
        Column of weights, which are summed, and their squares too.
    cluster
        Column that says which items belong together: epochs of a question, patients, households, documents. Of several
        columns, items that agree in all of them do: ``["model", "question"]``, where groups are models. What the items
        of a cluster have in common widens the intervals (`docs/guides/clusters.md`).
    classes, outputs
        Their names, in the order wanted. Left out, they are the values that occur, sorted.
    missing
        A word that stands for a missing value in labels and predictions, or several, ``["NA", "NaN"]``; ``""`` says
        that no other word does.

    Returns
    -------
    `Counts`, or with `by` `Groups`; with several labels `Ratings`. The groups share the labelled table, which all
    labelled rows make up whatever their group; `infer` draws all groups jointly, so that they may be compared.

    Notes
    -----
    Values become names by the same rules everywhere. Blanks around a string are not part of it; None, NaN, null and
    nothing but blanks are missing. Whole numbers are whole however they are stored or written, so that labels which
    missing values turned into floats still match: 1.0 is 1, and ``"1.0"`` is ``"1"``. 1, 1.0 and True are one name; 1
    beside ``"1"`` is refused. The words NA, N/A, NaN, null and None are refused until `missing` explains them, or
    `classes` or `outputs` names them. More than 1,000 different values are no classes or outputs, unless `classes` or
    `outputs` names them all.

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
    columns = Columns(
        label=column_names("label", label),
        prediction=column_names("prediction", prediction),
        by=columns_by(by),
        weight=weight,
        study=None if study is None else column_names("study", study),
        cluster=None if cluster is None else column_names("cluster", cluster),
    )
    reading = Reading.told(columns, missing=missing, classes=classes, outputs=outputs)
    if table is not None and labeled is None and unlabeled is None:
        return tally_tables(reading, as_table("table", table)).to_data()
    if table is None and labeled is not None and unlabeled is not None:
        return tally_tables(reading, as_table("labeled", labeled), as_table("unlabeled", unlabeled)).to_data()
    needed = "it is one table, or a labelled and an unlabelled one"
    raise InputError("table", "is given with others, or not at all", needed, "Pass table, or labeled and unlabeled")


def as_table(argument: str, given: Any) -> Table:
    """Return a log, a file, a pattern, a folder or an address where a path was given, else a frame."""
    if isinstance(given, str | PathLike):
        from truecount.reading.files import table_of

        return table_of([given])
    from truecount.reading.logs.log import Log

    return given if isinstance(given, Log) else Frame(argument, given)
