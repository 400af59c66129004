"""Results that promptfoo wrote, with ratings that people gave in its viewer."""

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

import truecount as tc
from command import run
from truecount.errors import InputError
from writers.items import ITEMS
from written_by import WRITERS, lacking, numbers, run_tool

COMMAND = os.environ.get("TRUECOUNT_PROMPTFOO") or shutil.which("promptfoo")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMMAND is None:
        lacking("npm has not installed promptfoo")
    folder = tmp_path_factory.mktemp("promptfoo")
    run_tool(WRITERS / "write_promptfoo.py", folder, COMMAND, python=sys.executable)
    return folder


def success(verdict: str) -> bool | str:
    """What promptfoo makes of a verdict: where there is none its provider fails."""
    return "error" if verdict == "N" else verdict == "C"


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
@pytest.mark.parametrize("label", ["vars.human", "metadata.human"])
def test_counts_are_those_by_hand(files: Path, name: str, label: str) -> None:
    counts = tc.count_log(files / name, label=label)
    assert numbers(counts) == Counter((item.human, success(item.verdict)) for item in ITEMS)


def test_ratings_are_labels_and_do_not_replace_verdicts(files: Path) -> None:
    """promptfoo overwrites `success` where an item is rated: what its assertions said is read all the same."""
    told = json.loads((files / "rated.json").read_text())["results"]["results"]
    replaced = [result["success"] for result in told if result["vars"]["human"] == "I"]
    assert not any(replaced)
    rated = {"C": True, "I": False, None: None}
    expected = Counter((rated[item.human], success(item.verdict)) for item in ITEMS if item.verdict != "N")
    expected[None, "error"] = sum(item.verdict == "N" for item in ITEMS)  # an error is not rated here
    assert numbers(tc.count_log(files / "rated.json")) == expected


def test_the_command_reads_it_by_provider(files: Path, tmp_path: Path) -> None:
    given = (str(files / "results.json"), "--label", "vars.human", "--by", "provider.id")
    told = json.loads(run("counts", *given, "-o", "-", folder=tmp_path).stdout)
    assert told["groups"] == [["say"]]


def test_another_version_or_shape_is_refused(files: Path, tmp_path: Path) -> None:
    told = json.loads((files / "results.json").read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**told, "results": {**told["results"], "version": 2}}))
    with pytest.raises(InputError, match="is a log of promptfoo of version 2: version '3' is read"):
        tc.count_log(other)
    other.write_text(json.dumps({**told, "results": []}))
    with pytest.raises(InputError, match="is a log of promptfoo without results"):
        tc.count_log(other)
    lines = (files / "results.jsonl").read_text().replace('"failureReason"', '"reason"')
    (tmp_path / "other.jsonl").write_text(lines)
    with pytest.raises(InputError, match="is a log of promptfoo without 'failureReason'"):
        tc.count_log(tmp_path / "other.jsonl")
