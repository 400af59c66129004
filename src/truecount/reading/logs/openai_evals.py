"""Records of OpenAI evals: JSON Lines of the run's specification, its report, and events of each sample."""

import warnings
from collections.abc import Iterator
from typing import Any

from truecount.errors import TruecountWarning
from truecount.reading.logs.record import Document, Fields, Record, Tool, json_lines, other_shape

NAME = "OpenAI evals"
EVENT = ("run_id", "sample_id", "type", "data")


def _is_log(document: Document) -> bool:
    return isinstance(document.head.get("spec"), dict) and "completion_fns" in document.head["spec"]


def _records(document: Document) -> Iterator[Record]:
    """Return a record for each sample, in which the data of an event stand under its type."""
    samples: dict[tuple[Any, Any], dict[str, Any]] = {}
    spec, has_ended = document.head["spec"], False
    about = {"eval": spec.get("base_eval"), "model": next(iter(spec["completion_fns"]), None)}
    for line in json_lines(document.path):
        if "spec" in line or "final_report" in line:
            has_ended = has_ended or "final_report" in line
            continue
        lacking = [name for name in EVENT if name not in line]
        if lacking:
            needed = f"each of its events has {', '.join(EVENT)}"
            raise other_shape(document.path, NAME, f"without {lacking[0]!r}", needed)
        key = line["run_id"], line["sample_id"]
        values = samples.setdefault(key, {"run_id": key[0], "sample_id": key[1], **about})
        before = values.get(line["type"])
        values[line["type"]] = line["data"] if before is None else [*_as_list(before), line["data"]]
    if not has_ended:
        words = f"{document.path} has no final report: the {len(samples):,} samples that are in it are read."
        warnings.warn(words, TruecountWarning, stacklevel=2)
    for (run, sample), values in samples.items():
        yield Record(values, f"{run} {sample}", has_failed="error" in values)


def _as_list(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


OPENAI_EVALS = Tool(
    name=NAME,
    fields=Fields(label="match.expected", prediction="match.sampled", group="model", cluster="sample_id"),
    recognizes=_is_log,
    records=_records,
)
