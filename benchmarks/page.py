"""How long a report of five classes takes from cold, as a multiple of importing matplotlib and drawing an empty figure.

Run it with ``python benchmarks/page.py [rounds]``. The figure is as large as the page's picture of the shares, has not
even axes, and goes to the same format. All take turns, so that a busy machine slows them alike; the ratio of medians is
what counts, and it must stay below 2.
"""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from cold_start import TRUECOUNT, measure

import truecount as tc
from truecount.page.frame import WIDTH
from truecount.plots.shares import prevalence_data

RESULT = Path(__file__).parent / "results" / "page.json"
LIMIT = 2.0
LABELED = [[70, 8, 7, 8, 7], [9, 68, 8, 7, 8], [8, 7, 71, 7, 7], [6, 8, 9, 69, 8], [7, 7, 8, 8, 70]]
COUNTS = tc.Counts(LABELED, [310, 420, 250, 380, 640], classes=["a", "b", "c", "d", "e"])
EMPTY = """
from io import StringIO
from matplotlib.figure import Figure
Figure(figsize=({width}, {height})).savefig(StringIO(), format="svg")
"""
REPORT = """
import truecount as tc
tc.report(tc.infer(tc.Counts.from_json({counts!r})), {path!r})
"""


def commands(folder: Path) -> dict[str, list[str]]:
    """Return what is timed, the yardstick first."""
    height = prevalence_data(tc.infer(COUNTS)).height
    (folder / "counts.json").write_text(COUNTS.to_json())
    page = str(folder / "report.html")
    return {
        "matplotlib and an empty figure": [sys.executable, "-c", EMPTY.format(width=WIDTH, height=height)],
        "tc.report(tc.infer(counts), path)": [
            sys.executable,
            "-c",
            REPORT.format(counts=COUNTS.to_json(), path=page),
        ],
        "truecount estimate counts.json --html": [
            *TRUECOUNT,
            "estimate",
            str(folder / "counts.json"),
            "--html",
            page,
        ],
    }


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with TemporaryDirectory() as folder:
        medians = measure(commands(Path(folder)), rounds)
        size = (Path(folder) / "report.html").stat().st_size
    baseline = next(iter(medians.values()))
    ratios = {name: round(value / baseline, 2) for name, value in medians.items()}
    result = {
        "rounds": rounds,
        "limit": LIMIT,
        "bytes": size,
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "ratios": ratios,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("truecount", "numpy", "matplotlib", "jinja2", "click")},
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    for name, value in medians.items():
        print(f"{name:40} {1000 * value:6.0f} ms {ratios[name]:6.2f} x")
    if max(ratios.values()) > LIMIT:
        sys.exit(f"slower than {LIMIT} x")


if __name__ == "__main__":
    main()
