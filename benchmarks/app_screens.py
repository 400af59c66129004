"""Screens of the page to work in, for the documentation.

Run it with ``python benchmarks/app_screens.py [folder [screen ...]]``. It needs the extras ``app`` and ``browser``, and
chromium. Pictures go to ``docs/guides/app/``.
"""

import json
import shutil
import sys
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from app import FLAGS, program

FOLDER = Path(__file__).parents[1] / "docs" / "guides" / "app"
COLORS = 256
"""Of a screen, so that its file stays small."""
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 400, "height": 860}
SURVEY = "#in=survey&positive=50%2F3330&sensitivity=103%2F122&specificity=399%2F401"
JUDGE = "#in=file&place=example:judge&label=human&prediction=verdict"
SPECIES = (
    '#in=matrix&classes=["deer","fox","hare"]&outputs=["deer","fox","hare","unsure"]'
    "&labeled=172,6,3,19;9,121,14,16;4,21,98,17&unlabeled=2310,1180,640,410"
)
MODELS = "#in=file&place=models.csv&label=human&prediction=verdict&by=model"
TWO = "#in=file&place=read.csv&population=unread.jsonl&label=human&prediction=verdict"
PASSED = {"atlas": 0.82, "birch": 0.74, "cedar": 0.71, "delta": 0.55}
"""Models that are evaluated, and how often each is right."""
REGIONS = (
    "#in=survey&positive=north%3D96%2F1200&positive=south%3D71%2F1100&positive=west%3D34%2F900"
    "&sensitivity=103%2F122&specificity=399%2F401"
)


def write(folder: Path) -> None:
    """Write what an evaluator has: four models, a judge, and people who read some of the answers."""
    rng = Random(3)
    rows = []
    for name, passed in PASSED.items():
        for at in range(500):
            truth = "pass" if rng.random() < passed else "fail"
            is_right = rng.random() < (0.93 if truth == "pass" else 0.75)
            verdict = truth if is_right else {"pass": "fail", "fail": "pass"}[truth]
            rows.append({"model": name, "human": truth if at < 75 else "", "verdict": verdict})
    lines = ["model,human,verdict", *(",".join(row.values()) for row in rows)]
    (folder / "models.csv").write_text("\n".join(lines))
    read = [f"{row['human']},{row['verdict']}" for row in rows if row["human"]]
    (folder / "read.csv").write_text("\n".join(["human,verdict", *read]))
    unread = [json.dumps({"verdict": row["verdict"]}) for row in rows if not row["human"]]
    (folder / "unread.jsonl").write_text("\n".join(unread))


def opened(page: Any, *parts: str) -> None:
    """Wait for the answer, and open parts of the page."""
    page.locator("#answer .answer").wait_for()
    for part in parts:
        page.locator(f"#{part} > summary").click()
        page.locator(f"#{part} .found > *").first.wait_for()
    page.wait_for_function("() => [...document.querySelectorAll('[aria-busy=true]')].length === 0")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(exist_ok=True)
    wanted = set(sys.argv[2:])
    with TemporaryDirectory() as data, program(Path(data)) as (_, address), sync_playwright() as driver:
        write(Path(data))
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)

        def shoot(
            name: str, state: str, *parts: str, size: Any = WIDE, scheme: Any = "light", whole: bool = False
        ) -> None:
            if wanted and name not in wanted:
                return
            context = browser.new_context(viewport=size, color_scheme=scheme)
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{address}{state}")
            if "examples" in state:
                page.locator(".examples").wait_for()
            else:
                opened(page, *parts)
            if parts:
                page.locator(f"#{parts[0]}").scroll_into_view_if_needed()
                page.locator(f"#{parts[0]}").evaluate("node => window.scrollTo(0, node.offsetTop - 20)")
            seen = Image.open(BytesIO(page.screenshot(full_page=whole)))
            seen.convert("RGB").quantize(COLORS).save(folder / f"{name}.png", optimize=True)
            context.close()

        shoot("survey", SURVEY)
        shoot("table", SPECIES)
        shoot("file", JUDGE)
        shoot("drift-dark", SPECIES, "drift", "methods", scheme="dark")
        shoot("plan", JUDGE, "plan")
        shoot("groups", REGIONS)
        shoot("models", MODELS)
        shoot("models-drift", MODELS, "drift")
        shoot("two-files", TWO)
        shoot("examples", "#in=examples")
        shoot("phone", SURVEY, size=PHONE)
        shoot("phone-dark", SPECIES, size=PHONE, scheme="dark", whole=True)
        browser.close()


if __name__ == "__main__":
    main()
