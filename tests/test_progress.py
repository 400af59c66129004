"""A bar appears in a terminal and nowhere else."""

import os
import re
import subprocess
import sys
from threading import enumerate as enumerate_threads
from time import sleep

import pytest

from truecount import _progress
from truecount._progress import track, watch


def shown_in_a_terminal(code: str) -> str:
    """Run `code` with a terminal for its stderr and give what it wrote there."""
    pty = pytest.importorskip("pty", reason="needs a Unix terminal")
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, check=True, timeout=60, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    chunks = []
    try:
        while chunk := os.read(ours, 1024):
            chunks.append(chunk)
    except OSError:
        pass
    os.close(ours)
    return b"".join(chunks).decode()


def test_what_is_tracked_comes_through():
    assert list(track(iter("abc"), total=3)) == ["a", "b", "c"]


def test_nothing_is_shown_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", -1.0)
    assert list(track(range(3), total=3)) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_long_work_gets_a_bar_in_a_terminal():
    code = "from truecount import _progress as p; p.PATIENCE = -1; list(p.track(range(3), total=3))"
    assert "inferring" in shown_in_a_terminal(code)


def test_short_work_gets_none():
    assert shown_in_a_terminal("from truecount._progress import track; list(track(range(3), total=3))") == ""


WATCHED = """
from threading import Semaphore
from truecount import _progress
_progress.PATIENCE = {patience}
asked = Semaphore(0)
with _progress.watch(lambda: asked.release() or 0.5):
    for _ in range({times}):
        asked.acquire(timeout=60)
"""


def test_work_that_reports_itself_gets_a_bar_in_a_terminal():
    shown = shown_in_a_terminal(WATCHED.format(patience=0, times=2))
    assert "counting" in shown
    assert "50%" in shown


def test_short_work_that_reports_itself_gets_none():
    assert shown_in_a_terminal(WATCHED.format(patience=60, times=0)) == ""


def test_work_that_reports_itself_is_silent_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", -1.0)
    with watch(lambda: 1 / 0):
        pass
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_the_bar_and_goes_on():
    with pytest.raises(KeyError), watch(lambda: 0.5, show=True):
        raise KeyError
    assert "truecount-bar" not in {thread.name for thread in enumerate_threads()}


def test_work_that_reports_nothing_is_named_and_short_work_is_not():
    code = "import time; from truecount import _progress as p; p.PATIENCE = {}\n"
    code += "with p.watch(what='brewing'): time.sleep(0.5)"
    assert "brewing" in shown_in_a_terminal(code.format(0.05))
    assert shown_in_a_terminal(code.format(60)) == ""


LOGGED = """
import time
from truecount import _progress as p
p.LOG_PATIENCE, p.LOG_INTERVAL, p.INTERVAL = 0.05, 0.1, 0.05
with p.progress_style({style!r}), p.watch(what="brewing", show={show}):
    time.sleep(0.5)
with p.progress_style({style!r}):
    for _ in p.track(range(2), total=2):
        time.sleep(0.3)
"""


def logged(style: str, show: bool | None = None) -> list[str]:
    code = LOGGED.format(style=style, show=show)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.splitlines()


def test_a_log_has_lines_with_times():
    lines = logged("log")
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (brewing|inferring)", line) for line in lines)
    words = [line[20:] for line in lines]
    assert words[0] == "brewing …"
    assert "inferring …" in words
    assert "inferring 50%" in words
    assert any(word.startswith("brewing for ") for word in words)
    assert words[-1].startswith("inferring: ")
    assert not any("\r" in line or "\x1b" in line for line in lines)


def test_a_part_of_the_work_is_named_while_it_is_done(monkeypatch, capsys):
    for name, seconds in (("LOG_PATIENCE", 0.0), ("LOG_INTERVAL", 0.02), ("INTERVAL", 0.01)):
        monkeypatch.setattr(_progress, name, seconds)
    with _progress.progress_style("log"), watch(what="brewing"):
        sleep(0.1)
        with _progress.step("grinding"):
            sleep(0.1)
        sleep(0.1)
    words = [line[20:].split()[0] for line in capsys.readouterr().err.splitlines()]
    assert list(dict.fromkeys(words)) == ["brewing", "grinding", "brewing:"]
    assert "brewing" in words[words.index("grinding") :]
    with _progress.step("grinding"):  # that nobody watches
        pass
    assert capsys.readouterr() == ("", "")


def test_a_log_ends_with_the_seconds_of_all_the_work(monkeypatch, capsys):
    """Also those before the first line."""
    monkeypatch.setattr(_progress, "LOG_PATIENCE", 0.0)
    clock = iter([100.0, *[160.0] * 1000])
    monkeypatch.setattr(_progress, "monotonic", lambda: next(clock))
    with _progress.progress_style("log"), watch(what="brewing"):
        sleep(0.05)
    assert capsys.readouterr().err.splitlines()[-1].endswith(" brewing: ended after 60 s")


def test_quiet_work_says_nothing():
    assert logged("quiet") == []
    assert logged("log", show=False)[0].endswith("inferring …")


def test_work_may_say_how_far_it_has_come(monkeypatch, capsys):
    for name, seconds in (("LOG_PATIENCE", 0.0), ("LOG_INTERVAL", 0.02), ("INTERVAL", 0.01)):
        monkeypatch.setattr(_progress, name, seconds)
    _progress.detail("that nobody watches")
    with _progress.progress_style("log"), watch(what="brewing"):
        for words in ("1 of 2 cups", "2 of 2 cups"):
            _progress.detail(words)
            sleep(0.1)
    lines = [line[20:] for line in capsys.readouterr().err.splitlines()]
    assert any(line.startswith("brewing (1 of 2 cups)") for line in lines)
    assert any(line.startswith("brewing (2 of 2 cups)") for line in lines)
    assert lines[-1].startswith("brewing: ended")
