"""A real browser for tests, and tabs that remember what went wrong in them and what they asked for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start chromium; without one skip, or fail where all extras are required."""
    needed = "could not import it: needs the extra browser"
    playwright = pytest.importorskip("playwright.sync_api", reason=needed)
    program = shutil.which("chromium")
    if program is None:
        missing = pytest.fail if os.environ.get("TRUECOUNT_EXTRAS") == "required" else pytest.skip
        missing("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


def watched(page: Any) -> Any:
    """Let a tab remember complaints (console, errors, dialogs) and requests."""
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    return page
