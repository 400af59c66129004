"""What tests read off the page to work in."""

import re
from typing import Any

WAIT = 180_000
"""Milliseconds after which a page is taken for hung, also on a busy machine."""
EVIL = "<img src=x onerror=alert(1)>"


def shown(page: Any) -> str:
    """The sentence of the answer, without unusual blanks."""
    text = page.locator(".answer").inner_text()
    return " ".join(re.sub("[\N{NO-BREAK SPACE}\N{WORD JOINER}]", " ", text).split())


def awaited(page: Any, words: str) -> None:
    """Wait for an answer that has these words."""
    plain = "document.querySelector('.answer')?.textContent.replace(/[\\u00a0\\u2060\\s]+/g, ' ')"
    page.wait_for_function(f"words => ({plain} || '').includes(words)", arg=words)
