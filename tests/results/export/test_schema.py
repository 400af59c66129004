"""The JSON holds what its documentation lists, field by field."""

import re
from pathlib import Path
from typing import Any

import pytest

from made_counts import groups_of
from made_groups import models, weeks
from truecount import Counts, Questions, check, compare, estimate, infer
from truecount.results.groups.export import to_dict

COUNTS = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
DOCUMENT = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")


def documented(schema: str) -> list[list[str]]:
    """The fields of each table below a schema's heading."""
    [section] = re.findall(rf"## {re.escape(schema)}\n(.*?)(?=\n## |\Z)", DOCUMENT, flags=re.DOTALL)
    tables = re.findall(r"\|---\|---\|\n((?:\|.*\n?)+)", section)
    return [re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) for table in tables]


@pytest.fixture(scope="module")
def summaries() -> dict[str, dict[str, Any]]:
    found = [infer(COUNTS, seed=1), COUNTS, estimate(COUNTS, "cc"), compare(COUNTS, ["cc", "pacc"])]
    return {summary["schema"]: summary for summary in (each.to_dict() for each in found)}


@pytest.mark.parametrize(
    "schema", ["truecount.estimate/1", "truecount.counts/1", "truecount.point/1", "truecount.comparison/1"]
)
def test_fields_are_those_documented_in_that_order(schema: str, summaries: dict[str, dict[str, Any]]) -> None:
    assert list(summaries[schema]) == documented(schema)[0]


def test_parts_are_those_documented(summaries: dict[str, dict[str, Any]]) -> None:
    _, of_class, of_finding = documented("truecount.estimate/1")
    answer = summaries["truecount.estimate/1"]
    assert list(answer["classes"][0]) == of_class
    assert all(list(finding) == of_finding for finding in summaries["truecount.point/1"]["findings"])
    assert list(summaries["truecount.comparison/1"]["methods"][0]) == documented("truecount.comparison/1")[1]
    assert {"name", "asked"} <= answer["engine"].keys()
    assert set(answer["prior"]) == {"prevalence", "confusion", "known", "given_output"}


def test_groups_are_documented_field_by_field() -> None:
    answer = models()
    asked = Questions(above={"pass": 0.5}, below={"pass": 0.9})
    summary = to_dict(answer.summary(questions=asked), answer.data)
    fields, of_group, of_class, of_pair = documented("truecount.estimates/2")
    assert list(summary) == fields
    assert list(to_dict(weeks().summary(), weeks().data)["groups"][0]) == of_group
    more = ["threshold_above", "probability_above", "threshold_below", "probability_below"]
    found = list(summary["groups"][0]["classes"][0])
    assert [name for name in found if name not in more] == of_class
    assert set(more) <= set(found)
    assert list(summary["comparisons"][0]) == of_pair


def test_checks_are_documented_table_by_table() -> None:
    found = check(
        COUNTS, audit=COUNTS, label_error=0.05, drift=[0.05], above={"fail": 0.5}, calibration_sets=20, replicates=99
    )
    summary = found.to_dict()
    assert list(summary) == documented("truecount.check/1")[0]
    lines = re.findall(r"^\| `(\w+)` \| (`.*?) \| .*\|$", DOCUMENT, flags=re.MULTILINE)
    fields = {name: re.findall(r"`(\w+)`", words) for name, words in lines}
    fields["priors"] += ["fail", "pass"]
    groups = check(groups_of(COUNTS, {"a": COUNTS.unlabeled, "b": COUNTS.unlabeled}), replicates=19).tables["groups"]
    tables = summary["tables"] | {"groups": groups}
    assert {name: list(rows[0]) for name, rows in tables.items()} == fields


@pytest.mark.parametrize("schema", sorted(set(re.findall(r"truecount\.\w+/1", DOCUMENT))))
def test_every_schema_named_is_one_of_the_package(schema: str) -> None:
    source = Path(__file__).parents[3] / "src" / "truecount"
    assert any(f'"{schema}"' in file.read_text(encoding="utf-8") for file in source.rglob("*.py"))
