"""OpenMetrics text: what Prometheus's own parser reads is what the answer holds."""

from pathlib import Path
from typing import Any

import pytest

import truecount as tc
from command import run
from made_groups import models
from truecount.results.export.openmetrics import to_openmetrics

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", 'pa"s\\s\n'])


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = list(parser.text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def test_shares_say_whether_they_are_corrected() -> None:
    answer = tc.infer(COUNTS, seed=1)
    text = to_openmetrics(answer.to_dict())
    found = parsed(text)
    for row in answer.to_dict()["classes"]:
        name = ("class", row["class"])
        assert found["truecount_share", (name, ("corrected", "true"))] == row["mean"]
        assert found["truecount_share", (name, ("corrected", "false"))] == row["counted"]
        assert found["truecount_share_lower", (name, ("level", "0.95"))] == row["lower"]
        assert found["truecount_share_upper", (name, ("level", "0.95"))] == row["upper"]
    assert found["truecount_items", ()] == 1000
    assert found["truecount_has_answer", ()] == 1
    assert text.endswith("# EOF\n")


def test_groups_are_labels() -> None:
    answer = models()
    values = answer.to_dict()
    found = parsed(to_openmetrics(values))
    for group in values["groups"]:
        labels = tuple(zip(values["by"], map(str, group["group"]), strict=True))
        for row in group["classes"]:
            key = tuple(sorted([*labels, ("class", str(row["class"])), ("corrected", "true")]))
            assert found["truecount_share", key] == row["mean"]


@pytest.mark.parametrize(("method", "flag"), [("cc", "false"), ("acc", "true")])
def test_a_point_has_its_method(method: str, flag: str) -> None:
    point = tc.estimate(COUNTS, method)
    found = parsed(to_openmetrics(point.to_dict()))
    key = (("class", "fail"), ("corrected", flag), ("method", method))
    assert found["truecount_share", key] == pytest.approx(point.prevalence[0])


def test_findings_are_counted_by_code() -> None:
    answer = tc.infer(tc.Counts([[3, 3], [3, 3]], [60, 40], classes=["a", "b"]), seed=1)
    found = parsed(to_openmetrics(answer.to_dict()))
    told = {dict(labels)["code"] for name, labels in found if name == "truecount_findings"}
    assert told == {finding.code for finding in answer.findings}
    assert told


def test_the_command_writes_it(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(COUNTS.to_json())
    printed = run("estimate", "counts.json", "--openmetrics", "-", folder=tmp_path)
    assert parsed(printed.stdout) == parsed(to_openmetrics(tc.infer(COUNTS, seed=0).to_dict()))
    run("estimate", "counts.json", "--openmetrics", "shares.prom", "--json", "all.json", folder=tmp_path)
    assert (tmp_path / "shares.prom").read_text() == printed.stdout
    assert (tmp_path / "all.json").is_file()
    refused: Any = run("estimate", "counts.json", "--all-methods", "--openmetrics", "-", folder=tmp_path)
    assert refused.returncode == 2
