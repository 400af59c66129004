"""A check as a gate: JUnit XML, a summary for GitHub, and an exit code."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

import truecount as tc
from command import run
from truecount.results.export.gate import tests_of as asked_of
from truecount.results.export.gate import to_junit, to_markdown

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
ODD = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["<b>|*", "pa`ss"])


@pytest.fixture(scope="module")
def passed() -> tc.Check:
    return tc.check(COUNTS, above={"fail": 0.5}, replicates=19, seed=1)


@pytest.fixture(scope="module")
def failed() -> tc.Check:
    return tc.check(COUNTS, above={"pass": 0.8}, below={"pass": 0.9}, replicates=19, seed=1)


def test_a_claim_passes_where_the_whole_interval_shows_it(passed: tc.Check, failed: tc.Check) -> None:
    lower, upper = tc.infer(COUNTS, seed=1).interval()[1]
    assert upper < 0.8
    assert lower > 0
    assert [test.is_passed for test in asked_of(passed)] == [True, True, True]
    named = {test.name: test.is_passed for test in asked_of(failed)}
    assert named["pass above 80.0 %"] is False
    assert named["pass below 90.0 %"] is True


def test_a_serious_finding_fails_by_its_code(passed: tc.Check) -> None:
    grave = tc.Finding("label-shift-violated", "serious", "No mix of the classes explains the outputs.", "Label more.")
    found = asked_of(replace(passed, findings=(grave, *passed.findings)))
    assert [(test.name, test.is_passed) for test in found if test.kind == "finding"] == [
        ("label-shift-violated", False)
    ]


def test_junit_holds_the_tests_and_the_shares(failed: tc.Check) -> None:
    root = ElementTree.fromstring(to_junit(failed))  # noqa: S314
    [suite] = root
    assert suite.attrib == {"name": "truecount check", "tests": "4", "failures": "1", "errors": "0", "skipped": "0"}
    assert [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None] == [
        "pass above 80.0 %"
    ]
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["corrected"] == "true"
    assert float(properties["share.pass"]) == failed.posterior.mean[1]
    assert float(properties["counted.pass"]) == 0.4


def test_a_summary_shows_the_shares_and_what_failed(failed: tc.Check, passed: tc.Check) -> None:
    text = to_markdown(failed)
    assert text.startswith("### truecount check: 1 of 4 failed\n")
    assert "| class | counted | true share | 95 % interval |" in text
    assert "\N{CROSS MARK} pass above 80.0 %" in text
    assert "True shares are corrected for misclassification; counted ones are not." in text
    assert to_markdown(passed).startswith("### truecount check: passed\n")


def test_names_are_neither_html_nor_markdown() -> None:
    text = to_markdown(tc.check(ODD, replicates=19, seed=1))
    assert "<b>" not in text
    assert "&lt;b&gt;\\|\\*" in text
    ElementTree.fromstring(to_junit(tc.check(ODD, replicates=19, seed=1)))  # noqa: S314


def test_the_command_is_a_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counts.json").write_text(COUNTS.to_json())
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    gate = ("check", "counts.json", "--strict", "--github-summary", "--junit", "gate.xml")
    done = run(*gate, "--above", "pass=80%", folder=tmp_path)
    assert done.returncode == 3
    assert "Not shown: pass above 80.0 %." in done.stderr
    assert summary.read_text().startswith("before\n### truecount check: 1 of 3 failed\n")
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"  # noqa: S314
    assert run(*gate, "--below", "pass=80%", folder=tmp_path).returncode == 0
    assert "### truecount check: passed" in summary.read_text()


def test_without_strict_a_claim_that_is_not_shown_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(COUNTS.to_json())
    assert run("check", "counts.json", "--above", "pass=80%", folder=tmp_path).returncode == 0


def test_elsewhere_the_summary_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counts.json").write_text(COUNTS.to_json())
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    printed = run("check", "counts.json", "--github-summary", folder=tmp_path)
    assert printed.stdout.startswith("### truecount check: passed\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    refused = run("check", "counts.json", "--github-summary", folder=tmp_path)
    assert refused.returncode == 1
    assert "GITHUB_STEP_SUMMARY cannot be written" in refused.stderr
