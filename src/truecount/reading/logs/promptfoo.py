"""Results of promptfoo: one JSON object, or a line for each result."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from truecount.reading.logs.record import Document, Fields, Record, Tool, json_lines, other_shape, other_version

NAME = "promptfoo"
VERSIONS = (3,)
NEEDED = ("success", "vars", "failureReason")
FAILED = 2
"""The reason of a failure that is an error and no verdict."""
BULKY = ("tokenUsage", "testCase", "prompt")


def _is_log(document: Document) -> bool:
    return "evalId" in document.head or {"promptIdx", "testIdx", "gradingResult"} <= document.head.keys()


def _records(document: Document) -> Iterator[Record]:
    for result in _results(document):
        lacking = [name for name in NEEDED if name not in result]
        if lacking:
            needed = f"each of its results has {', '.join(NEEDED)}"
            raise other_shape(document.path, NAME, f"without {lacking[0]!r}", needed)
        has_failed = result["failureReason"] == FAILED
        values = {name: value for name, value in result.items() if name not in BULKY}
        values |= {
            "item": _item(result),
            "success": None if has_failed else _verdict(result),
        }
        values |= {"human": rating} if (rating := _rating(result)) is not None else {}
        yield Record(values, result.get("id"), has_failed=has_failed)


def _item(result: Mapping[str, Any]) -> str:
    """Return what repeated runs of a test case have in common: who answered, and what was asked."""
    provider = (result.get("provider") or {}).get("id")
    return json.dumps([provider, result.get("promptIdx"), result["vars"]], sort_keys=True)


def _results(document: Document) -> Iterator[Mapping[str, Any]]:
    if "evalId" not in document.head:
        yield from json_lines(document.path)
        return
    results = document.head.get("results")
    if not isinstance(results, Mapping) or not isinstance(results.get("results"), list):
        raise other_shape(document.path, NAME, "without results", "an entry 'results' holds a list of results")
    if results.get("version") not in VERSIONS:
        raise other_version(document.path, NAME, results.get("version"), VERSIONS)
    yield from results["results"]


def _components(result: Mapping[str, Any], *, by_people: bool) -> list[bool]:
    """Return the verdicts of the assertions, or those that people gave in the viewer."""
    components = (result.get("gradingResult") or {}).get("componentResults") or []
    is_human = [((each.get("assertion") or {}).get("type") == "human") for each in components]
    return [bool(each.get("pass")) for each, human in zip(components, is_human, strict=True) if human is by_people]


def _rating(result: Mapping[str, Any]) -> bool | None:
    ratings = _components(result, by_people=True)
    return ratings[-1] if ratings else None


def _verdict(result: Mapping[str, Any]) -> bool:
    """Return what the assertions said: a rating by people takes the place of their verdict."""
    if not _components(result, by_people=True):
        return bool(result["success"])
    return all(_components(result, by_people=False))


PROMPTFOO = Tool(
    name=NAME,
    fields=Fields(label="human", prediction="success", group="provider.id", cluster="item"),
    recognizes=_is_log,
    records=_records,
)
