"""Test runs of DeepEval: one JSON object with test cases and what each metric said of them."""

from collections.abc import Iterator
from typing import Any

from truecount.reading.logs.record import Document, Fields, Record, Tool, other_shape

NAME = "DeepEval"


def _is_log(document: Document) -> bool:
    return {"testCases", "metricsScores"} <= document.head.keys()


def _records(document: Document) -> Iterator[Record]:
    cases = [*(document.head["testCases"] or []), *(document.head.get("conversationalTestCases") or [])]
    for case in cases:
        if "success" not in case or not isinstance(case.get("metricsData"), list):
            needed = "each of its test cases has 'success' and 'metricsData'"
            raise other_shape(document.path, NAME, "without what its metrics said", needed)
        has_failed = any(metric.get("error") for metric in case["metricsData"])
        values: dict[str, Any] = {name: value for name, value in case.items() if name != "metricsData"}
        for metric in case["metricsData"]:
            values[f"metrics.{metric['name']}"] = None if metric.get("error") else metric["success"]
        values["metrics"] = {metric["name"]: metric for metric in case["metricsData"]}
        values["success"] = None if has_failed else case["success"]
        yield Record(values, has_failed=has_failed)


DEEPEVAL = Tool(
    name=NAME,
    fields=Fields(prediction="success", cluster="input"),
    recognizes=_is_log,
    records=_records,
)
