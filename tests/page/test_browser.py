"""The page in a real browser: what is seen, what is asked of the network, and whether everyone can read it."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from chromium import watched
from made_groups import made_answer
from made_posterior import made_posterior
from pictures import HARD, posterior_of
from truecount import Counts, Finding, infer, report

NEEDED = "could not import it: needs the extra browser"
pytest.importorskip("playwright.sync_api", reason=NEEDED)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=NEEDED)

SCREENS = {"desk": (1280, 800), "telephone": (360, 740)}
TEN = [f"class {number}" for number in range(10)]
SERIOUS = Finding("not-converged", "serious", "The draws have not converged.", {}, "Draw longer.")
CAUTION = Finding("few-labels", "caution", "<script>alert(2)</script> has few labels.", {}, "Label more.")


def doubtful() -> Any:
    """A posterior with findings, whose outputs are not the classes."""
    counts = Counts([[5, 3, 1], [2, 4, 6]], [10, 10, 10], classes=["fail", "pass"], outputs=["no", "maybe", "yes"])
    return made_posterior(counts=counts, findings=(CAUTION, SERIOUS))


def weeks() -> Any:
    """Thirty weeks of three classes."""
    names = ["<script>alert(1)</script>", "שלום", "z" * 200]
    starts = [(date(2026, 1, 5) + timedelta(weeks=week)).isoformat() for week in range(30)]
    return made_answer({start: [0.5, 0.3, 0.2] for start in starts}, classes=names, by=["week"])


def models() -> Any:
    """Twenty models with names from outside."""
    names = ["<script>alert(2)</script>", "y" * 200, *(f"model {number}" for number in range(18))]
    return made_answer({name: [0.3 + 0.02 * at, 0.7 - 0.02 * at] for at, name in enumerate(names)}, by=["model"])


def fine() -> Any:
    """So many items that shares have four decimals."""
    return infer(Counts([[100_000, 0], [0, 100_000]], [100_000, 0], classes=["all", "none"]))


CASES: dict[str, Callable[[], Any]] = {
    **HARD,
    "doubtful": doubtful,
    "ten": lambda: posterior_of(TEN),
    "weeks": weeks,
    "models": models,
    "fine": fine,
}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab that remembers what went wrong in it and what it asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    yield watched(context.new_page())
    context.close()


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    """Write the page of a case and give its address."""

    def write(case: str) -> str:
        file = tmp_path / f"{case}.html"
        report(CASES[case](), file, command="truecount estimate 'a file.csv' --label <b>")
        return file.as_uri()

    return write


def resize(page: Any, screen: str) -> None:
    width, height = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_seen_at_once_and_nothing_is_asked_for(page: Any, written: Any, case: str, screen: str) -> None:
    resize(page, screen)
    address = written(case)
    page.goto(address)
    answer = page.locator(".answer")
    box = answer.bounding_box()
    assert answer.is_visible()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= SCREENS[screen][1]
    assert page.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][0]
    assert page.complaints == []
    assert page.requests == [address]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", CASES)
def test_everyone_can_read_it(page: Any, written: Any, case: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(written(case))
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    tags = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(each => Number(each.tagName[1]))")
    assert tags[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(tags))


def test_what_must_not_be_there_is_noticed(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    body = (
        '<p style="color:#ddd">pale</p><h4>deep</h4><img src="http://127.0.0.1:9/x.png"><script>console.log(1)</script>'
    )
    file.write_text(f"<html><body>{body}</body></html>")
    page.goto(file.as_uri())
    codes = {violation["id"] for violation in axe.Axe().run(page).response["violations"]}
    assert {"color-contrast", "image-alt", "html-has-lang"} <= codes
    assert len(page.requests) == 2
    assert "1" in page.complaints


WORDS = """
[...document.querySelectorAll('svg')].flatMap((svg, number) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].map(text => {
    const box = text.getBoundingClientRect();
    const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1
      && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    return {words: text.textContent, number, inside, box: [box.left, box.right, box.top, box.bottom]};
  });
})
"""


NUMBERS = """
[...document.querySelector('.answer').firstChild.data.matchAll(/[0-9]+[.][0-9]+/g)].map(number => {
  const range = document.createRange(), text = document.querySelector('.answer').firstChild;
  range.setStart(text, number.index); range.setEnd(text, number.index + number[0].length);
  const box = range.getBoundingClientRect();
  return [Math.round(box.top), box.left];
})
"""
BROKEN = """
[...document.querySelectorAll('th:not(.long), .answer')].flatMap(each => {
  const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT), broken = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (const word of node.data.matchAll(/[0-9.]+\\s–\\u2060?\\s[0-9.]+\\s%|[\\p{L}]{1,12}/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word[0]);
    }
  return broken;
})
"""


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("case", ["two", "ten", "sixty", "doubtful"])
def test_short_words_and_intervals_are_not_broken(page: Any, written: Any, case: str, screen: str) -> None:
    resize(page, screen)
    page.goto(written(case))
    assert page.evaluate(BROKEN) == []


def test_names_from_right_to_left_leave_the_numbers_as_they_are(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "arabic.html"
    report(made_posterior(classes=["مرحبا", "שלום"]), file)
    page.goto(file.as_uri())
    places = page.evaluate(NUMBERS)
    assert len(places) >= 8
    assert places == sorted(places)


@pytest.mark.parametrize("case", ["two", "ten", "fine", "doubtful", "edge"])
def test_the_table_of_shares_fits_a_telephone(page: Any, written: Any, case: str) -> None:
    resize(page, "telephone")
    page.goto(written(case))
    assert page.evaluate("(table => table.scrollWidth <= table.clientWidth)(document.querySelector('.wide'))")


def test_ten_classes_need_no_scrolling_at_a_desk(page: Any, written: Any) -> None:
    page.goto(written("ten"))
    assert page.evaluate("[...document.querySelectorAll('.wide')].every(each => each.scrollWidth <= each.clientWidth)")


@pytest.mark.parametrize("case", CASES)
def test_words_in_pictures_keep_apart_in_the_browser_s_own_font(page: Any, written: Any, case: str) -> None:
    page.goto(written(case))
    words = page.evaluate(WORDS)
    assert [each["words"] for each in words if not each["inside"]] == []
    for one, other in combinations(words, 2):
        if one["number"] == other["number"]:
            (left, right, top, bottom), (west, east, north, south) = one["box"], other["box"]
            wide, high = min(right, east) - max(left, west), min(bottom, south) - max(top, north)
            assert min(wide, high) <= 0.2 * min(bottom - top, south - north), (one["words"], other["words"])


def test_a_name_is_shown_and_not_run(page: Any, written: Any) -> None:
    page.goto(written("long"))
    assert page.locator("tbody th", has_text="<script>alert(1)</script>").first.is_visible()
    assert page.locator("main script").count() == 0
    assert page.locator("pre code").first.inner_text() == "truecount estimate 'a file.csv' --label <b>"


def test_it_reads_without_scripts(browser: Any, written: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(written("five"))
    assert tab.locator(".answer").is_visible()
    assert tab.locator("svg").count() == 1
    context.close()


def test_light_dark_and_paper(page: Any, written: Any) -> None:
    page.goto(written("five"))
    ground = "getComputedStyle(document.body).backgroundColor"
    mark = "getComputedStyle(document.querySelector('#shares-LineCollection_1 path')).stroke"
    seen = {}
    for medium, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        page.emulate_media(media=medium, color_scheme=scheme)
        seen[medium, scheme] = page.evaluate(ground), page.evaluate(mark)
    assert seen["screen", "light"] == seen["print", "dark"]
    assert seen["screen", "light"][0] != seen["screen", "dark"][0]
    assert seen["screen", "light"][1] != seen["screen", "dark"][1]


@pytest.mark.parametrize("classes", [30, 60])
def test_everything_prints_on_paper(classes: int, page: Any, tmp_path: Path) -> None:
    """Counts of thirty classes are too wide for it, which is said; those of sixty have a line for each class."""
    report(posterior_of([f"class {number}" for number in range(classes)]), tmp_path / "page.html")
    page.goto((tmp_path / "page.html").as_uri())
    sheet = page.pdf(format="A4")
    assert sheet.startswith(b"%PDF")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 794, "height": 1123})
    shown = "[...document.querySelectorAll('table')].filter(each => each.checkVisibility())"
    assert page.evaluate(f"Math.max(...{shown}.map(each => each.getBoundingClientRect().right))") <= 794
    assert page.get_by_text("The table is too wide for paper").is_visible() == (classes == 30)
    assert page.locator("[aria-labelledby=counts]").is_visible() == (classes == 60)
    page.emulate_media(media="screen")
    assert page.locator("[aria-labelledby=counts]").is_visible()
    assert not page.get_by_text("The table is too wide for paper").is_visible()


def test_the_keyboard_reaches_what_scrolls(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "wide.html"
    report(posterior_of([f"a rather long name {number}" for number in range(20)]), file)
    resize(page, "telephone")
    page.goto(file.as_uri())
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-labelledby')") == "counts"
    before = page.evaluate("document.activeElement.scrollLeft")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"document.activeElement.scrollLeft > {before}")
