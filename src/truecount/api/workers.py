"""Groups that are inferred inside Spark or Dask: what these counted is named, gathered and inferred by workers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from math import fsum
from typing import Any

import numpy as np

from truecount._executor import Division, Failure
from truecount._optional import load
from truecount.api.separate import Separately
from truecount.counts import Counts, Groups
from truecount.reading.columns import COARSE, Columns
from truecount.reading.frames import AnyFrame, as_times
from truecount.reading.names import combination_name, written
from truecount.reading.rows import Reading, row_of
from truecount.results.separate.rows import column_kinds, key_columns, keys_of, rows_of_failure

GROUPS_AT_ONCE = 200
"""Groups that one call of a worker holds at a time."""
SPARK_KINDS = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double", "BOOLEAN": "boolean", "DATE": "date"}
PANDAS_KINDS = {"VARCHAR": "object", "BIGINT": "Int64", "DOUBLE": "float64", "BOOLEAN": "boolean", "DATE": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWork:
    """What a worker of Spark or Dask does: name what was counted, and infer groups.

    Parameters
    ----------
    columns, missing
        Which columns were counted, and the words that mean a missing value.
    times
        Which keys are times that come as microseconds.
    key_kinds
        The type of each key, as DuckDB calls it.
    total
        The labels, and all groups together, which name classes and outputs.
    how
        How each group is inferred.
    """

    columns: Columns
    missing: tuple[str, ...]
    times: tuple[int, ...]
    key_kinds: Mapping[str, str]
    total: Counts
    how: Separately

    @classmethod
    def of(cls, frame: AnyFrame, reading: Reading, total: Counts, how: Separately, *, has_labels: bool) -> "GroupWork":
        """Gather what a worker needs."""
        columns = reading.columns if has_labels else replace(reading.columns, label=None)
        names = key_columns(list(columns.by))
        kinds = [_key_kind(frame.kinds[column], columns.by[column]) for column in columns.by]
        return cls(
            columns=columns,
            missing=reading.missing,
            times=tuple(frame.times_as_numbers(columns)),
            key_kinds=dict(zip(names, kinds, strict=True)),
            total=total,
            how=how,
        )

    @property
    def cell_kinds(self) -> dict[str, str]:
        """The columns that counts have once they are named: keys, the number of the output, weight and its square."""
        return {**self.key_kinds, "output": "BIGINT", "weight": "DOUBLE", "squares": "DOUBLE"}

    @property
    def answer_kinds(self) -> dict[str, str]:
        """The columns of the answer."""
        return {**self.key_kinds, **column_kinds((), [], self.total.classes)}

    def named(self, records: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
        """Yield what was counted of the population, by the rule for names; labelled rows are left out."""
        places = {output: place for place, output in enumerate(self.total.outputs)}
        for record in as_times([tuple(each) for each in records], self.times):
            row = row_of("table", record, self.columns)
            if (row.label is None or str(row.label) in self.missing) and row.output is not None:
                keys = [self._plain(key, kind) for key, kind in zip(row.group, self.key_kinds.values(), strict=True)]
                output = combination_name(row.output) if isinstance(row.output, tuple) else row.output
                yield (*keys, places[output], float(row.weight), float(row.squares))

    @staticmethod
    def _plain(key: Any, kind: str) -> Any:
        return key if key is None or kind == "DATE" else str(written(key)) if kind == "VARCHAR" else key

    def rows(self, groups: Mapping[tuple[Any, ...], Sequence[tuple[int, float, float]]]) -> Iterator[tuple[Any, ...]]:
        """Infer groups, of each of which outputs with weights and squares are given, and yield their rows."""
        with ThreadPoolExecutor(1) as thread:
            division = Division(thread, self.how.rows, lambda part: list(part.parts(1)))
            data = self._data(groups)
            for _, found in division.results([(0, data)]):
                for place, each in enumerate(found):
                    yield from self._values(data, place, each)

    def _data(self, groups: Mapping[tuple[Any, ...], Sequence[tuple[int, float, float]]]) -> Groups:
        items, squares = np.zeros((2, len(groups), len(self.total.outputs)))
        for at, cells in enumerate(groups.values()):
            for output in {output for output, _, _ in cells}:
                items[at, output] = fsum(weight for place, weight, _ in cells if place == output)
                squares[at, output] = fsum(square for place, _, square in cells if place == output)
        keys = [key[0] if len(key) == 1 else key for key in groups]
        more: dict[str, Any] = {}
        if self.total.is_weighted:
            more = {
                "labeled_squares": self.total.squares()[0],
                "unlabeled_squares": dict(zip(keys, squares, strict=True)),
            }
        unlabeled = dict(zip(keys, items if self.total.is_weighted else items.astype(np.int64), strict=True))
        names = self.total.classes, self.total.outputs
        return Groups(self.total.labeled, unlabeled, *names, by=tuple(self.columns.by), **more)

    def _values(self, data: Groups, place: int, found: "list[dict[str, Any]] | Failure") -> Iterator[tuple[Any, ...]]:
        names = list(self.key_kinds)
        if isinstance(found, Failure):
            keys = keys_of(names, data.groups[place])
            found = rows_of_failure(keys, data.unlabeled[place], data.classes, found.message)
        for row in found:
            yield tuple(_typed(row[name], kind) for name, kind in self.answer_kinds.items())


def _typed(value: Any, kind: str) -> Any:
    """Return a value as a column of this type holds it."""
    if value is None:
        return None
    if kind == "DATE":
        return date.fromisoformat(value) if isinstance(value, str) else value
    return {"DOUBLE": float, "BIGINT": int, "BOOLEAN": bool, "VARCHAR": str}[kind](value)


def _key_kind(kind: str, frequency: str | None) -> str:
    """Return the type of a key: days are dates, other times text."""
    if kind == "Date" or frequency in COARSE:
        return "DATE"
    if kind.startswith(("Int", "UInt")):
        return "BIGINT"
    return {"Boolean": "BOOLEAN", "Float32": "DOUBLE", "Float64": "DOUBLE"}.get(kind, "VARCHAR")


def in_spark(frame: AnyFrame, work: GroupWork) -> Any:
    """Name, gather and infer in Spark: two group-bys, and two passes through Python of what they leave.

    As many tasks infer as shuffles have partitions: left alone, Spark would join partitions of so few bytes into one.
    """
    counted = frame.grouped(work.columns).to_native()
    named = counted.mapInArrow(_SparkStep(work, "named"), _spark_schema(work.cell_kinds))
    keys = [f"`{name.replace('`', '``')}`" for name in work.key_kinds]
    cells = named.selectExpr(*keys, "struct(output, weight, squares) AS cell")
    partitions = int(counted.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    gathered = cells.repartition(partitions, *keys).groupBy(*keys).agg({"cell": "collect_list"})
    return gathered.mapInArrow(_SparkStep(work, "inferred"), _spark_schema(work.answer_kinds))


def _spark_schema(kinds: Mapping[str, str]) -> str:
    return ", ".join(f"`{name.replace('`', '``')}` {SPARK_KINDS[kind]}" for name, kind in kinds.items())


@dataclass(frozen=True, slots=True)
class _SparkStep:
    """One pass over Arrow batches, in a worker of Spark."""

    work: GroupWork
    step: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if self.step == "named":
                records = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                yield _batch(self.work.named(records), self.work.cell_kinds)
                continue
            for start in range(0, batch.num_rows, GROUPS_AT_ONCE):
                *keys, cells = (column.to_pylist() for column in batch.slice(start, GROUPS_AT_ONCE).columns)
                listed = [[(cell["output"], cell["weight"], cell["squares"]) for cell in each] for each in cells]
                groups = dict(zip(zip(*keys, strict=True), listed, strict=True))
                yield _batch(self.work.rows(groups), self.work.answer_kinds)


def _batch(rows: Iterable[tuple[Any, ...]], kinds: Mapping[str, str]) -> Any:
    """Return rows as a batch of Arrow."""
    pa = load("pyarrow", feature="infer_table() of Spark", extra="backends")
    types = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "DATE": pa.date32(),
    }
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    arrays = [pa.array(values, types[kind]) for values, kind in zip(columns, kinds.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(kinds))


def in_dask(frame: AnyFrame, work: GroupWork) -> Any:
    """Name, gather and infer in Dask: a shuffle brings each group's counts into one partition."""
    counted = frame.grouped(work.columns).to_native()
    named = counted.map_partitions(_named_in_pandas, work, meta=_empty(work.cell_kinds))
    gathered = named.shuffle(on=list(work.key_kinds), npartitions=frame.frame.to_native().npartitions)
    return gathered.map_partitions(_inferred_in_pandas, work, meta=_empty(work.answer_kinds))


def _named_in_pandas(counted: Any, work: GroupWork) -> Any:
    return _pandas(work.named(counted.itertuples(index=False, name=None)), work.cell_kinds)


def _inferred_in_pandas(named: Any, work: GroupWork) -> Any:
    groups: dict[tuple[Any, ...], list[tuple[int, float, float]]] = {}
    for *keys, output, weight, squares in named.itertuples(index=False, name=None):
        plain = tuple(None if key is None or key != key else key for key in keys)
        groups.setdefault(plain, []).append((int(output), weight, squares))
    ordered = list(groups.items())
    rows = (
        row
        for start in range(0, len(ordered), GROUPS_AT_ONCE)
        for row in work.rows(dict(ordered[start : start + GROUPS_AT_ONCE]))
    )
    return _pandas(rows, work.answer_kinds)


def _pandas(rows: Iterable[tuple[Any, ...]], kinds: Mapping[str, str]) -> Any:
    pd = load("pandas", feature="infer_table() of Dask", extra="backends")
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    series = zip(kinds.items(), columns, strict=True)
    return pd.DataFrame({name: pd.Series(values, dtype=PANDAS_KINDS[kind]) for (name, kind), values in series})


def _empty(kinds: Mapping[str, str]) -> Any:
    return _pandas((), kinds)
