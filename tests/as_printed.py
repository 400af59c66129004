"""Tutorials whose code a test runs: what it prints is what the page shows."""

import re
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def blocks(page: str, language: str = "python") -> list[tuple[str, str]]:
    """Return the code of a tutorial, each block with the output that stands below it."""
    text = (TUTORIALS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, flags=re.DOTALL)


def run_page(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the Python of a tutorial, block by block, and compare what each prints."""
    names: dict[str, object] = {}
    for code, shown in blocks(page):
        exec(compile(code, page, "exec"), names)  # noqa: S102
        assert_as_printed(shown, capsys.readouterr().out)


def assert_as_printed(shown: str, printed: str) -> None:
    """Fail where words differ, or a number by more than its last digit: the same seed makes the same draws."""
    words = [NUMBER.sub("#", text).split() for text in (shown, printed)]
    assert words[0] == words[1], printed
    for told, found in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        digit = 1.01 * 10.0 ** -len(told.partition(".")[2])
        assert abs(float(told.replace(",", "")) - float(found.replace(",", ""))) <= digit, printed
