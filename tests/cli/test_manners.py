"""How the command behaves at a keyboard: completion, widths, colours, pipes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command import run
from truecount._wording import display_width
from truecount.cli import screen
from truecount.cli.screen import print_lines
from truecount.examples import JUDGE

terminal = pytest.importorskip("terminal", reason="needs a Unix terminal")

DATA = [str(JUDGE), "--label", "human", "--prediction", "verdict"]
SURVEY = ["estimate", "--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
COLOR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("truecount est", ["estimate"]),
        ("truecount estimate --eng", ["--engine"]),
        ("truecount estimate --engine g", ["gibbs"]),
        ("truecount estimate --interval h", ["hdi"]),
        ("truecount estimate --target r", ["realized"]),
        ("truecount estimate --method bb", ["bbse", "bbse-soft"]),
        (f"truecount estimate {JUDGE} --label h", ["human"]),
        (f"truecount estimate {JUDGE} --prediction ", ["id", "release", "human", "verdict"]),
        (f"truecount estimate {JUDGE} --by rel", ["release"]),
        ("truecount estimate nowhere.csv --label h", []),
    ],
)
def test_the_shell_completes(words: str, proposed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(words, tmp_path, monkeypatch) == proposed


def completed(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what bash is told may follow the last of the words."""
    monkeypatch.setenv("_TRUECOUNT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    return [each.removeprefix("plain,") for each in run(folder=folder).stdout.split()]


def test_the_shell_completes_columns_of_any_table_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is one table, and the keys of any record are columns."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.jsonl").write_text('{"verdict": 1}\n{"verdict": 0, "human": 1}\n')
    (tmp_path / "text.csv").write_text("human;verdict\n1;0\n")
    assert completed("truecount estimate runs --label h", tmp_path, monkeypatch) == ["human"]
    assert completed("truecount estimate text.csv --prediction v", tmp_path, monkeypatch) == ["verdict"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_a_shell(shell: str, tmp_path: Path) -> None:
    assert f"_TRUECOUNT_COMPLETE={shell}_complete" in run("--show-completion", shell, folder=tmp_path).stdout


def test_bash_completes_after_what_is_printed(tmp_path: Path) -> None:
    """A real bash loads the script, calls its function as it does when Tab is pressed, and prints what it proposes."""
    script = run("--show-completion", "bash", folder=tmp_path).stdout
    typed = "COMP_WORDS=(truecount estimate --target r); COMP_CWORD=3"
    pressed = f"{typed}; _truecount_completion truecount; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{pressed}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.stdout.split() == ["realized"], done.stderr


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        [*SURVEY],
        [*SURVEY, "--all-methods"],
        [*SURVEY, "--method", "acc"],
        ["check", *SURVEY[1:]],
        ["demo"],
    ],
    ids=["estimate", "all", "method", "check", "demo"],
)
def test_nothing_is_wider_than_the_terminal(arguments: list[str], columns: int, tmp_path: Path) -> None:
    shown = terminal.run_in_terminal(*arguments, folder=tmp_path, columns=columns)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.replace("\r", "\n"))
    wide = [line for line in plain.splitlines() if display_width(line.rstrip()) > columns]
    assert plain.strip()
    assert [line for line in wide if not _is_one_word(line)] == []


def _is_one_word(line: str) -> bool:
    """A path or a command to copy cannot be broken."""
    return len(line.split()) == 1 or "truecount estimate" in line


def test_colours_in_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict\na,a\nb,b\n,c\n,a\n")
    wanted = ["estimate", "t.csv", *DATA[1:]]
    assert COLOR.search(terminal.run_in_terminal(*wanted, folder=tmp_path))
    plain = terminal.run_in_terminal(*wanted, folder=tmp_path, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    assert "\x1b" not in run(*wanted, folder=tmp_path).stdout


def test_a_closed_pipe_is_no_mistake(tmp_path: Path) -> None:
    command = f"{sys.executable} -m truecount {' '.join(SURVEY)} --json - | head -c 10"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(done.stdout) == 10
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize(("width", "indent"), [(40, 22), (30, 4)])
def test_words_in_the_last_column_stay_there_if_they_fit(
    width: int, indent: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_lines("  label shift    0.5  the quick brown fox jumps over it")
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("  label shift    0.5  the")
    assert others
    assert {len(line) - len(line.lstrip()) for line in others} == {indent}
    assert max(map(len, [first, *others])) <= width


@pytest.mark.parametrize("width", [12, 20, 200])
def test_long_lines_go_on_below(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_lines("the quick brown fox\n日本語日本語日本語日本語 and a verylongwordthatbreaks")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(display_width, lines)) <= width
    assert "".join("".join(lines).split()) == "thequickbrownfox日本語日本語日本語日本語andaverylongwordthatbreaks"
    assert all(line.startswith(screen.INDENT) for line in lines[1:] if width == 200 and len(lines) > 2)


def test_a_terminal_of_no_width_shows_the_answer(tmp_path: Path) -> None:
    shown = terminal.run_in_terminal(*SURVEY, folder=tmp_path, COLUMNS="0")
    assert "98.1 – 99.9 %" in shown


def test_the_class_of_interest_is_headlined_in_a_terminal(tmp_path: Path) -> None:
    shown = COLOR.sub("", terminal.run_in_terminal(*SURVEY, "--class", "positive", folder=tmp_path))
    assert shown.startswith("positive: about 1.0 % (95 % interval 0.1 – 1.9 %); plain counting says 1.5 %.")
    assert "negative" not in shown
