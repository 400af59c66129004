"""Evaluation tables of MLflow: one JSON object with the names of the columns and a list for each row."""

from collections.abc import Iterator

from truecount.reading.logs.record import Document, Fields, Record, Tool, other_shape

NAME = "MLflow"


def _is_log(document: Document) -> bool:
    return {"columns", "data"} <= document.head.keys() <= {"columns", "data", "index"}


def _records(document: Document) -> Iterator[Record]:
    columns, rows = document.head["columns"], document.head["data"]
    for row in rows:
        if not isinstance(row, list) or len(row) != len(columns):
            raise other_shape(document.path, NAME, "with rows of another length", f"there are {len(columns)} columns")
        yield Record(dict(zip(map(str, columns), row, strict=True)))


MLFLOW = Tool(name=NAME, fields=Fields(), recognizes=_is_log, records=_records)
