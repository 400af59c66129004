"""The first block of the pages on several classifiers and on raters prints what stands below it."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs" / "guides"


@pytest.mark.parametrize("page", ["several-classifiers.md", "raters.md"])
def test_the_first_block_prints_what_stands_below_it(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    block, printed = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, flags=re.DOTALL)[0]
    said = StringIO()
    with redirect_stdout(said):
        exec(compile(block, page, "exec"), {})  # noqa: S102
    assert said.getvalue() == printed
