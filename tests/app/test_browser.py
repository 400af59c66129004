"""The page in a real browser: every way in, every picture, typing, going back, dark, small, and names that attack."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

NEEDED = "could not import it: needs the extras app and browser"
pytest.importorskip("uvicorn", reason=NEEDED)
pytest.importorskip("starlette", reason=NEEDED)
playwright = pytest.importorskip("playwright.sync_api", reason=NEEDED)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=NEEDED)

from served import Served, served  # noqa: E402
from truecount import Counts, infer  # noqa: E402
from truecount.app.examples import EXAMPLES  # noqa: E402

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
WAIT = 60_000
EVIL = "<img src=x onerror=alert(1)>"
ANSWERS = "**/api/answer?*"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium")
    if program is None:
        missing = pytest.fail if os.environ.get("TRUECOUNT_EXTRAS") == "required" else pytest.skip
        missing("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


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
    (place / "empty.csv").write_text("")
    (place / "broken.parquet").write_bytes(b"PAR1 this is no parquet file")
    (place / "confusion.csv").write_text("class\\output,fail,pass\nfail,70,30\npass,10,90\n")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as found:
        yield found


@pytest.fixture
def tab(browser: Any, server: Served) -> Iterator[Callable[..., Any]]:
    """Open tabs that remember what went wrong in them and what they asked for."""
    contexts, tabs = [], []

    def new(address: str = "", *, context: Any = None, width: int = 1280, **options: Any) -> Any:
        if context is None:
            context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.requests.append(request.url))
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


def shown(page: Any) -> str:
    """The sentence of the answer, without unusual blanks."""
    text = page.locator(".answer").inner_text()
    return " ".join(re.sub("[\N{NO-BREAK SPACE}\N{WORD JOINER}]", " ", text).split())


def awaited(page: Any, words: str) -> None:
    """Wait for an answer that has these words."""
    plain = "document.querySelector('.answer')?.textContent.replace(/[\\u00a0\\u2060\\s]+/g, ' ')"
    page.wait_for_function(f"words => ({plain} || '').includes(words)", arg=words)


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
    page.wait_for_function("document.querySelector('#answer').getAttribute('aria-busy') === 'true'")
    page.get_by_label("Tested positive").fill("500")
    awaited(page, of_positive(500, 3330))
    assert len(held) == 1
    with suppress(playwright.Error):  # the page may have given it up
        held[0].continue_()
    page.wait_for_timeout(300)
    assert of_positive(500, 3330) in shown(page)
    page.complaints.clear()


@pytest.mark.slow
def test_typing_fast_ends_in_the_answer_to_what_stands_there(tab: Callable[..., Any]) -> None:
    page = tab()
    awaited(page, of_positive(50, 3330))
    field = page.get_by_label("Tested positive")
    for text in ("7", "71", "712", "71", "7", "", "6", "60", "600"):
        field.fill(text)
    awaited(page, of_positive(600, 3330))
    page.wait_for_function("document.querySelector('#answer').getAttribute('aria-busy') === 'false'")
    assert of_positive(600, 3330) in shown(page)


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
    page.wait_for_function("document.location.hash.includes('same-population')")
    awaited(page, "“wolf”")


def test_a_file_is_opened_with_a_guess_of_its_columns(tab: Callable[..., Any], folder: Path) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(str(folder / "runs.csv"))
    page.keyboard.press("Enter")
    awaited(page, "“pass”")
    page.get_by_text("200 rows have a label. The population is the other 400.").wait_for()
    assert page.get_by_label("What human is").input_value() == "label"
    assert page.get_by_label("What verdict is").input_value() == "prediction"
    page.get_by_label("What verdict is").select_option("")
    page.get_by_text("Choose the column of true classes").wait_for()
    page.reload()
    page.get_by_text("Choose the column of true classes").wait_for()


@pytest.mark.slow
def test_a_file_is_read_by_groups_and_in_time(tab: Callable[..., Any], folder: Path) -> None:
    page = tab(f"#in=file&place={folder / 'runs.csv'}&label=human&prediction=verdict")
    awaited(page, "“pass”")
    page.get_by_label("What region is").select_option("by")
    awaited(page, "Of 2 groups")
    page.locator("#answer section svg").first.wait_for()
    page.locator("#options > summary").click()
    page.get_by_label("Compare all groups with").select_option("north")
    page.get_by_role("heading", name="Compared with the baseline").wait_for()
    page.get_by_label("Groups", exact=True).select_option("yes")
    page.wait_for_function("() => document.querySelector('#reproduce').textContent.includes('--independent')")
    page.get_by_label("What day is").select_option("trend:week")
    awaited(page, "From 2026-03-02 to 2026-03-16")
    page.get_by_label("What day is").select_option("")
    awaited(page, "Of the population")


def test_a_file_is_dropped_and_a_matrix_fills_the_grid(tab: Callable[..., Any], folder: Path, server: Served) -> None:
    page = tab("#in=file")
    page.locator("#chooser").set_input_files(folder / "runs.csv")
    awaited(page, "“pass”")
    assert len(list(server.desk.uploads.folder.iterdir())) >= 1
    page.locator("#reproduce > summary").click()
    assert "truecount estimate runs.csv --label human --prediction verdict" in page.locator("#reproduce").inner_text()
    page.locator("#chooser").set_input_files(folder / "confusion.csv")
    page.get_by_label("Labelled: class fail, output fail").wait_for()
    assert page.get_by_label("Labelled: class fail, output fail").input_value() == "70"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty.csv", "is empty"),
        ("broken.parquet", "cannot be read"),
        ("nothing.csv", "does not exist"),
        ("/etc/passwd", "not among"),
    ],
)
def test_a_bad_file_is_refused_in_words(tab: Callable[..., Any], folder: Path, name: str, words: str) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(name if name.startswith("/") else str(folder / name))
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text(words).wait_for()
    assert page.locator("#answer").inner_text() == ""


def test_names_that_attack_are_shown_and_not_run(tab: Callable[..., Any], folder: Path) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(str(folder / "evil.csv"))
    page.keyboard.press("Enter")
    page.locator(".preview select").first.wait_for()
    page.locator(".preview select").nth(0).select_option("label")
    page.locator(".preview select").nth(1).select_option("prediction")
    awaited(page, "<img src=x onerror=alert(1)>b")
    page.locator("#reproduce > summary").click()
    page.locator("#methods > summary").click()
    page.locator("#methods figure").wait_for()
    assert page.locator("main img, main script, main iframe").count() == 0
    names = json.dumps([f"{EVIL}a", "</script><script>alert(3)</script>"])
    page.goto(f"{page.url.partition('#')[0]}#in=matrix&classes={names}&outputs={names}&labeled=9,1;2,8&unlabeled=5,6")
    awaited(page, "</script>")
    assert page.locator("main script").count() == 0
    assert page.get_by_label("Name of class 1").input_value() == f"{EVIL}a"


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
    page.get_by_label("Of each class, so many items may get").evaluate(
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


WAYS = ["#in=survey", "#in=matrix", "#in=file&place=example:judge&label=human&prediction=verdict", "#in=examples"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it_also_small_and_dark(tab: Callable[..., Any], scheme: str) -> None:
    grounds = set()
    page = tab(WAYS[0], width=400, color_scheme=scheme, bypass_csp=True)
    for way in WAYS:
        page.goto(f"{page.url.partition('#')[0]}{way}")
        page.locator(".examples" if "examples" in way else "#answer .answer").wait_for()
        if "matrix" in way:
            page.locator("#drift > summary").click()
            page.locator("#drift .bar").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, way
        found = axe.Axe().run(page)
        assert found.violations_count == 0, f"{way}: {found.generate_report()}"
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)"}


@pytest.fixture(scope="module")
def large(folder: Path) -> Path:
    """A file of ten million rows, of which every hundredth has a label."""
    import duckdb

    file = folder / "large.csv"
    query = """SELECT n AS id, CASE WHEN n % 100 = 0 THEN (CASE WHEN hash(n) % 10 < 4 THEN 'fail' ELSE 'pass' END) END
    AS human, CASE WHEN hash(n) % 10 < 3 THEN 'fail' ELSE 'pass' END AS verdict FROM range(10000000) AS t(n)"""
    with duckdb.connect() as connection:
        connection.sql(query).write_csv(str(file))
    return file


@pytest.mark.slow
def test_ten_million_rows_are_read_with_progress_and_stopped(
    tab: Callable[..., Any], large: Path, server: Served
) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(str(large))
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text(re.compile(r"Counting the rows [1-9]\d* %")).wait_for()
    assert server.desk.reading._busy == 1
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("alert").get_by_text("Stopped.").wait_for()
    page.wait_for_function("!document.querySelector('.working')")
    for _ in range(100):
        if server.desk.reading._busy == 0:
            break
        page.wait_for_timeout(100)
    assert server.desk.reading._busy == 0
    assert page.locator("#answer").inner_text() == ""
    page.get_by_label("What human is").select_option("")
    page.get_by_label("What human is").select_option("label")
    page.get_by_text("100,000 rows have a label. The population is the other 9,900,000.").wait_for()
    awaited(page, "“pass”")


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
