"""Times with a zone are cut in UTC, whoever reads them and wherever the machine stands."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

import truecount as tc
from frames import Sparks

COLUMNS = {"label": "human", "prediction": "verdict"}
ZONES = ["UTC", "Asia/Tokyo", "America/Los_Angeles", "Asia/Kolkata"]
START = datetime(2024, 3, 29, 0, 15, tzinfo=UTC)
TIMES = [START + timedelta(hours=hour) for hour in range(96)]
"""Over the turn of a week and of a month, and over the nights in which clocks change in Europe."""


@pytest.fixture(params=ZONES)
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let the machine stand in some zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def expected(key: Callable[[datetime], Any]) -> dict[Any, int]:
    keys = [key(each.replace(tzinfo=None)) for each in TIMES]
    return {each: keys.count(each) for each in sorted(set(keys))}


KEYS: dict[str | None, dict[Any, int]] = {
    "week": expected(lambda at: at.date() - timedelta(days=at.weekday())),
    "day": expected(lambda at: at.date()),
    "month": expected(lambda at: at.date().replace(day=1)),
    "hour": expected(lambda at: at.replace(minute=0)),
    None: expected(lambda at: at),
}


def found(table: Any, frequency: str | None) -> dict[Any, int]:
    groups = tc.count_table(table, **COLUMNS, by={"time": frequency})
    return {group: int(counts.unlabeled.sum()) for group, counts in groups.items()}


def columns(zone: str) -> dict[str, list[Any]]:
    from zoneinfo import ZoneInfo

    times = [each.astimezone(ZoneInfo(zone)) for each in TIMES]
    return {"human": ["a", "b", *[None] * 96], "verdict": ["a", "b", *["a", "b"] * 48], "time": [*times[:2], *times]}


def of_pandas(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(values)


def of_polars(values: dict[str, list[Any]]) -> Any:
    polars = pytest.importorskip("polars")
    zone = values["time"][0].tzinfo.key
    utc = [each.astimezone(UTC) for each in values["time"]]
    frame = polars.DataFrame({**values, "time": utc})
    return frame.with_columns(polars.col("time").dt.convert_time_zone(zone))


def of_arrow(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(values)


def of_dask(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(of_pandas(values), npartitions=2)


def of_ibis(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("ibis").memtable(of_arrow(values))


def of_duckdb(values: dict[str, list[Any]]) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE made (human VARCHAR, verdict VARCHAR, time TIMESTAMPTZ)")
    rows = list(zip(values["human"], values["verdict"], [each.isoformat() for each in values["time"]], strict=True))
    connection.executemany("INSERT INTO made VALUES (?, ?, ?)", rows)
    return connection.table("made")


READERS = {
    "pandas": of_pandas,
    "polars": of_polars,
    "arrow": of_arrow,
    "dask": of_dask,
    "ibis": of_ibis,
    "duckdb": of_duckdb,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("stored", ["Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_frames_are_cut_in_utc(reader: str, stored: str, machine_zone: str) -> None:
    table = READERS[reader](columns(stored))
    for frequency, wanted in KEYS.items():
        assert found(table, frequency) == wanted, (frequency, machine_zone)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "duckdb"])
def test_files_are_cut_in_utc(ending: str, machine_zone: str, tmp_path: Path) -> None:
    table, path = of_duckdb(columns("Asia/Kolkata")), str(tmp_path / f"t.{ending}")
    if ending == "duckdb":
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE runs (human VARCHAR, verdict VARCHAR, time TIMESTAMPTZ)")
            connection.executemany(
                "INSERT INTO runs VALUES (?, ?, ?)",
                [(human, verdict, at.isoformat()) for human, verdict, at in zip(*columns("UTC").values(), strict=True)],
            )
        path = f"duckdb://{path}#runs"
    else:
        table.query("made", f"COPY made TO '{path}' (FORMAT {ending.removesuffix('l')})")
    for frequency in [None, *KEYS] if ending in ("parquet", "duckdb") else [each for each in KEYS if each]:
        assert found(path, frequency) == KEYS[frequency], (frequency, machine_zone)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_text_without_a_zone_is_taken_as_it_stands(ending: str, machine_zone: str, tmp_path: Path) -> None:
    rows = "('a', 'a', '2024-01-01'), ('b', 'b', ''), (NULL, 'a', '2024-01-01 23:30'), "
    rows += "(NULL, 'a', '2024-01-01T23:30-02:00')"
    path = tmp_path / f"t.{ending}"
    duckdb.sql(f"COPY (FROM (VALUES {rows}) t(human, verdict, time)) TO '{path}' (FORMAT {ending.removesuffix('l')})")
    assert found(str(path), "day") == {date(2024, 1, 1): 1, date(2024, 1, 2): 1}, machine_zone


@pytest.mark.parametrize("connect", [False, True])
@pytest.mark.parametrize("session_zone", ["UTC", "Asia/Tokyo", "Europe/Berlin"])
def test_spark_is_cut_in_utc(session_zone: str, connect: bool, sparks: Sparks) -> None:
    spark = sparks.session(connect=connect)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", session_zone)
    try:
        made = ["CASE WHEN id = 0 THEN 'a' WHEN id = 1 THEN 'b' END AS human", "IF(id % 2 = 0, 'a', 'b') AS verdict"]
        at = f"timestamp_seconds({int(START.timestamp())} + 3600 * greatest(id - 2, 0)) AS time"
        zoned = spark.range(98).selectExpr(*made, at)
        plain = "TIMESTAMP_NTZ'2024-03-29 00:15:00' + make_dt_interval(0, cast(greatest(id - 2, 0) AS int)) AS time"
        naive = spark.range(98).selectExpr(*made, plain)
        for frequency, wanted in KEYS.items():
            assert found(zoned, frequency) == wanted, frequency
            assert found(naive, frequency) == wanted, frequency
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_the_machine_of_these_tests_really_moves(machine_zone: str) -> None:
    assert duckdb.connect().execute("SELECT current_setting('TimeZone')").fetchone() == (machine_zone,)
    assert os.environ["TZ"] == machine_zone
