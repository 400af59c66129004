"""All that a worker can be asked for; loading this loads the whole package."""

from collections.abc import Callable, Mapping
from typing import Any

from truecount.app import answer, tables
from truecount.app.request import Chosen
from truecount.errors import InputError


def _preview(values: Any) -> dict[str, Any]:
    path, shown = values
    try:
        return tables.preview(path)
    except InputError as error:
        parts = (error.argument, error.found, error.needed, error.remedy)
        raise InputError(*(part.replace(path, shown) if path in part else part for part in parts)) from error


def _count(values: Any) -> dict[str, Any]:
    path, chosen = values
    return tables.count(path, Chosen.read(chosen))


TASKS: Mapping[str, Callable[[Any], Any]] = {**answer.TASKS, "preview": _preview, "count": _count}
