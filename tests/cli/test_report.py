"""What is written and what stands on the screen."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from typer import BadParameter

from made_posterior import made_posterior
from truecount import Finding
from truecount.cli import report as module
from truecount.cli import screen
from truecount.cli.report import Report
from truecount.errors import InputError
from truecount.results.table import display_width, tabulate

SERIOUS = Finding("not-converged", "serious", "The [draws] have not settled.", {}, "Draw longer.")
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

    def full_disk(path: str) -> None:
        if path.endswith("b.csv"):
            raise OSError(28, "No space left on device")
        return whole_file(path)

    whole_file = module.whole_file
    monkeypatch.setattr(module, "whole_file", full_disk)
    with pytest.raises(OSError, match="No space"):
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
    assert capsys.readouterr().out


def test_json_is_utf_8_even_where_a_name_is_not(tmp_path: Path) -> None:
    Report(json_file=str(tmp_path / "a.json")).deliver(made_posterior(classes=["é\ud800", "日"]))
    content = (tmp_path / "a.json").read_bytes()
    assert "日".encode() in content
    assert [row["class"] for row in json.loads(content)["classes"]] == ["é\ud800", "日"]
