"""Real tables of every back end, made from columns of Python values."""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import duckdb
import pytest

Values = dict[str, list[Any]]

SPARK_TYPES = {str: "string", bool: "boolean", int: "bigint", float: "double", datetime: "timestamp", date: "date"}
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}
"""One small machine on loopback, whose Java process also serves Spark Connect."""


class Sparks:
    """Two Spark sessions, classic and Connect, that share one Java process; started when first asked for."""

    def __init__(self) -> None:
        self._classic: Any = None
        self._connect: Any = None

    def start(self) -> None:
        pyspark = pytest.importorskip("pyspark")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java, and there is none")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of Spark's workers, which need truecount too
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ["PYSPARK_PYTHON"] = sys.executable  # the shell's python3 may have no truecount
        builder = pyspark.sql.SparkSession.builder.master("local[1]")
        for name, value in {**SPARK, "spark.connect.grpc.binding.port": str(port)}.items():
            builder = builder.config(name, value)
        self._classic = builder.getOrCreate()
        remote = pytest.importorskip("pyspark.sql.connect.session").SparkSession
        self._connect = remote.builder.remote(f"sc://127.0.0.1:{port}").create()

    def session(self, *, connect: bool) -> Any:
        if self._classic is None:
            self.start()
        return self._connect if connect else self._classic

    def stop(self) -> None:
        if self._connect is not None:
            self._connect.stop()
        if self._classic is not None:
            self._classic.stop()


def of_pandas(values: Values, _: Sparks) -> Any:
    return pytest.importorskip("pandas").DataFrame(values)


def of_polars(values: Values, _: Sparks) -> Any:
    return pytest.importorskip("polars").DataFrame(values)


def of_polars_lazy(values: Values, _: Sparks) -> Any:
    return of_polars(values, _).lazy()


def of_arrow(values: Values, _: Sparks) -> Any:
    return pytest.importorskip("pyarrow").table(values)


def of_duckdb(values: Values, _: Sparks) -> Any:
    """A table of DuckDB, filled without any other library."""
    connection = duckdb.connect()
    types = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", datetime: "TIMESTAMP", date: "DATE"}
    columns = ", ".join(
        f'"{name.replace(chr(34), chr(34) * 2)}" {types[kind(column)]}' for name, column in values.items()
    )
    connection.execute(f"CREATE TABLE made ({columns})")
    marks = ", ".join("?" for _ in values)
    connection.execute("BEGIN")
    insert = f"INSERT INTO made VALUES ({marks})"  # noqa: S608
    connection.executemany(insert, list(zip(*values.values(), strict=True)))
    connection.execute("COMMIT")
    return connection.table("made")


def of_dask(values: Values, _: Sparks) -> Any:
    frames = pytest.importorskip("dask.dataframe")
    return frames.from_pandas(of_pandas(values, _), npartitions=2)


def of_ibis(values: Values, _: Sparks) -> Any:
    return pytest.importorskip("ibis").memtable(of_arrow(values, _))


def of_spark(values: Values, sparks: Sparks, *, connect: bool = False) -> Any:
    schema = ", ".join(f"{name} {SPARK_TYPES[kind(column)]}" for name, column in values.items())
    rows = list(zip(*values.values(), strict=True))
    return sparks.session(connect=connect).createDataFrame(rows, schema=schema)


def of_spark_connect(values: Values, sparks: Sparks) -> Any:
    return of_spark(values, sparks, connect=True)


def kind(column: list[Any]) -> type:
    """The type of a column's values."""
    return next(type(value) for value in column if value is not None)


BACK_ENDS: dict[str, Callable[[Values, Sparks], Any]] = {
    "pandas": of_pandas,
    "polars": of_polars,
    "polars lazy": of_polars_lazy,
    "arrow": of_arrow,
    "duckdb": of_duckdb,
    "dask": of_dask,
    "ibis": of_ibis,
    "spark": of_spark,
    "spark connect": of_spark_connect,
}
