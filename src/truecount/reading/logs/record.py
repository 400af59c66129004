"""What logs consist of: records, and which of their fields are label, prediction, group and cluster."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from truecount._wording import quoted
from truecount.errors import InputError

FAILED = "error"
"""The output of an item on which the evaluation failed before it had a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Which fields of a tool's records are read by default; None where the tool has none and the caller names it.

    Parameters
    ----------
    label, prediction
        The true class, and the output of the classifier.
    group
        What evaluations differ in, mostly the model.
    cluster
        What repeated runs of one item have in common, which its items are clustered by where some are repeated.
    """

    label: str | Sequence[str] | None = None
    prediction: str | Sequence[str] | None = None
    group: str | None = None
    cluster: str | Sequence[str] | None = None


class Record(NamedTuple):
    """One item of an evaluation.

    Parameters
    ----------
    values
        Its fields by name; a dot leads into what is nested.
    identity
        The same in two logs where both hold this run of the item; None where the tool gives it no name.
    has_failed
        Whether the evaluation of the item ended in an error.
    """

    values: Mapping[str, Any]
    identity: str | None = None
    has_failed: bool = False


class Document(NamedTuple):
    """A file, and the first JSON object in it: all of a ``.json`` file, the first line of JSON Lines."""

    path: Path
    head: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An evaluation tool whose logs are read.

    Parameters
    ----------
    name
        What it is called.
    fields
        Which of its fields are read by default.
    recognizes
        Whether a document is one of its logs, of whatever version.
    records
        What the log holds; raises `InputError` where it has another version or shape.
    """

    name: str
    fields: Fields
    recognizes: Callable[[Document], bool]
    records: Callable[[Document], Iterator[Record]]


def value_at(values: Any, path: str) -> Any:
    """Return what a path with dots leads to, or None; a key that has dots in its name comes first.

    >>> value_at({"a.b": 1, "a": {"b": 2, "c": [{"d": 3}]}}, "a.b"), value_at({"a": {"c": [{"d": 3}]}}, "a.c.0.d")
    (1, 3)
    """
    if isinstance(values, list):
        place = path.partition(".")[0]
        values = {place: values[int(place)]} if place.isdecimal() and int(place) < len(values) else {}
    if not isinstance(values, Mapping):
        return None
    if path in values:
        return values[path]
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        outer = ".".join(parts[:length])
        if outer in values:
            found = value_at(values[outer], ".".join(parts[length:]))
            if found is not None:
                return found
    return None


def leaves(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Return the paths of all fields that hold one value.

    >>> list(leaves({"id": 1, "vars": {"topic": "a", "tags": ["b"]}, "scores.judge": "C"}))
    ['id', 'vars.topic', 'scores.judge']
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{above}{name}.")
        elif not isinstance(value, list):
            yield f"{above}{name}"


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Return the objects of a file of JSON Lines; the last line of a run that was cut off is an error."""
    from truecount.reading.locate import open_text

    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError as error:
                reason = f"cannot be read (line {number}: {error})"
                raise InputError(str(path), reason, "every line is a JSON object", "Write the log again") from error
            if not isinstance(found, dict):
                raise InputError(str(path), f"has no object in line {number}", "every line is one", "Write it again")
            yield found


def other_shape(path: Path, tool: str, lacking: str, needed: str) -> InputError:
    """Return the error of a log that has another shape than is read."""
    remedy = f"Write it with another version of {tool}, or export a table and name its columns"
    return InputError(str(path), f"is a log of {tool} {lacking}", needed, remedy)


def other_version(path: Path, tool: str, version: object, known: tuple[object, ...]) -> InputError:
    """Return the error of a log whose version is not read."""
    return other_shape(path, tool, f"of version {version!r:.40}", f"version {quoted(map(str, known))} is read")
