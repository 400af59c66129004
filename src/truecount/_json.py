"""JSON that someone else wrote: whatever is wrong with it is one kind of error."""

import json
from typing import Any

from truecount.errors import InputError


class JsonError(ValueError):
    """Text that is not JSON, or JSON that means two things or cannot be held."""


def read_json(text: str) -> Any:
    """Return what a JSON text holds, or raise `JsonError`: for a key that stands twice in one object too.

    >>> read_json('{"a": 1}')
    {'a': 1}
    >>> read_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    truecount._json.JsonError: Key 'a' stands twice in one object
    """
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} (line {error.lineno}, character {error.colno})") from error
    except RecursionError as error:
        raise JsonError("Arrays or objects are nested too deep") from error
    except JsonError:
        raise
    except ValueError as error:
        raise JsonError("A whole number has more digits than Python reads") from error


def read_document(argument: str, text: str, remedy: str) -> Any:
    """Return what a JSON text holds; an error names the argument, and how such texts are written."""
    try:
        return read_json(text)
    except JsonError as error:
        raise InputError(argument, f"are not JSON ({error})", "they must be one JSON object", remedy) from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"Key {twice!r:.60} stands twice in one object")
    return found
