"""Whatever the command writes says whether its shares are corrected for misclassification, for machines to read."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from command import run

COLUMNS = ["--label", "y", "--prediction", "c"]


def in_json(path: Path) -> set[bool]:
    told = json.loads(path.read_text())
    return {told.get("answer", told)["corrected"]}


def in_rows(path: Path) -> set[bool]:
    """Of a table that DuckDB reads."""
    return {corrected for (corrected,) in duckdb.sql(f"SELECT corrected::BOOLEAN FROM '{path}'").fetchall()}  # noqa: S608


def in_csv(path: Path) -> set[bool]:
    with path.open(newline="") as stream:
        return {row["corrected"] == "True" for row in csv.DictReader(stream)}


def in_html(path: Path) -> set[bool]:
    return {
        told == "true" for told in re.findall(r'<meta name="truecount:corrected" content="(\w+)">', path.read_text())
    }


def in_junit(path: Path) -> set[bool]:
    root = ElementTree.fromstring(path.read_text())  # noqa: S314
    return {each.get("value") == "true" for each in root.iter("property") if each.get("name") == "corrected"}


def in_summary(path: Path) -> set[bool]:
    return {
        told == "true" for told in re.findall(r"^<!-- truecount corrected=(\w+) -->$", path.read_text(), re.MULTILINE)
    }


def in_metrics(path: Path) -> set[bool]:
    """Of the shares that are no plain count beside a corrected one: intervals belong to them."""
    found = {}
    for family in text_string_to_metric_families(path.read_text()):
        for sample in family.samples if family.name == "truecount_share" else ():
            labels = {name: value for name, value in sample.labels.items() if name != "corrected"}
            found.setdefault(tuple(labels.items()), set()).add(sample.labels["corrected"] == "true")
    return {max(flags) for flags in found.values()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{label},{output},{group}" for label, output in ("aa", "ab", "bb", "bb") for group in "xy"] * 5
    rows += [f",{output},{group}" for output in "aab" for group in "xy"] * 9
    (tmp_path / "runs.csv").write_text("\n".join(["y,c,g", *rows]) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "is_corrected"),
    [([], True), (["--by", "g", "--independent"], True), (["--method", "cc"], False), (["--method", "acc"], True)],
    ids=["one population", "groups", "counted", "a point"],
)
def test_files_of_an_estimate_say_so(folder: Path, arguments: list[str], is_corrected: bool) -> None:
    read: dict[str, Callable[[Path], set[bool]]] = {"json": in_json, "csv": in_csv, "openmetrics": in_metrics}
    if "--method" not in arguments:
        read["html"] = in_html
    asked = [part for name in read for part in (f"--{name}", f"found.{name}")]
    done = run("estimate", "runs.csv", *COLUMNS, *arguments, *asked, folder=folder)
    assert done.returncode == 0, done.stderr
    assert {name: reader(folder / f"found.{name}") for name, reader in read.items()} == {
        name: {is_corrected} for name in read
    }


@pytest.mark.parametrize(
    ("ending", "kind"), [("parquet", "--separate"), ("csv", "--independent"), ("jsonl", "--independent")]
)
def test_rows_of_many_groups_say_so(folder: Path, ending: str, kind: str) -> None:
    done = run("estimate", "runs.csv", *COLUMNS, "--by", "g", kind, "-o", f"found.{ending}", folder=folder)
    assert done.returncode == 0, done.stderr
    assert in_rows(folder / f"found.{ending}") == {True}


def test_a_gate_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    asked = ["--above", "a=10%", "--github-summary", "--junit", "found.xml", "--json", "found.json"]
    done = run("check", "runs.csv", *COLUMNS, *asked, folder=folder)
    assert done.returncode == 0, done.stderr
    assert (
        in_summary(folder / "summary.md") == in_junit(folder / "found.xml") == in_json(folder / "found.json") == {True}
    )
