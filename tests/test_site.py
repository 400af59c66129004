"""The built site: links lead somewhere, search works, nothing is fetched from elsewhere, and axe finds nothing serious.

Build it first, ``sphinx-build -W docs docs/_build/html``, and name its folder in ``TRUECOUNT_SITE``.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from truecount.results.finding import CODES

SITE = Path(os.environ.get("TRUECOUNT_SITE", "no-site")).resolve()
DOCS = Path(__file__).parent.parent / "docs"
MAIN = ["index", "start/five-minutes", "start/decide", "tutorials/llm-judge", "guides/assumptions", "guides/findings"]
MAIN += ["explanation/model", "reference/python", "reference/command", "reference/api/truecount.infer"]
pytestmark = pytest.mark.skipif(not SITE.is_dir(), reason="TRUECOUNT_SITE names no built site")


class Page(HTMLParser):
    """What a page links to, loads and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loaded.append(values["href"])


@cache
def read(path: Path) -> Page:
    return Page(path)


def pages() -> list[Path]:
    return [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts] if SITE.is_dir() else []


def is_remote(address: str) -> bool:
    return bool(re.match(r"(https?:)?//", address))


def test_every_internal_link_leads_somewhere() -> None:
    broken = []
    for path in pages():
        for link in read(path).links + read(path).loaded:
            if is_remote(link) or link.startswith(("mailto:", "data:", "javascript:")):
                continue
            place, _, anchor = link.partition("#")
            target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            if not target.exists() or (target.suffix == ".html" and unquote(anchor) not in read(target).anchors):
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert [(path.name, each) for path in pages() for each in read(path).loaded if is_remote(each)] == []


@pytest.mark.parametrize("path", sorted(DOCS.glob("*/*.md")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_picture_is_drawn(path: Path) -> None:
    """Every cell that describes a picture shows one."""
    described = re.findall(r'^ +image: \{alt: "(.*)"\}$', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = (SITE / path.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")
    assert [alt for alt in described if f'alt="{alt}"' not in shown] == []
    assert "&lt;Figure size" not in shown


def test_every_finding_has_its_anchor() -> None:
    assert set(CODES) <= read(SITE / "guides" / "findings.html").anchors


@pytest.fixture
def tab(browser: Any) -> Iterator[tuple[Any, list[str]]]:
    """A tab, and what it asked of the network."""
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url) if is_remote(request.url) else None)
    yield page, asked
    page.close()


def test_search_finds_a_page_without_a_network(tab: tuple[Any, list[str]]) -> None:
    page, asked = tab
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=seroprevalence")
    page.wait_for_selector("ul.search li a", timeout=30_000)
    assert any("survey" in str(link.get_attribute("href")) for link in page.query_selector_all("ul.search li a"))
    assert asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MAIN)
def test_axe_finds_nothing_serious(name: str, scheme: str, tab: tuple[Any, list[str]]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page, asked = tab
    page.emulate_media(color_scheme=scheme)
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_timeout(200)
    found = [each for each in axe.run(page).response["violations"] if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    assert asked == []
