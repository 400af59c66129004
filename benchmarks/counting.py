"""Time counting where the data are: files against DuckDB's bare GROUP BY, frames against what people write by hand.

Files: Parquet with strings for 10 classes and 12 outputs, a tenth of the rows labelled, made by DuckDB in a temporary
folder. The command and a bare GROUP BY take turns, each in a process of its own, whose peak memory the system tells.

Frames: the same columns in memory. ``pandas.crosstab`` of the labelled rows plus ``value_counts`` of the others,
against one call of `count_table`; Arrow and DuckDB against their own bare group-by. All take turns; every answer is
compared.

    python benchmarks/counting.py [--rows 100000000] [--frame-rows 10000000] [--rounds 3]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results"
COLUMNS = {"label": "human", "prediction": "verdict"}
ROWS = """SELECT CASE WHEN random() < {share} THEN 'class ' || (random() * 10)::INT % 10 END AS human,
    'output ' || (random() * 12)::INT % 12 AS verdict FROM range({rows})"""
BARE = """import duckdb, sys
duckdb.sql(f"SELECT human, verdict, count(*) FROM '{sys.argv[1]}' GROUP BY ALL").fetchall()"""
LABELED = {"file": 0.1, "frame": 0.5}
"""Share of the rows that are labelled. In frames half of them, so that neither half of the work by hand is a trifle."""


def process(command: list[str]) -> dict[str, float]:
    """Run a command; give its seconds and the most memory that it took, in megabytes."""
    begin = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return {"seconds": perf_counter() - begin, "megabytes": usage.ru_maxrss / 1024}


def files(folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    table, output = folder / f"{rows}.parquet", folder / "counts.json"
    made = ROWS.format(share=LABELED["file"], rows=rows)
    duckdb.sql(f"SELECT setseed(0.5); COPY ({made}) TO '{table}' (FORMAT parquet)")
    columns = [part for name, column in COLUMNS.items() for part in (f"--{name}", column)]
    ours = [sys.executable, "-m", "truecount", "counts", str(table), *columns, "-o", str(output)]
    theirs = [sys.executable, "-c", BARE, str(table)]
    found: dict[str, list[dict[str, float]]] = {"bare": [], "command": []}
    for _ in range(rounds):
        found["bare"].append(process(theirs))
        found["command"].append(process(ours))
    counts = tc.Counts.from_json(output.read_text())
    if counts.labeled.sum() + counts.unlabeled.sum() != rows or counts.labeled.shape != (10, 12):
        raise SystemExit("the command counted something else")
    size = table.stat().st_size
    table.unlink()
    return {"rows": rows, "file_bytes": size, **{name: summary(each, rows) for name, each in found.items()}}


def summary(runs: list[dict[str, float]], rows: int) -> dict[str, float]:
    seconds = median(run["seconds"] for run in runs)
    return {"seconds": seconds, "rows_per_second": rows / seconds, "megabytes": max(run["megabytes"] for run in runs)}


def by_hand(frame: pd.DataFrame) -> None:
    labeled = frame[frame.human.notna()]
    pd.crosstab(labeled.human, labeled.verdict)
    frame.verdict[frame.human.isna()].value_counts()


def frames(rows: int, rounds: int) -> dict[str, dict[str, Any]]:
    duckdb.sql("SET enable_progress_bar = false; SELECT setseed(0.5)")
    polars = duckdb.sql(ROWS.format(share=LABELED["frame"], rows=rows)).pl()
    pandas = pd.DataFrame({name: pd.Series(polars[name].to_list()) for name in polars.columns})
    arrow = pa.table({name: pa.array(pandas[name], pa.string()) for name in pandas})
    duckdb.sql("CREATE OR REPLACE TABLE made AS FROM arrow")
    query = "SELECT human, verdict, count(*) FROM made GROUP BY ALL"
    work: dict[str, Callable[[], Any]] = {
        "crosstab + value_counts": lambda: by_hand(pandas),
        "pandas": lambda: tc.count_table(pandas, **COLUMNS),
        "polars": lambda: tc.count_table(polars, **COLUMNS),
        "polars lazy": lambda: tc.count_table(polars.lazy(), **COLUMNS),
        "arrow, bare": lambda: arrow.group_by(["human", "verdict"]).aggregate([([], "count_all")]),
        "arrow": lambda: tc.count_table(arrow, **COLUMNS),
        "duckdb, bare": lambda: duckdb.sql(query).fetchall(),
        "duckdb": lambda: tc.count_table(duckdb.table("made"), **COLUMNS),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, each in work.items():
            begin = perf_counter()
            answer = each()
            times[name].append(perf_counter() - begin)
            if isinstance(answer, tc.Counts) and answer != (whole := tc.count_table(polars, **COLUMNS)):
                raise SystemExit(f"{name} counted something else than {whole}")
    return ratios({name: median(each) for name, each in times.items()})


def ratios(seconds: dict[str, float]) -> dict[str, dict[str, Any]]:
    peers = dict.fromkeys(("pandas", "polars", "polars lazy"), "crosstab + value_counts")
    peers |= {name: f"{name}, bare" for name in ("arrow", "duckdb")}
    return {
        name: {
            "seconds": each,
            "peer": peers.get(name),
            "times_as_fast": seconds[peers[name]] / each if name in peers else None,
        }
        for name, each in seconds.items()
    }


def report(result: dict[str, Any]) -> str:
    lines = [
        "# Counting where the data are",
        "",
        f"Made by `benchmarks/counting.py`; {result['machine']['cores']} cores.",
        "",
    ]
    lines += [
        "## Files",
        "",
        "Parquet, strings, 10 classes × 12 outputs; `truecount counts` beside DuckDB's bare `GROUP BY`, each in a",
        "process of its own. Without start-up: the time beyond that of the shortest file, over the bare query's.",
        "",
    ]
    lines += [
        "| rows | file | bare | command | rows a second | time over bare | without start-up | peak memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    least = result["files"][0]
    for each in result["files"]:
        ours, bare = each["command"], each["bare"]
        beyond = [each[name]["seconds"] - least[name]["seconds"] for name in ("command", "bare")]
        cells = [f"{each['rows']:,}", f"{each['file_bytes'] / 1e6:,.0f} MB", f"{bare['seconds']:.2f} s"]
        cells += [f"{ours['seconds']:.2f} s", f"{ours['rows_per_second'] / 1e6:.1f} million"]
        cells += [f"{ours['seconds'] / bare['seconds']:.2f}", f"{beyond[0] / beyond[1]:.2f}" if each != least else ""]
        cells += [f"{ours['megabytes']:.0f} MB"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Frames",
        "",
        f"{result['frame_rows']:,} rows in memory, labelled and unlabelled counted in one call.",
        "",
    ]
    lines += ["| what | seconds | peer | times as fast as it |", "|---|---|---|---|"]
    for name, each in result["frames"].items():
        times = "" if each["times_as_fast"] is None else f"{each['times_as_fast']:.2f}"
        lines.append(f"| {name} | {each['seconds']:.2f} | {each['peer'] or ''} | {times} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--frame-rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="counting-") as folder:
        sizes = [options.rows // 100, options.rows // 10, options.rows]
        scanned = [files(Path(folder), rows, options.rounds) for rows in sizes]
    counted = frames(options.frame_rows, options.rounds)
    result = {"machine": about(), "files": scanned, "frame_rows": options.frame_rows, "frames": counted}
    (RESULTS / "counting.json").write_text(json.dumps(result, indent=1) + "\n")
    (RESULTS / "counting.md").write_text(report(result))
    print(report(result))


if __name__ == "__main__":
    main()
