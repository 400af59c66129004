"""Pages and pictures from the command."""

import os
from pathlib import Path

import pytest

from command import run
from made_posterior import made_posterior
from truecount.cli.pictures import CORRECTED, encoded
from truecount.examples import JUDGE
from truecount.plots import prevalence

DATA = [str(JUDGE), "--label", "human", "--prediction", "verdict"]
SURVEY = ["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def test_page_and_picture_with_blanks_in_their_names(tmp_path: Path) -> None:
    done = run("estimate", *DATA, "--html", "a b.html", "--plot", "b.svg", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == "Wrote a b.html and b.svg."
    assert sorted(os.listdir(tmp_path)) == ["a b.html", "b.svg"]
    page = (tmp_path / "a b.html").read_text(encoding="utf-8")
    assert "--label human --prediction verdict --html &#39;a b.html&#39; --plot b.svg</code>" in page
    assert "true share" in page
    assert "truecount:corrected=true" in (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_page_alone_on_standard_output(tmp_path: Path) -> None:
    done = run("estimate", *SURVEY, "--html", "-", "--level", "80%", folder=tmp_path)
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert "80 % interval" in done.stdout


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_pictures_are_what_their_ending_says_and_the_same_each_time(ending: str) -> None:
    ax = prevalence(made_posterior())
    content = encoded(ax, f"a.{ending.upper()}", flags=CORRECTED)
    assert content.startswith(BEGINNINGS[ending])
    assert b"truecount:corrected=true" in content
    if ending != "svg":
        assert encoded(ax, f"a.{ending}", flags=CORRECTED) == content


def test_letters_that_no_font_has_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    encoded(prevalence(made_posterior()), "a.png")
    assert capsys.readouterr().err == ""
    content = encoded(prevalence(made_posterior(classes=["\U00012480", "b"])), "a.png")
    assert content.startswith(BEGINNINGS["png"])
    assert "Note: a.png has empty squares where no font here has the letters" in capsys.readouterr().err


def test_all_methods_are_drawn(tmp_path: Path) -> None:
    done = run("estimate", *SURVEY, "--all-methods", "--plot", "m.svg", folder=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "m.svg").stat().st_size > 10_000
    said = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert "truecount:corrected:posterior=true" in said
    assert "truecount:corrected:cc=false" in said


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--plot", "a.gif"], 2, "must end in .png, .svg, .pdf"),
        (["--plot", "-"], 2, "must end in"),
        (["--html", "x", "--csv", "x"], 2, "--csv and --html cannot both go to 'x'"),
        (["--html", "nowhere/a.html"], 1, "no folder that exists"),
        (["--plot", "nowhere/a.png"], 1, "no folder that exists"),
        (["--html", "a.html", "--all-methods"], 2, "--all-methods does not go with --html"),
        (["--plot", "a.png", "--method", "acc"], 2, "--method does not go with --plot"),
    ],
)
def test_mistakes_are_named_and_leave_nothing(options: list[str], code: int, words: str, tmp_path: Path) -> None:
    done = run("estimate", *SURVEY, *options, folder=tmp_path)
    assert done.returncode == code
    assert words in " ".join(done.stderr.split())
    assert os.listdir(tmp_path) == []
