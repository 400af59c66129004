"""The code of docs/guides/clusters.md and docs/guides/target-labels.md prints what the pages say."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs" / "guides"


@pytest.mark.parametrize("page", ["clusters.md", "target-labels.md"])
def test_the_first_block_prints_what_the_page_says(page, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0]
    exec(compile(block, page, "exec"), {})  # noqa: S102
    assert f"```text\n{capsys.readouterr().out}```" in text
