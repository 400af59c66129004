"""From a table with groups to a table of answers: counted, inferred and kept where the data are."""

from collections.abc import Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from truecount import _check
from truecount.api.bayesian import chosen_model, origin_of
from truecount.api.separate import Separately, engine_of_groups, infer_separately, require_separable
from truecount.api.workers import GroupWork, in_dask, in_spark
from truecount.counts.counting import By, as_table
from truecount.counts.tally import Tally, tally_tables
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Model, Prior
from truecount.models.register import require_plain_label_shift
from truecount.reading.columns import Columns, columns_by, require_kinds
from truecount.reading.frames import any_frame
from truecount.reading.names import Missing
from truecount.reading.rows import Reading
from truecount.results.export.frame import BACKENDS, to_frame
from truecount.results.summary import Look

USUAL = Look()


def infer_table(
    table: Any,
    *,
    label: str,
    prediction: str,
    by: By,
    labeled: Any = None,
    weight: str | None = None,
    missing: Missing = None,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    model: Model = LabelShift(),
    prior: Prior | None = None,
    engine: Engine = Auto(),
    seed: int = 0,
    look: Look = USUAL,
    executor: Executor | None = None,
) -> Any:
    """Infer every group of a table by itself, and return a table of the same kind with a row for each group and class.

    A frame of Spark or Dask stays there: what comes back is a frame that is computed when it is written, and only the
    classes and outputs of all groups together reach this process. Any other table is counted where it is, and its
    groups are inferred here, or by an executor.

    Parameters
    ----------
    table, label, prediction, by, weight, missing, classes, outputs
        As in `count_table`; the rows of `table` without a label are the population.
    labeled
        A second table, of labelled rows; then all rows of `table` are the population.
    model, prior, engine, seed
        As in `infer` with an executor: a group has the same draws here and there.
    look
        Level, kind and target of the intervals.
    executor
        Who infers groups of a table that is neither Spark's nor Dask's.

    Returns
    -------
    A frame of Spark, Dask, pandas, polars or pyarrow, of which other tables become the first that is installed. Its
    columns are those of `by`, and what ``docs/guides/scale.md`` lists.
    """
    seed = _check.whole_number("seed", seed, least=0)
    chosen = chosen_model(model, prior)
    if not isinstance(chosen, LabelShift):
        needed = "groups are inferred under label shift"
        raise InputError("model", f"is {chosen!r:.60}", needed, "Leave it out")
    require_plain_label_shift(chosen, "an answer for each group")
    require_separable(chosen, "model")
    columns = Columns(label=label, prediction=prediction, by=columns_by(by), weight=weight)
    if not columns.by:
        raise InputError(
            "by", "is empty", "groups are made by columns", "Pass by='store', or use count_table and infer"
        )
    reading = Reading.told(columns, missing=missing, classes=classes, outputs=outputs)
    origin = origin_of(engine, seed)
    home = type(table).__module__.partition(".")[0]
    frame = any_frame("table", table, columns) if home in ("pyspark", "dask", "dask_expr") else None
    if frame is None:
        groups = _tallied(reading, table, labeled).to_groups()
        with ThreadPoolExecutor(1) as own:
            answers = infer_separately(groups, chosen, engine, origin, executor=executor or own, look=look)
        return to_frame(answers.rows, next((each for each in BACKENDS if each == home), None))
    if executor is not None:
        needed = "the groups of this table are inferred inside Spark or Dask"
        raise InputError("executor", f"is given with a table of {type(table).__module__}", needed, "Leave it out")
    require_kinds("table", frame.kinds, columns if labeled is None else replace(columns, label=None))
    total = _tallied(replace(reading, columns=replace(columns, by={})), table, labeled).to_counts()
    how = Separately(
        model=chosen,
        engine=engine_of_groups(engine),
        origin=origin,
        look=look,
        sharing=0,
    )
    work = GroupWork.of(frame, replace(reading, columns=columns), total, how, has_labels=labeled is None)
    return in_spark(frame, work) if frame.frame.implementation.is_spark_like() else in_dask(frame, work)


def _tallied(reading: Reading, table: Any, labeled: Any) -> Tally:
    if labeled is None:
        return tally_tables(reading, as_table("table", table))
    return tally_tables(reading, as_table("labeled", labeled), as_table("table", table))
