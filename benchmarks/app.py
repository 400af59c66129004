"""The page to work in: from a keystroke to the new answer, twenty tabs at once, and memory after a hundred files.

Run it with ``python benchmarks/app.py [part ...]``, where a part is one of `PARTS`; it needs the extras ``app`` and
``browser``, and chromium. Keystrokes take turns with their yardstick, ``infer`` and the report's rendering of the same
counts in a warm process, so that a busy machine slows both alike; the ratio of medians is what counts, and it must stay
below 2. The time of a keystroke ends when the browser has painted the new answer.
"""

import http.client
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

from machine import about
from playwright.sync_api import sync_playwright

import truecount as tc
from truecount.page.answer import render

RESULT = Path(__file__).parent / "results" / "app.json"
HEADER = "| the page to work in | measured | beside |"
LIMIT, ROUNDS, TABS, ROWS = 2.0, 30, 20, 200_000
LOOKS, GROWTH = (5, 50, 100), 0.01
"""Files after which memory is looked at, and by what part it may grow between the second and the last look."""
PARTS = {"typing": "typing", "tabs": "twenty tabs", "long": "beside long work", "memory": "memory"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
KEYSTROKE = """
async text => {
  const field = document.querySelector("#positive-0"), place = document.querySelector("#answer");
  const begin = performance.now();
  const whole = {childList: true, subtree: true};
  const changed = new Promise(done => new MutationObserver(() => done()).observe(place, whole));
  field.value = text;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  await changed;
  await new Promise(done => { requestAnimationFrame(() => setTimeout(done)); if (document.hidden) done(); });
  return performance.now() - begin;
}
"""


@contextmanager
def program(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the program in a folder, and yield it with its address."""
    words = [sys.executable, "-m", "truecount", "app", "--port", "0", "--no-open"]
    started = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.terminate()
        started.wait(20)


def yardstick(positive: int) -> float:
    """Return the milliseconds of `infer` and the report's rendering in this process."""
    begin = perf_counter()
    counts = tc.Counts([[399, 2], [19, 103]], [3330 - positive, positive], classes=["negative", "positive"])
    render(tc.infer(counts), classes=["positive"])
    return 1000 * (perf_counter() - begin)


def open_tab(context: Any, address: str) -> Any:
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.locator("#answer .answer").wait_for()
    return page


def keystrokes(page: Any, rounds: int) -> dict[str, Any]:
    """Let keystrokes and the yardstick take turns."""
    for number in range(3):
        page.evaluate(KEYSTROKE, str(90 + number))
        yardstick(90 + number)
    pairs = [(page.evaluate(KEYSTROKE, str(100 + at)), yardstick(100 + at)) for at in range(rounds)]
    typed, plain = (median(each) for each in zip(*pairs, strict=True))
    return {
        "keystroke to painted answer, ms": round(typed, 1),
        "infer and rendering, ms": round(plain, 1),
        "ratio": round(typed / plain, 2),
    }


def many_tabs(context: Any, address: str) -> dict[str, Any]:
    """Type into every tab at once, each another number, and wait for all answers."""
    pages = [open_tab(context, address) for _ in range(TABS)]
    alone = median(pages[0].evaluate(KEYSTROKE, str(60 + at)) for at in range(5))
    begin = perf_counter()
    start = f"text => {{ window.took = null; ({KEYSTROKE.strip()})(text).then(took => {{ window.took = took; }}); }}"
    for number, page in enumerate(pages):
        page.evaluate(start, str(200 + 5 * number))
    took = []
    for number, page in enumerate(pages):
        page.wait_for_function("() => window.took !== null")
        took.append(page.evaluate("window.took"))
        assert f"positive={200 + 5 * number}%2F3330" in page.url
    whole = 1000 * (perf_counter() - begin)
    one_by_one = sum(yardstick(200 + 5 * number) for number in range(TABS))
    for page in pages:
        page.close()
    return {
        "tabs": TABS,
        "a keystroke alone, ms": round(alone, 1),
        "all answers, ms": round(whole, 1),
        "slowest tab, ms": round(max(took), 1),
        "infer and rendering one after the other, ms": round(one_by_one, 1),
        "ratio": round(whole / one_by_one, 2),
    }


def beside_long_work(context: Any, address: str, folder: Path) -> dict[str, Any]:
    """Type while as many tabs as there are connections count a file of ten million rows."""
    file = folder / "large.csv"
    query = "SELECT CASE WHEN n % 100 = 0 THEN (CASE WHEN hash(n) % 10 < 4 THEN 'fail' ELSE 'pass' END) END AS human, "
    query += "CASE WHEN hash(n) % 10 < 3 THEN 'fail' ELSE 'pass' END AS verdict FROM range(10000000) AS t(n)"
    import duckdb

    duckdb.sql(query).write_csv(str(file))
    page = open_tab(context, address)
    alone = median(page.evaluate(KEYSTROKE, str(60 + at)) for at in range(5))
    tabs = [context.new_page() for _ in range(6)]
    for tab in tabs:
        tab.goto(f"{address}#in=file&place={file}&label=human&prediction=verdict")
    tabs[0].locator(".working").wait_for(timeout=120_000)
    beside = [page.evaluate(KEYSTROKE, str(70 + at)) for at in range(5)]
    is_counting = tabs[-1].locator("#answer .answer").count() == 0
    for tab in tabs:
        tab.close()
    page.close()
    return {
        "tabs that count 10^7 rows": len(tabs),
        "were still counting": is_counting,
        "a keystroke alone, ms": round(alone, 1),
        "a keystroke meanwhile, ms": round(median(beside), 1),
    }


def tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in tree(int(child)))]


def memory(pid: int) -> list[float]:
    """Return the megabytes that a process and each one below it wrote, divided among those that share them.

    Pages of programs and libraries are left out: what a process bears of them depends on who else on the machine has
    them open, and changes when another program starts or ends.
    """
    found = []
    for each in tree(pid):
        lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        found.append(next(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")) / 1024)
    return found


def many_files(pid: int, address: str) -> dict[str, Any]:
    """Send files, look into them and count them, one after the other."""
    place = urlsplit(address)
    token = {"Authorization": f"Bearer {parse_qs(place.query)['token'][0]}"}

    def ask(path: str, body: bytes) -> Any:
        connection = http.client.HTTPConnection(place.hostname or "", place.port or 0, timeout=120)
        connection.request("POST", path, body, token)
        told = json.loads(connection.getresponse().read())
        connection.close()
        return told

    def done(task: str, values: Any) -> Any:
        told = ask(f"/api/{task}?job=one", json.dumps(values).encode())
        while "progress" in told:
            sleep(0.05)
            told = ask("/api/job", b'{"job": "one"}')
        return told["result"]

    rows = "".join(
        f"{'pass' if at % 50 == 0 else ''},{'fail' if at % 3 else 'pass'},{at % 97}\n" for at in range(ROWS - 2)
    )
    content = f"human,verdict,noise\nfail,fail,1\npass,pass,1\n{rows}".encode()
    seen: dict[int, list[float]] = {}
    begin = perf_counter()
    for number in range(1, LOOKS[-1] + 1):
        name = ask(f"/api/upload?name=file{number}.csv", content)["place"]
        done("preview", {"place": name})
        counted = done("count", {"place": name, "label": ["human"], "prediction": ["verdict"]})
        assert counted["labeled"] + counted["unlabeled"] == ROWS
        ask("/api/forget", json.dumps({"place": name}).encode())
        if number in LOOKS:
            sleep(2)  # the process of the last file may still be ending
            seen[number] = memory(pid)
    each = (perf_counter() - begin) / LOOKS[-1]
    whole = [sum(seen[number]) for number in LOOKS]
    return {
        "megabytes each": round(len(content) / 2**20, 1),
        "seconds each": round(each, 2),
        "files": list(LOOKS),
        "megabytes of all processes": [round(total, 2) for total in whole],
        "of the server": [round(seen[number][0], 2) for number in LOOKS],
        "processes": [len(seen[number]) for number in LOOKS],
        "growth": round(whole[-1] / whole[1] - 1, 4),
    }


def table(result: dict[str, Any]) -> str:
    """Return the figures as a table."""
    typing, tabs, long, files = (result[name] for name in PARTS.values())
    rows = [
        (
            "from a keystroke to the painted answer, two classes",
            f"{typing['keystroke to painted answer, ms']} ms",
            f"`infer` and rendering {typing['infer and rendering, ms']} ms: {typing['ratio']} ×",
        ),
        (
            f"{tabs['tabs']} tabs at once, until all have their answer",
            f"{tabs['all answers, ms']} ms",
            f"the same answers one after the other {tabs['infer and rendering one after the other, ms']} ms: "
            f"{tabs['ratio']} ×",
        ),
        (
            f"a keystroke while {long['tabs that count 10^7 rows']} other tabs count 10⁷ rows each",
            f"{long['a keystroke meanwhile, ms']} ms",
            f"alone {long['a keystroke alone, ms']} ms",
        ),
        (
            f"memory of all processes after {files['files'][-1]} files of {files['megabytes each']} MB",
            f"{files['megabytes of all processes'][-1]} MB",
            "after "
            + ", ".join(
                f"{number}: {total} MB"
                for number, total in zip(files["files"][:-1], files["megabytes of all processes"], strict=False)
            ),
        ),
    ]
    lines = [HEADER, "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def keep(result: dict[str, Any]) -> None:
    """Write what is known so far, and the table once all parts are."""
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    if all(name in result for name in PARTS.values()):
        RESULT.with_suffix(".md").write_text(table(result))


def main() -> None:
    parts = sys.argv[1:] or list(PARTS)
    folder = Path(tempfile.mkdtemp())
    result: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    result |= {"rounds": ROUNDS, "limit": LIMIT, "machine": about()}
    try:
        with program(folder) as (started, address), sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            context = browser.new_context()
            measures: dict[str, Callable[[], dict[str, Any]]] = {
                "typing": lambda: keystrokes(open_tab(context, address), ROUNDS),
                "tabs": lambda: many_tabs(context, address),
                "long": lambda: beside_long_work(context, address, folder),
                "memory": lambda: many_files(started.pid, address),
            }
            for part in parts:
                result[PARTS[part]] = measures[part]()
                keep(result)
            browser.close()
    finally:
        shutil.rmtree(folder)
    print(json.dumps(result, indent=2))
    if result[PARTS["typing"]]["ratio"] > LIMIT:
        sys.exit(f"slower than {LIMIT} x")
    if result[PARTS["memory"]]["growth"] > GROWTH:
        sys.exit(f"memory grew by more than {GROWTH:.0%}")


if __name__ == "__main__":
    main()
