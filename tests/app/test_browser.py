"""The page in a real browser: every way in, every picture, typing, going back, dark, small, and names that attack."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

NEEDED = "could not import it: needs the extras app and browser"
pytest.importorskip("uvicorn", reason=NEEDED)
pytest.importorskip("starlette", reason=NEEDED)
playwright = pytest.importorskip("playwright.sync_api", reason=NEEDED)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=NEEDED)

from opened import awaited, shown  # noqa: E402
from served import Served  # noqa: E402
from truecount import Counts, infer  # noqa: E402
from truecount.app.examples import EXAMPLES  # noqa: E402

ANSWERS = "**/api/answer?*"


def of_positive(positive: int, tested: int) -> str:
    counts = Counts([[399, 2], [19, 103]], [tested - positive, positive], classes=["negative", "positive"])
    return f"about {100 * infer(counts).mean[1]:.1f} % are “positive”"


def test_typing_a_survey_changes_answer_address_and_picture(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    assert "token" not in page.url
    before = page.locator("#answer svg path").last.get_attribute("d"), page.locator("#answer svg").inner_html()
    page.get_by_label("Tested positive").fill("500")
    awaited(page, of_positive(500, 3330))
    assert "positive=500%2F3330" in page.url
    assert page.locator("#answer svg").inner_html() != before[1]
    assert page.locator("#answer table tbody tr").count() == 1
    page.get_by_label("Tested positive").fill("5000")
    page.get_by_role("alert").get_by_text("the part cannot exceed the whole").wait_for()
    assert page.get_by_label("Tested positive").get_attribute("aria-invalid") == "true"
    page.get_by_label("Tested positive").fill("50")
    awaited(page, of_positive(50, 3330))
    assert page.get_by_role("alert").inner_text() == ""


def test_back_forward_reload_and_a_bookmark_in_another_tab(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    page.get_by_label("Tested positive").fill("500")
    page.get_by_label("Tested positive").blur()
    awaited(page, of_positive(500, 3330))
    page.get_by_role("tab", name="A table").click()
    awaited(page, "“fail”")
    page.go_back()
    awaited(page, of_positive(500, 3330))
    assert page.get_by_label("Tested positive").input_value() == "500"
    page.go_forward()
    awaited(page, "“fail”")
    page.go_back()
    awaited(page, of_positive(500, 3330))
    page.reload()
    awaited(page, of_positive(500, 3330))
    other = page.context.new_page()
    other.goto(page.url)  # the address that was kept has no token: this browser has it
    awaited(other, of_positive(500, 3330))
    other.get_by_label("Tested positive").fill("50")
    awaited(other, of_positive(50, 3330))
    assert of_positive(500, 3330) in shown(page)


def test_a_late_answer_never_replaces_a_newer_one(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    held: list[Any] = []

    def hold(route: Any) -> None:
        is_first = '"400/3330"' in (route.request.post_data or "")
        (held.append(route) if is_first else route.continue_())

    page.route(ANSWERS, hold)
    page.get_by_label("Tested positive").fill("400")
    page.wait_for_function("() => document.querySelector('#answer').getAttribute('aria-busy') === 'true'")
    page.get_by_label("Tested positive").fill("500")
    awaited(page, of_positive(500, 3330))
    assert len(held) == 1
    with suppress(playwright.Error):  # the page may have given it up
        held[0].continue_()
    page.wait_for_timeout(300)
    assert of_positive(500, 3330) in shown(page)
    page.complaints.clear()


WATCH = """() => {
  window.seen = [];
  const place = document.querySelector("#answer");
  const look = () => window.seen.push(place.textContent.replace(/[\\u00a0\\u2060\\s]+/g, " "));
  new MutationObserver(look).observe(place, {childList: true, subtree: true});
}"""


def test_an_answer_that_comes_while_a_newer_question_waits_is_not_shown(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    held: list[Any] = []
    page.route(ANSWERS, lambda route: route.continue_() if held else held.append(route))
    page.get_by_label("Tested positive").fill("400")
    assert any(held or page.wait_for_timeout(50) for _ in range(1000))
    answer = held[0].fetch()
    page.evaluate(WATCH)
    page.get_by_label("Tested positive").fill("500")
    with suppress(playwright.Error):  # the page may have given it up
        held[0].fulfill(response=answer)
    awaited(page, of_positive(500, 3330))
    assert [text for text in page.evaluate("window.seen") if of_positive(400, 3330) in text] == []
    page.complaints.clear()


PUBLISHED = json.loads((Path(__file__).parents[1] / "reference" / "published.json").read_text(encoding="utf-8"))


def typed(value: Any) -> str:
    return f"{100 * value:g}%" if isinstance(value, float) else "/".join(map(str, value))


def test_published_surveys_are_typed_and_give_their_published_answers(tab: Callable[..., Any]) -> None:
    page = tab()
    for name, given in PUBLISHED["surveys"].items():
        page.get_by_label("Tested positive").fill(str(given["positive"][0]))
        page.get_by_label("Tested", exact=True).fill(str(given["positive"][1]))
        for rate in ("sensitivity", "specificity"):
            page.get_by_label(rate.capitalize()).fill(typed(given[rate]))
        is_there = "words => document.querySelector('#reproduce')?.textContent.includes(words)"
        line = f"--positive {typed(given['positive'])} --sensitivity {typed(given['sensitivity'])} --spec"
        page.wait_for_function(is_there, arg=line)
        page.wait_for_function("() => document.querySelector('#answer').getAttribute('aria-busy') === 'false'")
        mean, ends = page.locator("#answer tbody td").all_inner_texts()[1:3]
        low, high = (float(each) / 100 for each in re.findall(r"[0-9.]+", ends))
        expected = given["integrated"]
        sd = expected.get("sd", (expected["97.5 %"] - expected["2.5 %"]) / 4)
        rounding = 0.51 * 10.0 ** -(2 + len(mean.partition(".")[2].rstrip("\N{NO-BREAK SPACE} %")))
        error = sd / 4000**0.5
        assert float(mean.rstrip("\N{NO-BREAK SPACE} %")) / 100 == pytest.approx(
            expected["mean"], abs=5 * error + rounding
        ), name
        # An end of the interval has about 2.7 times the standard error of the mean, where the posterior is normal.
        assert low == pytest.approx(expected["2.5 %"], abs=14 * error + rounding), name
        assert high == pytest.approx(expected["97.5 %"], abs=14 * error + rounding), name


def test_a_negative_estimate_of_the_field_stands_beside_a_share(tab: Callable[..., Any]) -> None:
    page = tab("#in=survey&positive=6%2F151&sensitivity=90%25&specificity=95%25")
    awaited(page, "“positive”")
    low = page.locator("#answer tbody td").nth(2).inner_text()
    assert float(re.findall(r"[0-9.]+", low)[0]) >= 0
    page.locator("#methods > summary").click()
    page.locator("#methods tbody").get_by_text("\N{MINUS SIGN}1.21").wait_for()


def test_a_million_items_are_typed(tab: Callable[..., Any]) -> None:
    counts = Counts([[450, 50], [60, 440]], [700_000, 300_000], classes=["negative", "positive"])
    page = tab(
        '#in=matrix&classes=["negative","positive"]&outputs=["negative","positive"]&labeled=450,50;60,440&unlabeled=7,3'
    )
    awaited(page, "“positive”")
    page.get_by_label("Not labelled: output negative").fill("700,000")
    page.get_by_label("Not labelled: output positive").fill("300000")
    awaited(page, f"{100 * infer(counts).mean[1]:.1f} % “positive”")


def test_a_finding_stands_beside_the_answer_with_what_to_do(tab: Callable[..., Any]) -> None:
    page = tab(f"#in=matrix&classes={NAMES}&outputs={NAMES}&labeled=50,50;50,50&unlabeled=600,400")
    page.locator(".findings li").get_by_text("What to do:").first.wait_for()
    page.get_by_label("Labelled: class a, output a").fill("5000")
    page.get_by_label("Labelled: class b, output b").fill("5000")
    page.get_by_text("Nothing was found in these data that contradicts the answer.").wait_for()


@pytest.mark.slow
def test_typing_fast_ends_in_the_answer_to_what_stands_there(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    field = page.get_by_label("Tested positive")
    for text in ("7", "71", "712", "71", "7", "", "6", "60", "600"):
        field.fill(text)
    awaited(page, of_positive(600, 3330))
    page.wait_for_function("() => document.querySelector('#answer').getAttribute('aria-busy') === 'false'")
    assert of_positive(600, 3330) in shown(page)


NAMES = '["a","b"]'
PASTED = "\tcat\tdog\tunsure\ncat\t80\t15\t5\ndog\t9\t85\t6\nunlabelled\t300\t500\t40"


PASTE = """(node, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  node.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def test_a_table_is_typed_grows_and_takes_what_a_spreadsheet_copies(tab: Callable[..., Any]) -> None:
    page = tab("#in=matrix")
    awaited(page, "“fail”")
    page.get_by_label("Labelled: class fail, output pass").fill("1,060")
    expected = infer(Counts([[140, 1060], [20, 180]], [600, 400], classes=["fail", "pass"]))
    awaited(page, f"{100 * expected.mean[1]:.1f} %")
    page.get_by_label("Labelled: class fail, output pass").fill("many")
    page.get_by_role("alert").get_by_text("A cell is no number").wait_for()
    page.get_by_label("Labelled: class fail, output fail").evaluate(PASTE, PASTED)
    expected = infer(Counts([[80, 15, 5], [9, 85, 6]], [300, 500, 40], ["cat", "dog"], ["cat", "dog", "unsure"]))
    awaited(page, f"{100 * expected.mean[1]:.1f} % are “dog”")
    page.get_by_role("button", name="Add a class").click()
    assert page.locator(".grid tbody tr").count() == 3
    page.get_by_role("button", name="Remove class class 3").click()
    page.get_by_role("button", name="Remove output unsure").click()
    expected = infer(Counts([[80, 15], [9, 85]], [300, 500], ["cat", "dog"]))
    awaited(page, f"{100 * expected.mean[1]:.1f} % are “dog”")
    page.get_by_label("Name of class 2").fill("wolf")
    awaited(page, "“wolf”")
    assert page.get_by_label("Name of output 2").input_value() == "wolf"
    page.get_by_label("Labelled: class cat, output cat").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Not labelled: output cat"
    page.get_by_label("At random from this same population").check()
    page.wait_for_function("() => document.location.hash.includes('same-population')")
    awaited(page, "“wolf”")


@pytest.mark.slow
def test_drift_and_estimators_are_asked_of_one_group(tab: Callable[..., Any]) -> None:
    populations = "positive=north%3D96%2F1200&positive=south%3D71%2F1100"
    page = tab(f"#in=survey&{populations}&sensitivity=103%2F122&specificity=399%2F401")
    awaited(page, "Of 2 groups")
    page.locator("#drift > summary").click()
    page.locator("#drift .bar").first.wait_for()
    assert page.locator("#drift-group").input_value() == "north"
    before = page.locator("#drift table").inner_text()
    page.locator("#drift-group").select_option("south")
    page.wait_for_function("before => document.querySelector('#drift table').innerText !== before", arg=before)
    assert "--positive 71/1100" in page.locator("#drift .reproduce pre").first.text_content()
    page.locator("#methods > summary").click()
    page.locator("#methods figure svg").wait_for()
    page.get_by_role("button", name="Remove south").click()
    awaited(page, "Of the population")
    page.wait_for_function("() => !document.querySelector('#drift-group')")


@pytest.mark.slow
def test_what_else_may_be_asked_is_answered_and_follows_what_is_typed(tab: Callable[..., Any]) -> None:
    page = tab("#in=matrix")
    awaited(page, "“fail”")
    for part in ("plan", "drift", "methods", "confusion", "fit", "counts", "method", "reproduce"):
        page.locator(f"#{part} > summary").click()
    page.locator("#plan .found").get_by_text("Gather labels: 100 of fail").wait_for()
    page.locator("#plan figure svg").wait_for()
    page.locator("#methods figure svg").wait_for()
    page.locator("#drift .bar").first.wait_for()
    before = page.locator("#drift table").inner_text()
    page.get_by_label("Share of each class whose output may have changed").evaluate(
        "node => { node.value = 15; node.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.wait_for_function("before => document.querySelector('#drift table').innerText !== before", arg=before)
    assert page.locator("#drift output").inner_text() == "15 %"
    page.get_by_label("If I label").last.fill("400")
    page.locator("#plan .found").get_by_text("Cost: 400").wait_for()
    page.get_by_label("Labelled: class fail, output pass").fill("20")
    expected = infer(Counts([[140, 20], [20, 180]], [600, 400], classes=["fail", "pass"]))
    words = f"{100 * expected.mean[0]:.1f} %"
    awaited(page, words)
    page.locator("#methods .found").get_by_text(words).first.wait_for()
    assert page.locator("#confusion .heat td").count() == 4
    shell = page.locator("#plan .reproduce pre").first.text_content()
    assert "truecount plan - --labels 400" in shell


@pytest.mark.parametrize(
    ("button", "ending", "begins"), [("Report (HTML)", "html", b"<!DOCTYPE"), ("Table (CSV)", "csv", b"class,")]
)
def test_the_answer_is_saved(tab: Callable[..., Any], button: str, ending: str, begins: bytes) -> None:
    page = tab()
    awaited(page, "“positive”")
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    assert download.value.suggested_filename == f"truecount.{ending}"
    assert Path(download.value.path()).read_bytes().startswith(begins)


def test_without_the_token_the_page_asks_for_it_and_keeps_the_counts(
    tab: Callable[..., Any], browser: Any, server: Served
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(
        f"http://127.0.0.1:{server.port}/#in=survey&positive=500%2F3330&sensitivity=103%2F122&specificity=399%2F401"
    )
    page.get_by_label("Address or token").fill(server.address)
    page.get_by_role("button", name="Go on").click()
    awaited(page, of_positive(500, 3330))
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each["name"])
def test_every_example_opens(tab: Callable[..., Any], example: dict[str, Any]) -> None:
    page = tab("#in=examples")
    page.get_by_role("button", name=example["title"]).click()
    page.locator("#answer .answer").wait_for()
    box = page.locator("#answer svg").first.bounding_box()
    assert min(box["width"], box["height"]) > 60


WAYS = [
    "#in=survey",
    "#in=matrix",
    "#in=file&place=example:judge&label=human&prediction=verdict",
    "#in=examples",
    "#in=survey&positive=north%3D96%2F1200&positive=south%3D71%2F1100&sensitivity=103%2F122&specificity=399%2F401",
    "#in=file&place={folder}/read.csv&population={folder}/unread.jsonl&label=human&prediction=verdict",
    "#in=file&place={folder}/raters.csv&label=human&label=second&prediction=verdict",
]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it_also_small_and_dark(tab: Callable[..., Any], scheme: str, folder: Path) -> None:
    grounds = set()
    page = tab(WAYS[0], width=400, color_scheme=scheme, bypass_csp=True)
    address = page.url.partition("#")[0]
    for way in (each.format(folder=folder) for each in WAYS):
        page.goto("about:blank")
        page.goto(f"{address}{way}")
        page.locator(".examples" if "examples" in way else "#answer .answer").wait_for()
        if "matrix" in way or "north" in way:
            page.locator("#drift > summary").click()
            page.locator("#drift .bar").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, way
        found = axe.Axe().run(page)
        assert found.violations_count == 0, f"{way}: {found.generate_report()}"
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)"}


def test_the_keyboard_alone_suffices(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    awaited(page, "“fail”")
    assert page.evaluate("document.activeElement.id") == "way-matrix"
    page.keyboard.press("ArrowLeft")
    awaited(page, "“positive”")
    page.keyboard.press("Tab")
    page.keyboard.type("500")
    awaited(page, of_positive(500, 3330))
