"""How long from cold to a printed answer, as a multiple of importing what the command stands on.

Run it with ``python benchmarks/cold_start.py [rounds]``. The two take turns, so that a busy machine slows both alike;
the ratio of medians is what counts, and it must stay below 3.
"""

import json
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median

from truecount.examples import JUDGE

RESULT = Path(__file__).parent / "results" / "cold_start.json"
LIMIT = 3.0
COLUMNS = ["--label", "human", "--prediction", "verdict"]
SURVEY = ["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
TRUECOUNT = [sys.executable, "-m", "truecount"]
COMMANDS = {
    "import numpy, duckdb, click, rich": [sys.executable, "-c", "import numpy, duckdb, click, rich"],
    "truecount demo": [*TRUECOUNT, "demo"],
    "truecount estimate judge.csv": [*TRUECOUNT, "estimate", str(JUDGE), *COLUMNS],
    "truecount estimate --positive": [*TRUECOUNT, "estimate", *SURVEY],
}


def seconds(command: list[str]) -> float:
    """Run a command and take the time."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each command; the first round warms the disk and does not count."""
    times = [{name: seconds(command) for name, command in commands.items()} for _ in range(rounds + 1)][1:]
    return {name: median(turn[name] for turn in times) for name in commands}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    medians = measure(COMMANDS, rounds)
    baseline = medians[next(iter(COMMANDS))]
    ratios = {name: round(value / baseline, 2) for name, value in medians.items()}
    result = {
        "rounds": rounds,
        "limit": LIMIT,
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "ratios": ratios,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("truecount", "numpy", "duckdb", "click", "rich")},
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    for name, value in medians.items():
        print(f"{name:36} {1000 * value:6.0f} ms {ratios[name]:6.2f} x")
    if max(ratios.values()) > LIMIT:
        sys.exit(f"slower than {LIMIT} x")


if __name__ == "__main__":
    main()
