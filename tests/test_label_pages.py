"""The code of docs/guides/clusters.md and docs/guides/target-labels.md prints what the pages say.

Everything is compared as it stands but for importance draws, which are others on a processor whose last digits differ:
shares and ends of intervals may differ by their Monte Carlo error.
"""

import re
from pathlib import Path

import pytest
from scipy.stats import norm

DOCS = Path(__file__).parent.parent / "docs" / "guides"
NUMBER = re.compile(r"\d+\.\d+")
SD, DRAWS, TAIL = 4.4, 4000, 0.025
"""Points by which draws of the page's share vary, their number, and what lies beyond an end of an interval."""
ERROR = SD * (TAIL * (1 - TAIL) / DRAWS) ** 0.5 / norm.pdf(norm.ppf(TAIL))
"""Standard error of an end, which is larger than that of a share."""


def printed_and_shown(page, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    code, shown = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, flags=re.DOTALL)[0]
    exec(compile(code, page, "exec"), {})  # noqa: S102
    return capsys.readouterr().out.splitlines(), shown.splitlines()


def test_the_first_block_of_clusters_prints_what_the_page_says(capsys):
    printed, shown = printed_and_shown("clusters.md", capsys)
    assert printed == shown


def test_the_first_block_of_target_labels_prints_what_the_page_says(capsys):
    printed, shown = printed_and_shown("target-labels.md", capsys)
    drawn = slice(-4, None)  # shares, a finding and the engine of the answer by importance draws
    assert printed[: drawn.start] == shown[: drawn.start]
    *shares, finding, engine = printed[drawn]
    *shown_shares, shown_finding, shown_engine = shown[drawn]
    assert finding == shown_finding
    sizes = [int(re.sub(r"\D", "", line.partition(",")[0] + line.split(",")[1])) for line in (engine, shown_engine)]
    assert min(sizes) >= DRAWS
    for line, expected in zip(shares, shown_shares, strict=True):
        assert NUMBER.sub("#", line) == NUMBER.sub("#", expected)
        numbers = [[float(each) for each in NUMBER.findall(side)] for side in (line, expected)]
        assert numbers[0] == pytest.approx(numbers[1], abs=5 * 2**0.5 * ERROR)
