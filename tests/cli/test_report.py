"""What is written and what stands on the screen."""

import csv
import io
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click import BadParameter

from made_posterior import made_posterior
from truecount import Counts, Finding, Posterior
from truecount._wording import display_width
from truecount.cli import screen
from truecount.cli.report import Report
from truecount.errors import InputError
from truecount.results.summary import remark, tabulate

SERIOUS = Finding("not-converged", "serious", "The [draws] have not converged.", {}, "Draw longer.")
LONG = ["日本語" * 20, "[bold]" + "x" * 100]


class Terminal(io.StringIO):
    """Pretends to be one."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, **made: object) -> str:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    Report().deliver(made_posterior(**made))  # type: ignore[arg-type]
    return terminal.getvalue()


@pytest.mark.parametrize("columns", [20, 32, 36, 40, 60, 80, 200])
@pytest.mark.parametrize("classes", [["fail", "pass"], LONG], ids=["short", "long"])
def test_no_line_is_wider_than_the_terminal(columns: int, classes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(screen, "STYLES", {"serious": "none"})
    shown = on_terminal(monkeypatch, columns, classes=classes, findings=(SERIOUS,))
    plain = shown.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert "\x1b" not in plain
    assert max(map(display_width, plain.splitlines())) <= columns
    for row in tabulate(made_posterior(classes=classes)).rows:
        assert all(number in plain for number in row[1:])
    assert "The [draws]" in " ".join(plain.split())
    unbroken = "".join(line.partition("  ")[0] for line in plain.splitlines())
    assert all(name in unbroken for name in classes)


@pytest.mark.parametrize("columns", [36, 37])
def test_narrow_terminal_puts_classes_below_each_other(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [line.strip() for line in on_terminal(monkeypatch, columns).splitlines()]
    assert ("fail" in lines) == (columns == 36)
    assert any(line.startswith("fail   ") for line in lines) == (columns == 37)


def test_colour_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31mserious\x1b[0m" in on_terminal(monkeypatch, 80, findings=(SERIOUS,))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in on_terminal(monkeypatch, 80, findings=(SERIOUS,))


def test_names_are_never_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "[red]x[/red]" in on_terminal(monkeypatch, 80, classes=["[red]x[/red]", "[/]"])


def test_without_a_terminal_it_is_the_text_table(capsys: pytest.CaptureFixture[str]) -> None:
    Report().deliver(made_posterior(findings=(SERIOUS,)))
    assert capsys.readouterr().out == f"{made_posterior(findings=(SERIOUS,))}\n"


def test_neither_file_is_written_when_one_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("before")
    report = Report(json_file=str(tmp_path / "a.json"), csv_file=str(tmp_path / "b.csv"))

    def full_disk(self: Path, content: bytes) -> int:
        if content.startswith(b"class,"):
            raise OSError(28, "No space left on device")
        return len(content)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(InputError, match=r"b\.csv cannot be written: No space"):
        report.deliver(made_posterior())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "before"}


def test_bad_places_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        Report(json_file=str(tmp_path))
    with pytest.raises(InputError, match="no folder"):
        Report(csv_file=str(tmp_path / "nowhere" / "b.csv"))
    with pytest.raises(InputError, match="level"):
        Report(level=2)


def test_two_reports_do_not_go_to_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").symlink_to("x")
    for other in ("x", "./x", str(tmp_path / "x"), "there.csv"):
        with pytest.raises(BadParameter, match="--json and --csv cannot both go to"):
            Report(json_file="x", csv_file=other)
    with pytest.raises(BadParameter, match="--json and --csv cannot both go to '-'"):
        Report(json_file="-", csv_file="-")
    Report(json_file="x", csv_file="-", html_file="./y")


@pytest.mark.skipif(not Path(os.devnull).exists() or os.name == "nt", reason="no such device")
def test_device_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Report(json_file=os.devnull).deliver(made_posterior())
    assert not Path(os.devnull).is_file()
    assert capsys.readouterr() == ("", f"Wrote {os.devnull}.\n")


@pytest.mark.parametrize("quiet", [True, False])
def test_no_table_beside_a_file_unless_asked_and_findings_are_told(
    quiet: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    info = Finding("weighted-counts", "info", "They are weighted.")
    posterior, file = made_posterior(findings=(SERIOUS, info)), str(tmp_path / "a.csv")
    Report(csv_file=file, is_quiet=quiet).deliver(posterior)
    out, err = capsys.readouterr()
    told = [remark(SERIOUS)] if quiet else [remark(SERIOUS), remark(info), f"Wrote {file}."]
    assert (out, err.splitlines()) == ("", told)
    Report(csv_file=file, with_table=True, is_quiet=quiet).deliver(posterior)
    assert capsys.readouterr() == (f"{posterior}\n", "" if quiet else f"Wrote {file}.\n")
    Report(csv_file="-", is_quiet=True).deliver(posterior)
    out, err = capsys.readouterr()
    assert out == (tmp_path / "a.csv").read_text()
    assert err == f"{remark(SERIOUS)}\n"


def test_names_do_not_run_in_a_spreadsheet_or_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["=cmd|' /C calc'!A0", "@SUM(A1)", " +1+1", "-2", "a\x1b]0;x\x07\nb"]
    counts = Counts(np.eye(5, dtype=int), [1] * 5, classes=names)
    Report(csv_file="-").deliver(made_posterior(counts=counts))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["class"] for row in rows] == [
        "'=cmd|' /C calc'!A0",
        "'@SUM(A1)",
        "' +1+1",
        "-2",
        "a\\x1b]0;x\\x07\\nb",
    ]


@pytest.mark.parametrize(
    ("option", "path", "meant"),
    [
        ("csv", "out.parquet", "out.csv"),
        ("csv", "a.JSON", "a.csv"),
        ("json", "b.csv", "b.json"),
        ("html", "c.pdf", "c.html"),
    ],
)
def test_a_name_that_says_another_format_is_refused(option: str, path: str, meant: str) -> None:
    with pytest.raises(BadParameter, match=rf"--{option} '{path}' ends in .* Write --{option} {meant}\."):
        Report(**{f"{option}_file": path})


def test_names_without_a_format_are_taken(tmp_path: Path) -> None:
    Report(csv_file=str(tmp_path / "shares"), json_file=str(tmp_path / "v1.2"))


@pytest.mark.parametrize("sort", [False, True])
def test_one_class_or_an_order_in_text_csv_json_page_and_picture(sort: bool, tmp_path: Path) -> None:
    posterior = made_posterior(classes=["z", "a"])
    posterior = replace(posterior, draws=replace(posterior.draws, prevalence=posterior.prevalence[:, ::-1]))
    files = {option: str(tmp_path / f"a.{option}") for option in ("json", "csv", "html")}
    wanted: dict[str, Any] = {"by_size": True} if sort else {"of_interest": "a"}
    Report(
        **{f"{option}_file": path for option, path in files.items()}, plot_file=str(tmp_path / "a.svg"), **wanted
    ).deliver(posterior)
    with open(files["csv"]) as stream:
        assert [row["class"] for row in csv.DictReader(stream)] == (["a", "z"] if sort else ["a"])
    summary = json.loads(Path(files["json"]).read_text())
    assert [row["class"] for row in summary["classes"]] == ["z", "a"]
    assert summary.get("class_of_interest") == (None if sort else "a")
    page = Path(files["html"]).read_text(encoding="utf-8")
    rows = re.findall(
        r'<th scope="row"><span class="chip" style="background: var\(--class-(\d)\)"></span>(\w)</th>', page
    )
    assert rows == ([("1", "a"), ("0", "z")] if sort else [("1", "a")])
    assert ("“z”" in page.partition("<table")[0]) == sort


def unconverged(**options: Any) -> Posterior:
    posterior = made_posterior(chains=4, **options)
    run = replace(posterior.run, status="no-answer")
    return replace(posterior, draws=replace(posterior.draws, rhat=np.array([1.02, 1.38]), run=run))


def test_without_an_answer_no_file_has_numbers_that_look_like_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {f"{each}_file": str(tmp_path / f"a.{each}") for each in ("json", "csv", "html")}
    Report(**files, plot_file=str(tmp_path / "a.svg"), with_table=True).deliver(unconverged(findings=(SERIOUS,)))
    assert capsys.readouterr().out.startswith("No answer: R-hat is 1.380")
    with open(files["csv_file"]) as stream:
        for row in csv.DictReader(stream):
            assert (row["status"], row["mean"], row["lower"], row["upper"]) == ("no-answer", "", "", "")
    assert json.loads(Path(files["json_file"]).read_text())["status"] == "no-answer"
    page = Path(files["html_file"]).read_text(encoding="utf-8")
    before_counts = page.partition("How it was computed")[0]
    assert "No answer: R-hat is 1.380" in before_counts
    assert "<table" not in before_counts
    assert "<svg" not in page
    assert "Confusion matrix" not in page
    assert "posterior mean" not in (tmp_path / "a.svg").read_text()


def test_json_is_utf_8_even_where_a_name_is_not(tmp_path: Path) -> None:
    Report(json_file=str(tmp_path / "a.json")).deliver(made_posterior(classes=["é\ud800", "日"]))
    content = (tmp_path / "a.json").read_bytes()
    assert "日".encode() in content
    assert [row["class"] for row in json.loads(content)["classes"]] == ["é\ud800", "日"]
