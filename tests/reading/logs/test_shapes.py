"""Logs that the tools wrote for the tutorials, in which any field is replaced: read or refused, and nothing else."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import truecount as tc
from as_printed import TUTORIALS
from truecount.errors import InputError
from truecount.reading.logs import inspect
from truecount.reading.logs.log import TOOLS

LOGS = {
    "Inspect": "judged.eval",
    "lm-evaluation-harness": "samples_free.jsonl",
    "promptfoo": "promptfoo.json",
    "DeepEval": "deepeval.json",
    "OpenAI evals": "openai_evals.jsonl",
    "MLflow": "eval_results_table.json",
}
"""A log of every tool, by the name of the tool."""
LINES = 4
"""Of a file, that are kept: of OpenAI evals, two are about the run."""
OTHERS = (None, 7, "x", [7], {"x": 7})


def few(value: Any) -> Any:
    """Return a value whose lists have one entry."""
    if isinstance(value, dict):
        return {name: few(each) for name, each in value.items()}
    return [few(each) for each in value[:1]] if isinstance(value, list) else value


def changed(value: Any) -> Iterator[Any]:
    """Return the value with each part of it left out, and replaced by something of another kind."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in list(places):
        for other in [*changed(part), *OTHERS]:
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[place] = other
            yield copy
        if isinstance(value, dict):
            yield {name: each for name, each in value.items() if name != place}


def archive(path: Path) -> tuple[Any, Callable[[Path, Any], None]]:
    """Return what is read of an archive of Inspect, and what writes it."""
    names = (inspect.HEADER, inspect.SUMMARIES)

    def write(target: Path, value: Any) -> None:
        with zipfile.ZipFile(target, "w") as parts:
            for name in names:
                if isinstance(value, dict) and name in value:
                    parts.writestr(name, json.dumps(value[name]))

    with zipfile.ZipFile(path) as parts:
        return few({name: inspect._json_of(parts, path, name) for name in names}), write


def lines(path: Path) -> tuple[Any, Callable[[Path, Any], None]]:
    def write(target: Path, value: Any) -> None:
        target.write_text("".join(json.dumps(line) + "\n" for line in value), encoding="utf-8")

    return [few(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()[:LINES]], write


def one(path: Path) -> tuple[Any, Callable[[Path, Any], None]]:
    return few(json.loads(path.read_text(encoding="utf-8"))), lambda target, value: target.write_text(json.dumps(value))


def test_every_tool_has_a_log() -> None:
    assert set(LOGS) == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("tool", LOGS)
@pytest.mark.filterwarnings("ignore::truecount.errors.TruecountWarning")
def test_a_field_of_another_kind_is_read_or_refused(tool: str, tmp_path: Path) -> None:
    path = TUTORIALS / "log" / LOGS[tool]
    value, write = {".eval": archive, ".jsonl": lines, ".json": one}[path.suffix](path)
    assert tc.read_log(path).tool.name == tool
    refused = []
    for number, other in enumerate(changed(value)):
        target = tmp_path / f"{number}{path.suffix}"
        write(target, other)
        try:
            log = tc.read_log(target)
            log.repeats_items()
            list(log.columns)
        except InputError as error:
            refused.append(error)
        target.unlink()
    assert len(refused) > 10
    assert all(each.argument and each.found and each.needed and each.remedy for each in refused)
