"""All that a worker can be asked for; loading this loads the whole package."""

from collections.abc import Callable, Mapping
from typing import Any

from truecount.app import answer, tables
from truecount.app.request import Chosen, shown


def _preview(values: Any) -> dict[str, Any]:
    path, place = values
    with tables.called({path: shown(place)}):
        return tables.preview(path)


def _count(values: Any) -> dict[str, Any]:
    paths, chosen = values
    return tables.count(paths, Chosen.read(chosen))


TASKS: Mapping[str, Callable[[Any], Any]] = {**answer.TASKS, "preview": _preview, "count": _count}
