"""Compare two commits: the size of the source, the way of a row, and the processor time of what users wait for.

    python benchmarks/before_after.py CHECKOUT [CHECKOUT …] [--rounds 5] [--only size|time]

Each checkout is the root of another commit of this project; this one comes last. The tasks are those of ``speed.py``,
``cold_start.py``, ``counting.py``, ``page.py`` and ``check_cost.py`` in small sizes and without a peer: the commits are
compared with each other. They take turns, each time in a process of its own, and processor time is measured, so that
a busy machine slows all alike. A ratio is that of medians over rounds; its standard error comes from those of the
medians. Results go to ``benchmarks/results/before_after.json`` and ``.md``.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from machine import about

HERE = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
CACHE = tempfile.TemporaryDirectory(prefix="truecount-compiled-")
SHORT = 3
"""Lines of a short function."""
CAPABILITIES = {
    "the page to work in": ("app/*", "cli/browser.py"),
    "planning": ("planning/*", "*plan.py", "*batch*.py"),
    "logs of evaluation tools": ("reading/logs/*", "counts/logs.py"),
    "other doors": ("quapy/*", "mlflow.py", "pandas.py", "polars.py", "accessor.py", "results/export/openmetrics.py"),
    "groups one by one, by workers": ("*separate*", "_executor.py", "api/tables.py", "api/workers.py"),
    "several raters and classifiers, labels of the target": (
        *("*raters.py", "*rating*.py", "*rated*.py", "*erring*.py", "*target_labels.py", "*label_error.py"),
        *("*classifiers.py", "*classifier.py", "*combinations.py", "*independent*.py", "inference/pooled_shares.py"),
    ),
    "groups, studies and times": (
        *("*groups*", "*group_*", "*hierarch*", "inference/integrated/*", "models/variation.py", "models/published.py"),
        *("inference/*_moves.py", "inference/row_draws.py", "inference/whitening.py", "diagnostics/own_labels.py"),
        *("counts/periods.py", "plots/ranks.py"),
    ),
    "calibration maps of scores": ("*score_*.py", "*from_scores.py", "api/scores.py", "sklearn/one_fit.py"),
    "clusters and learned priors": (
        "*clusters.py",
        "*design_effect.py",
        "models/learned.py",
        "inference/chains/learning.py",
    ),
}
"""What files belong to by their names, the first that fits; the rest is what there was when the comparison began."""
REST = "counts, engines, estimators, checks, pictures, page, command"
TASKS = r"""
import json, sys, time, warnings
warnings.simplefilter("ignore")
from pathlib import Path
import numpy as np
import truecount as tc
from truecount import simulate
folder = Path(sys.argv[1])
SHAPES = {"2 x 2": (2, 2), "5 x 5": (5, 5), "5 x 9": (5, 9), "5 x 3": (5, 3), "10 x 10": (10, 10)}
SIZES = {"labeled": 1000, "unlabeled": 500}
counts = {
    name: simulate.counts(simulate.prevalence(0.7, l), simulate.confusion(0.85, l, k), **SIZES, seed=1)
    for name, (l, k) in SHAPES.items()
}
flat = tc.Prior(confusion=1.0)
rng = np.random.default_rng(0)
names = np.array(["yes", "no", "maybe"])
y, c, new = (names[rng.integers(3, size=100_000)] for _ in range(3))
answer, small = tc.infer(counts["5 x 5"], prior=flat), tc.infer(counts["2 x 2"], prior=flat)
columns = {"label": "human", "prediction": "verdict"}
tasks = {f"infer, {name}": (lambda each=each: tc.infer(each, prior=flat)) for name, each in counts.items()}
tasks |= {
    "findings, 5 x 5": lambda: list(tc.infer(counts["5 x 5"], prior=flat).findings),
    "check, 5 x 5": lambda: tc.check(counts["5 x 5"], prior=flat, replicates=99),
    "str(posterior), 5 x 5": lambda: str(answer),
    "report, 5 x 5": lambda: tc.report(answer, folder / "page.html"),
    "count, 300,000 strings": lambda: tc.count(y, c, new),
    "count_table, CSV of 200,000 rows": lambda: tc.count_table(folder / "rows.csv", **columns),
    "count_table, Parquet of 200,000 rows": lambda: tc.count_table(folder / "rows.parquet", **columns),
}
found = {}
for name, task in tasks.items():
    task()
    times, begin = [], time.process_time()
    while len(times) < 3 or (time.process_time() - begin < 0.15 and len(times) < 30):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    found[name] = sorted(times)[len(times) // 2]
print(json.dumps(found))
"""
ESTIMATE = ("-m", "truecount", "estimate")
ROWS = (*ESTIMATE, "rows.csv", "--label", "human", "--prediction", "verdict")
INFER = "import truecount as tc; tc.infer(tc.Counts([[9, 1], [2, 8]], [30, 20]), prior=tc.Prior(confusion=1.0))"
COMMANDS = {
    "cold: import truecount; infer of 2 x 2": ("-c", INFER),
    "cold: truecount estimate rows.csv": ROWS,
    "cold: truecount estimate --positive": (
        *ESTIMATE,
        *("--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"),
    ),
    "cold: truecount estimate rows.csv --html": (*ROWS, "--html", "cold.html"),
}


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment in which a checkout is imported, compiled as it is where it was installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**kept, **threads, "PYTHONPATH": str(checkout / "src"), "PYTHONPYCACHEPREFIX": CACHE.name}


def times_of(checkout: Path, folder: Path) -> dict[str, float]:
    """Return the processor seconds of every task, in one round."""
    run = subprocess.run(
        [sys.executable, "-c", TASKS, str(folder)],
        env=environment(checkout),
        check=True,
        capture_output=True,
        cwd=folder,
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    for name, command in COMMANDS.items():
        child = subprocess.Popen(
            [sys.executable, *command], env=environment(checkout), cwd=folder, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"{command} failed in {checkout}")
        found[name] = usage.ru_utime + usage.ru_stime
    return found


def write_rows(folder: Path) -> None:
    """Write the same rows as CSV and as Parquet."""
    import duckdb

    made = "SELECT CASE WHEN random() < 0.1 THEN 'class ' || (random() * 2)::INT % 2 END AS human, "
    made += "'class ' || (random() * 2)::INT % 2 AS verdict FROM range(200000)"
    with duckdb.connect() as connection:
        connection.execute(f"SELECT setseed(0.5); CREATE TABLE made AS {made}")
        for ending in ("csv", "parquet"):
            connection.execute(f"COPY made TO '{folder}/rows.{ending}'")


def functions(source: Path) -> list[ast.FunctionDef]:
    """Return all functions below a folder."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in source.rglob("*.py")]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def lines_of(function: ast.FunctionDef) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def untyped(function: ast.FunctionDef) -> int:
    """Return how many arguments of a public function are dictionaries with string keys and values of any kind."""
    if function.name.startswith("_"):
        return 0
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    kinds = [ast.unparse(each.annotation) for each in given if each.annotation is not None]
    return sum(kind.strip("'\"").startswith(("dict[str, Any]", "Mapping[str, Any]")) for kind in kinds)


def way_of(checkout: Path) -> tuple[int, int]:
    """Return how many files a row of a CSV file passes on its way to the page, and how often it turns back."""
    script = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from tests.architecture import trace_row
from tests.architecture.trace_row import files_by_folder, reversals, trace_page
import truecount.cli.app as program
if type(program.app).__module__.startswith("typer"):  # what commands were made of before
    import click.testing, typer.testing
    click.testing.CliRunner = typer.testing.CliRunner
trace = trace_row.trace
try:
    calls = trace_page()
except RuntimeError:  # --table was added later
    trace_row.trace = lambda *given: trace(*(each for each in given if each != "--table"))
    calls = trace_page()
print(sum(map(len, files_by_folder(calls).values())), len(reversals(calls)))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment(checkout), check=True, capture_output=True, text=True
    )
    files, turns = run.stdout.split()[-2:]
    return int(files), int(turns)


def size_of(checkout: Path) -> dict[str, int]:
    """Count what the source of a commit consists of."""
    source = checkout / "src" / "truecount"
    files = list(source.rglob("*.py"))
    found = functions(source)
    count = "import truecount; print(len(truecount.__all__))"
    names = subprocess.run([sys.executable, "-c", count], env=environment(checkout), check=True, capture_output=True)
    way, turns = way_of(checkout)
    return {
        "files": len(files),
        "lines": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files),
        "files from a CSV to the page": way,
        "reversals": turns,
        "functions": len(found),
        f"functions of {SHORT} lines or fewer": sum(lines_of(each) <= SHORT for each in found),
        "dictionaries with string keys taken by public functions": sum(map(untyped, found)),
        "names exported": int(names.stdout),
        "most files in one folder": max(len(list(each.glob("*.py"))) for each in source.rglob("*") if each.is_dir()),
    }


def parts_of(checkout: Path) -> dict[str, tuple[int, int]]:
    """Return how many files and lines belong to each capability."""
    source = checkout / "src" / "truecount"
    found = {name: [0, 0] for name in (REST, *CAPABILITIES)}
    for file in source.rglob("*.py"):
        path = file.relative_to(source).as_posix()
        fits = (name for name, patterns in CAPABILITIES.items() if any(fnmatch(path, each) for each in patterns))
        part = found[next(fits, REST)]
        part[0] += 1
        part[1] += len(file.read_text(encoding="utf-8").splitlines())
    return {name: (files, lines) for name, (files, lines) in found.items()}


def commit_of(checkout: Path) -> str:
    """Return the commit that is checked out."""
    run = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=checkout, check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


def ratio(new: list[float], old: list[float]) -> tuple[float, float]:
    """Return the ratio of medians, and its standard error by the bootstrap over rounds."""
    rng = np.random.default_rng(0)
    draws = [np.median(rng.choice(each, (2000, len(each))), axis=1) for each in (new, old)]
    return median(new) / median(old), float(np.std(draws[0] / draws[1]))


def tables(result: dict[str, Any]) -> str:
    """Return both tables as Markdown."""
    lines = ["# Before and after", "", "Made by `benchmarks/before_after.py`.", ""]
    if "size" in result:
        commits = list(result["size"])
        lines += [f"| | {' | '.join(commits)} |", f"|---|{'---|' * len(commits)}"]
        for name in result["size"][commits[-1]]:
            cells = [f"{result['size'][each][name]:,}" for each in commits]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines += ["", "Files and lines by what they are for, told by their names.", ""]
        lines += [f"| | {' | '.join(commits)} |", f"|---|{'---|' * len(commits)}"]
        for name in (REST, *CAPABILITIES):
            cells = ["{:,} files, {:,} lines".format(*result["parts"][each][name]) for each in commits]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    if "seconds" in result:
        *before, now = result["seconds"]
        heads = [f"{now} over {each}" for each in before]
        lines += ["", f"Processor time, {result['rounds']} rounds in turns.", ""]
        lines += [f"| task | {now} | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
        for name, times in result["seconds"][now].items():
            cells = [ratio(times, result["seconds"][each][name]) for each in before]
            told = " | ".join(f"{value:.2f} ± {error:.2f}" for value, error in cells)
            lines.append(f"| {name} | {1000 * median(times):.1f} ms | {told} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("size", "time"))
    options = parser.parse_args()
    by_commit = {commit_of(each): each.resolve() for each in (*options.checkouts, HERE)}
    file = RESULTS / "before_after.json"
    result = json.loads(file.read_text()) if options.only and file.exists() else {}
    result |= {"machine": about()}
    if options.only != "time":
        result["size"] = {commit: size_of(each) for commit, each in by_commit.items()}
        result["parts"] = {commit: parts_of(each) for commit, each in by_commit.items()}
    if options.only != "size":
        result |= {"rounds": options.rounds, "seconds": {commit: {} for commit in by_commit}}
        with tempfile.TemporaryDirectory() as folder:
            write_rows(Path(folder))
            for checkout in by_commit.values():
                times_of(checkout, Path(folder))  # compiles what is imported
            for number in range(options.rounds):
                turns = list(by_commit.items())
                for commit, checkout in turns if number % 2 == 0 else reversed(turns):
                    for name, seconds in times_of(checkout, Path(folder)).items():
                        result["seconds"][commit].setdefault(name, []).append(seconds)
                file.write_text(json.dumps(result, indent=1) + "\n")
    file.write_text(json.dumps(result, indent=1) + "\n")
    (RESULTS / "before_after.md").write_text(tables(result))
    print(tables(result))


if __name__ == "__main__":
    main()
