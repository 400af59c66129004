"""The code of docs/guides/clusters.md and docs/guides/target-labels.md prints what the pages say.

Numbers may differ by Monte Carlo error: importance draws of another processor, whose last digits differ, are others.
"""

import re
from pathlib import Path

import pytest

NUMBER = re.compile(r"\d[\d,]*\.?\d*")
DOCS = Path(__file__).parent.parent / "docs" / "guides"


@pytest.mark.parametrize("page", ["clusters.md", "target-labels.md"])
def test_the_first_block_prints_what_the_page_says(page, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0]
    exec(compile(block, page, "exec"), {})  # noqa: S102
    (shown,) = re.findall(r"```python\n.*?```\n+```text\n(.*?)```", text, flags=re.DOTALL)[:1]
    printed = capsys.readouterr().out
    assert re.sub(r"\s+", " ", NUMBER.sub("#", printed)) == re.sub(r"\s+", " ", NUMBER.sub("#", shown))
    numbers = ([float(each.replace(",", "")) for each in NUMBER.findall(side)] for side in (printed, shown))
    assert next(numbers) == pytest.approx(next(numbers), rel=0.02, abs=1.0)
