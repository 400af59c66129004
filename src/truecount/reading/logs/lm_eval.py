"""Sample logs of lm-evaluation-harness: a line for each document and filter."""

from collections.abc import Iterator
from typing import Any

from truecount.errors import InputError
from truecount.reading.logs.record import Document, Fields, Record, Tool, json_lines, other_shape

NAME = "lm-evaluation-harness"
NEEDED = ("doc_id", "doc", "target", "filtered_resps")
BULKY = ("arguments", "resps", "filtered_resps", "filter", "metrics")


def _is_log(document: Document) -> bool:
    return {"doc_id", "doc", "resps"} <= document.head.keys()


def _records(document: Document) -> Iterator[Record]:
    """Return a record for each document, in which each filter has an answer and metrics of its own."""
    documents: dict[Any, dict[str, Any]] = {}
    for line in json_lines(document.path):
        lacking = [name for name in NEEDED if name not in line]
        if lacking:
            needed = f"each of its lines has {', '.join(NEEDED)}"
            raise other_shape(document.path, NAME, f"without {lacking[0]!r}", needed)
        metrics, name = line.get("metrics", ()), line.get("filter", "none")
        about = {key: value for key, value in line.items() if key not in (*BULKY, *metrics)}
        filters = documents.setdefault(line["doc_id"], {**about, "filters": {}})["filters"]
        if name in filters:
            said = f"has document {line['doc_id']!r} twice under filter {name!r}"
            raise InputError(str(document.path), said, "each is counted once", "Remove one of the two")
        filters[name] = {"answer": _answer(line["filtered_resps"]), **{each: line.get(each) for each in metrics}}
    for values in documents.values():
        only = next(iter(values["filters"].values())) if len(values["filters"]) == 1 else {}
        yield Record({**values, **only})


def _answer(responses: Any) -> Any:
    """Return the choice of the largest likelihood, by its place, or the first text that was generated."""
    if isinstance(responses, list) and len(responses) > 1 and all(map(_is_likelihood, responses)):
        likelihoods = [float(response[0]) for response in responses]
        return str(likelihoods.index(max(likelihoods)))
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses


def _is_likelihood(response: Any) -> bool:
    return isinstance(response, list) and len(response) == 2 and str(response[1]) in ("True", "False")


LM_EVAL = Tool(
    name=NAME,
    fields=Fields(label="target", prediction="answer", cluster="doc_hash"),
    recognizes=_is_log,
    records=_records,
)
