"""Files on the page, in a real browser: named, chosen, dropped, two of them, bad ones, and one of ten million rows."""

import json
import os
import re
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

NEEDED = "could not import it: needs the extras app and browser"
pytest.importorskip("uvicorn", reason=NEEDED)
pytest.importorskip("starlette", reason=NEEDED)
pytest.importorskip("playwright.sync_api", reason=NEEDED)

from opened import EVIL, WAIT, awaited, shown  # noqa: E402
from served import Served, served  # noqa: E402
from truecount.app import pool  # noqa: E402


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


def test_a_file_is_chosen_and_a_matrix_fills_the_grid(tab: Callable[..., Any], folder: Path, server: Served) -> None:
    page = tab("#in=file")
    page.locator("#chooser").set_input_files(folder / "runs.csv")
    awaited(page, "“pass”")
    assert len(list(server.desk.uploads.folder.iterdir())) >= 1
    page.locator("#reproduce > summary").click()
    assert "truecount estimate runs.csv --label human --prediction verdict" in page.locator("#reproduce").inner_text()
    page.locator("#chooser").set_input_files(folder / "confusion.csv")
    page.get_by_label("Labelled: class fail, output fail").wait_for()
    assert page.get_by_label("Labelled: class fail, output fail").input_value() == "70"


def dropped(page: Any, target: Any, *files: Path) -> None:
    """Drag files over a place and let them go there, as a mouse does: the browser makes all events itself."""
    box = target.bounding_box()
    middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver"):
        session.send("Input.dispatchDragEvent", {"type": kind, **middle, "data": data})
    page.locator(".drop.over").wait_for()
    session.send("Input.dispatchDragEvent", {"type": "drop", **middle, "data": data})
    page.wait_for_function("() => !document.querySelector('.drop.over')")


def test_a_file_is_dragged_onto_the_page_and_dropped(tab: Callable[..., Any], folder: Path) -> None:
    page = tab("#in=file")
    dropped(page, page.locator(".drop"), folder / "runs.csv")
    awaited(page, "“pass”")
    page.get_by_text("200 rows have a label. The population is the other 400.").wait_for()
    dropped(page, page.locator(".drop").first, folder / "empty.csv")
    page.get_by_role("alert").get_by_text("empty.csv is empty").wait_for()


TWO = "80 rows of read.csv have a label. The population is the 300 rows of unread.jsonl."


def test_two_files_that_are_dropped_are_told_apart(tab: Callable[..., Any], folder: Path) -> None:
    page = tab("#in=file")
    dropped(page, page.locator(".drop"), folder / "unread.jsonl", folder / "read.csv")
    page.get_by_text(TWO).wait_for()
    awaited(page, "“pass”")
    page.locator("#reproduce > summary").click()
    line = "truecount estimate read.csv unread.jsonl --label human --prediction verdict"
    assert line in page.locator("#reproduce").inner_text()


def test_the_population_is_named_in_a_second_file(tab: Callable[..., Any], folder: Path) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(str(folder / "read.csv"))
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("Every row of read.csv has a label. Choose the file of the pop").wait_for()
    assert page.get_by_label("In another file").is_checked()
    page.locator("#population-path").fill(str(folder / "empty.csv"))
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("empty.csv is empty").wait_for()
    page.locator("#population-path").fill(str(folder / "unread.jsonl"))
    page.keyboard.press("Enter")
    awaited(page, "“pass”")
    answer = shown(page)
    page.reload()
    awaited(page, "“pass”")
    assert shown(page) == answer
    page.get_by_label("In the same file").check()
    page.get_by_role("alert").get_by_text("has a label in every row").wait_for()
    page.go_back()
    awaited(page, "“pass”")
    assert page.get_by_label("In another file").is_checked()


def test_going_back_over_columns_and_ways_asks_anew(tab: Callable[..., Any], folder: Path) -> None:
    page = tab(f"#in=file&place={folder / 'raters.csv'}&label=human&prediction=verdict")
    awaited(page, "“pass”")
    first = shown(page)
    page.get_by_label("What second is").select_option("label")
    page.wait_for_function(
        "before => document.querySelector('.answer').textContent !== before",
        arg=page.locator(".answer").text_content(),
    )
    second = shown(page)
    assert second != first
    page.go_back()
    awaited(page, first[:60])
    assert page.get_by_label("What human is").input_value() == "label"
    assert page.get_by_label("What second is").input_value() == ""
    page.get_by_role("tab", name="A table").click()
    awaited(page, "“fail”")
    page.get_by_role("tab", name="A file").click()
    awaited(page, first[:60])
    assert page.get_by_text("120 rows have a label.").count() == 1


@pytest.mark.slow
def test_raters_and_classifiers_are_further_columns(tab: Callable[..., Any], folder: Path) -> None:
    page = tab(f"#in=file&place={folder / 'raters.csv'}&label=human&prediction=verdict")
    awaited(page, "“pass”")
    page.get_by_label("What second is").select_option("label+")
    page.get_by_role("heading", name="How often raters are right").wait_for()
    assert page.get_by_label("What human is").input_value() == "label"
    assert "label=human&label=second" in page.url
    page.locator("#drift > summary").click()
    page.locator("#drift").get_by_text("labels are of several raters").wait_for()
    page.get_by_label("What human is").select_option("")
    page.get_by_role("heading", name="How often raters are right").wait_for(state="detached")
    assert page.get_by_label("What second is").input_value() == "label"
    page.get_by_label("What other is").select_option("prediction+")
    page.wait_for_function("() => document.querySelector('#reproduce').textContent.includes('--prediction other')")


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


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[float]]:
    """Pause the first process that tells how far it is, on one processor so that none is done before it tells."""
    heard: dict[int, list[float]] = {}
    begun, followed = pool._begun, pool._followed

    def slowed(niceness: int) -> pool.Worker:
        worker = begun(niceness)
        os.sched_setaffinity(worker.process.pid or 0, {min(os.sched_getaffinity(0))})
        return worker

    def followed_and_paused(worker: pool.Worker, tell: pool.Telling, stop: Event) -> tuple[str, bytes]:
        process = worker.process.pid or 0

        def hear(what: str, share: float | None) -> None:
            if share is not None and 0.01 <= share < 0.99 and set(heard) <= {process}:
                os.kill(process, signal.SIGSTOP)
                heard.setdefault(process, []).append(share)
            tell(what, share)

        return followed(worker, hear, stop)

    monkeypatch.setattr(pool, "_begun", slowed)
    monkeypatch.setattr(pool, "_followed", followed_and_paused)
    return heard


@pytest.mark.slow
def test_ten_million_rows_are_read_with_progress_and_stopped(
    tab: Callable[..., Any], large: Path, server: Served, paused: dict[int, list[float]]
) -> None:
    page = tab("#in=file")
    page.get_by_label("Or a file that is read where it lies").fill(str(large))
    page.keyboard.press("Enter")
    told = page.get_by_role("status").get_by_text(re.compile(r"Counting the rows [1-9]\d* %"))
    told.wait_for()
    ((process, shares),) = paused.items()
    assert told.inner_text() in {f"Counting the rows {100 * share:.0f} %" for share in shares}
    assert server.desk.reading._busy == 1
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("alert").get_by_text("Stopped.").wait_for()
    page.wait_for_function("() => !document.querySelector('.working')")
    assert any(not Path(f"/proc/{process}").exists() or page.wait_for_timeout(100) for _ in range(600))
    assert server.desk.reading._busy == 0
    assert page.locator("#answer").inner_text() == ""
    page.get_by_label("What human is").select_option("")
    page.get_by_label("What human is").select_option("label")
    page.get_by_text("100,000 rows have a label. The population is the other 9,900,000.").wait_for()
    awaited(page, "“pass”")
    assert set(paused) == {process}


def test_a_file_named_at_the_start_is_open(browser: Any, tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "runs.parquet"
    rows = "SELECT CASE WHEN n < 60 THEN (CASE WHEN n % 3 = 0 THEN 'fail' ELSE 'pass' END) END AS human, "
    rows += "CASE WHEN n % 4 = 0 THEN 'fail' ELSE 'pass' END AS verdict FROM range(300) AS t(n)"
    with duckdb.connect() as connection:
        connection.sql(rows).write_parquet(str(file))
    with served(file) as found, closing(browser.new_context()) as context:
        page = context.new_page()
        page.goto(found.address)
        page.get_by_text("60 rows have a label. The population is the other 240.").wait_for(timeout=WAIT)
        awaited(page, "“pass”")
