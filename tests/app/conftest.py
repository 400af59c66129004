"""The page to work in, open in a real browser, beside a folder of files."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import watched
from opened import EVIL, WAIT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data")
    rows = ["day,region,human,verdict"]
    for at in range(600):
        human = "" if at >= 200 else "fail" if at % 3 == 0 else "pass"
        verdict = "fail" if (at * 7) % 10 < (6 if human == "fail" else 3) else "pass"
        rows.append(f"2026-03-{2 + at % 21:02},{'north' if at % 2 else 'south'},{human},{verdict}")
    (place / "runs.csv").write_text("\n".join(rows))
    evil = [f"{EVIL},<script>alert(2)</script>"] + [f"{EVIL}{each},{EVIL}{each}" for each in "aabbab"]
    (place / "evil.csv").write_text("\n".join([*evil, *(f",{EVIL}{each}" for each in "aabbabbb")]))
    (place / "read.csv").write_text("human,verdict\n" + "pass,pass\nfail,fail\nfail,pass\npass,pass\n" * 20)
    unread = [{"verdict": "pass" if at % 3 else "fail"} for at in range(300)]
    (place / "unread.jsonl").write_text("\n".join(map(json.dumps, unread)))
    raters = [
        f"{truth},{truth if at % 7 else 'pass'},{truth if at % 5 else 'fail'},{truth if at % 4 else 'pass'}"
        for at, truth in enumerate(["pass", "fail", "pass"] * 40)
    ]
    rest = [",,pass,pass", ",,fail,pass", ",,fail,fail"] * 70
    (place / "raters.csv").write_text("\n".join(["human,second,verdict,other", *raters, *rest]))
    (place / "empty.csv").write_text("")
    (place / "broken.parquet").write_bytes(b"PAR1 this is no parquet file")
    (place / "confusion.csv").write_text("class\\output,fail,pass\nfail,70,30\npass,10,90\n")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    from served import served

    with served(folder) as found:
        yield found


@pytest.fixture
def tab(browser: Any, server: Any) -> Iterator[Callable[..., Any]]:
    """Open tabs that remember what went wrong in them and what they asked for."""
    contexts, tabs = [], []

    def new(address: str = "", *, context: Any = None, width: int = 1280, **options: Any) -> Any:
        if context is None:
            context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
            contexts.append(context)
        page = watched(context.new_page())
        page.set_default_timeout(WAIT)
        page.goto(f"{server.address}{address}")
        tabs.append(page)
        return page

    yield new
    complaints = [each for page in tabs for each in page.complaints]
    asked = {url for page in tabs for url in page.requests if not url.startswith("blob:")}
    for context in contexts:
        context.close()
    assert complaints == []
    assert {url for url in asked if not url.startswith(f"http://127.0.0.1:{server.port}/")} == set()
