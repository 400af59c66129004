"""Logs of evaluation tools become counts, by the fields that each tool has for labels and predictions."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from truecount._advice import Advice, keyword
from truecount._wording import quoted
from truecount.counts.counting import By, count_table
from truecount.counts.groups import Groups
from truecount.counts.ratings import Ratings
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.columns import columns_by
from truecount.reading.logs.log import Log, read_log
from truecount.reading.logs.record import Fields
from truecount.reading.names import Missing


def count_log(
    log: Log | str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    label: str | Sequence[str] | None = None,
    prediction: str | Sequence[str] | None = None,
    by: By | None = None,
    cluster: str | Sequence[str] | None = None,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    missing: Missing = None,
) -> Counts | Groups | Ratings:
    """Count the log of an evaluation tool; columns that are not named are those that the tool has for them.

    Parameters
    ----------
    log
        What `read_log` returns or takes: all files are one table, whose items with a missing label are the unlabelled
        population.
    label, prediction
        Columns with the true class and with the output, by default ``log.fields.label`` and ``log.fields.prediction``.
    cluster
        Column that says which items belong together, by default ``log.fields.cluster`` where items are repeated, as
        epochs do, and none is in two groups.
    by, classes, outputs, missing
        As in `count_table`.

    Returns
    -------
    As `count_table`: `Counts`, with `by` `Groups`, with several labels `Ratings`.
    """
    found = log if isinstance(log, Log) else read_log(log)
    asked = Fields(label=label, prediction=prediction, cluster=cluster)
    fields = named_fields(found, asked, by=columns_by(by))
    options: dict[str, Any] = {"by": by, "classes": classes, "outputs": outputs, "missing": missing}
    read: Any = {"label": fields.label, "prediction": fields.prediction, "cluster": fields.cluster}
    counts: Counts | Groups | Ratings = count_table(found, **read, **options)
    return counts


def named_fields(log: Log, asked: Fields, *, by: Collection[str] = (), needs_label: bool = True) -> Fields:
    """Return the fields that are read, of which those that were named take the place of the tool's own.

    Items are clustered by the tool's field where they are repeated; several labels or predictions go without.
    """
    label, prediction = asked.label or log.fields.label, asked.prediction or log.fields.prediction
    fields = replace(log.fields, label=label, prediction=prediction, cluster=asked.cluster)
    for role, what in (("label", "true class"), ("prediction", "output")):
        if getattr(fields, role) is None and (needs_label or role != "label"):
            found = f"is a log of {log.tool.name}, which has no field for the {what}"
            remedy = Advice("Pass {}, with one of them", keyword(role, "COLUMN"))
            raise InputError(log.name, found, f"its columns are {quoted(log.columns)}", remedy)
    is_clustered = asked.cluster is None and _is_one(label) and _is_one(prediction) and log.repeats_items(by)
    return replace(fields, cluster=log.fields.cluster) if is_clustered else fields


def _is_one(columns: str | Sequence[str] | None) -> bool:
    return columns is None or isinstance(columns, str) or len(columns) == 1
