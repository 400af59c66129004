"""Measure what rows, groups and classes cost: the constants of ``docs/scale.md``, and what executors add to them.

Processor seconds, of this process and of all that it starts, since a machine may be shared; peak memory is that of the
largest process.

    python benchmarks/scale.py classes                        # processor time of one group, by classes
    python benchmarks/scale.py executors [--groups 2000]      # a loop, processes, Dask, Spark: same draws, what it costs
    python benchmarks/scale.py groups [--groups 100000]       # one command, memory, by the number of groups
    python benchmarks/scale.py pooled                         # all groups jointly
    python benchmarks/scale.py rows [--rows 200000000]        # shards of Parquet in a temporary folder, one command
    python benchmarks/scale.py pages                          # the tables of all that was measured
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psutil
from machine import about

import truecount as tc
from truecount._executor import workers_here

RESULTS = Path(__file__).parent / "results"
LABELS, ITEMS = 100, 300
"""Labels of each class, and unlabelled items of each group."""
SEED = 1


def made(number: int, classes: int, seed: int = 0) -> tc.Groups:
    """Groups that one classifier sorted, right in four of five cases."""
    rng = np.random.default_rng(seed)
    confusion = np.eye(classes) * 0.8 + 0.2 / classes
    items = rng.multinomial(ITEMS, rng.dirichlet(np.full(classes, 2.0), number) @ confusion)
    names = {f"s{at:07d}": row for at, row in enumerate(items)}
    return tc.Groups([rng.multinomial(LABELS, row) for row in confusion], names, by=["store"])


def processor_seconds() -> float:
    """Of this process and of its living descendants."""
    me = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (me, *me.children(recursive=True)))


def classes(_: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for number, groups in ((2, 500), (3, 200), (5, 100), (10, 10)):
        data = made(groups, number)
        with ThreadPoolExecutor(1) as thread, tempfile.TemporaryDirectory() as folder:
            tc.infer(data.select(data.groups[:2]), executor=thread, seed=SEED)
            begin, path = time.process_time(), Path(folder) / "answers.parquet"
            tc.infer(data, executor=thread, seed=SEED, output=path)
            seconds = time.process_time() - begin
            rows.append({"classes": number, "groups": groups, "ms": 1e3 * seconds / groups})
            rows[-1]["bytes"] = path.stat().st_size / groups
            print(rows[-1], flush=True)
    return {"rows": rows}


@contextmanager
def executor_of(name: str) -> Iterator[Any]:
    """An executor, started and warm."""
    if name == "Dask":
        from dask.distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor()
    else:
        with workers_here({"loop": 1, "two processes": 2}[name]) as executor:
            yield executor


def in_spark(groups: int, classes: int) -> tuple[dict[Any, float], float]:
    """The means of every group, inferred inside Spark from rows, and the processor seconds without those of a start."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        data = made(groups, classes)
        for name, part in (("few", data.select(data.groups[:20])), ("all", data)):
            _write_rows(part, Path(folder) / f"{name}.parquet")
        asked = {"label": "y", "prediction": "c", "by": "store", "seed": SEED}
        tc.infer_table(spark.read.parquet(f"{folder}/few.parquet"), **asked).collect()
        begin = processor_seconds()
        frame = tc.infer_table(spark.read.parquet(f"{folder}/all.parquet"), **asked)
        found = {(row["store"], row["class"]): row["mean"] for row in frame.collect()}
        return found, processor_seconds() - begin


def _write_rows(data: tc.Groups, path: Path) -> None:
    """Write groups as rows: one for each labelled and each unlabelled item."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = np.array(data.outputs)
    labeled = data.labeled[0]
    y = np.repeat(names, labeled.sum(axis=1))
    c = np.concatenate([np.repeat(names, row) for row in labeled])
    items = np.concatenate([np.repeat(names, row) for row in data.unlabeled])
    stores = np.repeat(np.array(data.groups), data.unlabeled.sum(axis=1))
    table = pa.table(
        {
            "store": pa.concat_arrays([pa.array([data.groups[0]] * len(y)), pa.array(stores)]),
            "y": pa.concat_arrays([pa.array(y), pa.nulls(len(items), pa.array(y).type)]),
            "c": pa.array(np.concatenate([c, items])),
        }
    )
    pq.write_table(table, path)


def executors(given: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for number, groups in ((2, given.groups), (5, max(1, given.groups // 20))):
        data, expected, plain = made(groups, number), None, 0.0
        for name in ("loop", "two processes", "Dask"):
            with executor_of(name) as executor:
                tc.infer(made(64, number, 1), executor=executor, seed=SEED)
                begin, start = processor_seconds(), time.perf_counter()
                answers = tc.infer(data, executor=executor, seed=SEED)
                seconds, wall = processor_seconds() - begin, time.perf_counter() - start
            expected = expected or answers.rows
            plain = plain or seconds
            same = answers.rows == expected
            rows.append(_row(number, groups, name, seconds, plain, same) | {"wall": wall})
            print(rows[-1], flush=True)
        means = {(row["store"], row["class"]): row["mean"] for row in expected or ()}
        found, seconds = in_spark(groups, number)
        rows.append(_row(number, groups, "Spark", seconds, plain, found == means))
        print(rows[-1], flush=True)
    return {"rows": rows}


def _row(number: int, groups: int, name: str, seconds: float, plain: float, same: bool) -> dict[str, Any]:
    each = 1e3 * seconds / groups
    return {"classes": number, "groups": groups, "by": name, "ms": each, "share": plain / seconds, "same": same}


def run(*command: str) -> dict[str, float]:
    """Run a command; return its seconds, those of processors, and the most memory of one process, in megabytes."""
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    wall, processor = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
    return {"wall": wall, "processor": processor, "megabytes": usage.ru_maxrss / 1024}


def groups(given: argparse.Namespace) -> dict[str, Any]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in (given.groups // 20, given.groups):
            path = Path(folder) / "groups.json"
            path.write_text(made(number, 2).to_json())
            output = str(Path(folder) / "answers.parquet")
            found = run("-m", "truecount", "estimate", str(path), "--separate", "--output", output, "--workers", "2")
            rows.append({"groups": number, "bytes": Path(output).stat().st_size, **found})
            print(rows[-1], flush=True)
    return {"rows": rows}


POOLED = """import json, sys, time
sys.path.insert(0, {here!r})
from scale import made, SEED
import truecount as tc
data = made({groups}, {classes})
begin = time.process_time()
answer = tc.infer(data, seed=SEED)
print(json.dumps([time.process_time() - begin, float(answer.effective_draws.min()), answer.status]))
"""


def pooled(_: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for number, count in ((2, 100), (2, 1000), (5, 100)):
        code = POOLED.format(here=str(Path(__file__).parent), groups=count, classes=number)
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        told = child.stdout.read() if child.stdout else ""
        _, _, usage = os.wait4(child.pid, 0)
        seconds, effective, status = json.loads(told)
        rows.append({"classes": number, "groups": count, "ms": 1e3 * seconds / count, "effective": effective})
        rows[-1] |= {"status": status, "megabytes": usage.ru_maxrss / 1024}
        print(rows[-1], flush=True)
    return {"rows": rows}


ROWS = """SELECT 's' || lpad((i % {groups})::VARCHAR, 5, '0') AS store, CASE WHEN i % 1000 = {shard} THEN y END AS label,
    CASE WHEN random() < 0.85 THEN y ELSE 1 - y END AS prediction
    FROM (SELECT i, (random() < 0.2 + 0.6 * (i % {groups}) / {groups})::INT AS y FROM range({rows}) AS made(i))"""
BARE = """import duckdb, sys
duckdb.sql(f"SELECT store, label, prediction, count(*) FROM '{sys.argv[1]}' GROUP BY ALL").fetchall()"""


def rows(given: argparse.Namespace) -> dict[str, Any]:
    shards, number = 8, 5000
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect()
        connection.execute("SET threads = 2; SET memory_limit = '1GB'")
        for shard in range(shards):
            made_rows = ROWS.format(groups=number, shard=shard, rows=given.rows // shards)
            connection.execute(f"COPY ({made_rows}) TO '{folder}/{shard}.parquet' (FORMAT parquet)")
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        pattern, columns = f"{folder}/*.parquet", ["--label", "label", "--prediction", "prediction", "--by", "store"]
        found: dict[str, Any] = {"rows": given.rows, "groups": number, "bytes": size, "bare": run("-c", BARE, pattern)}
        print(found, flush=True)
        counts, output = f"{folder}/counts.json", f"{folder}/answers.parquet"
        found["count"] = run("-m", "truecount", "counts", pattern, *columns, "-o", counts)
        print(found["count"], flush=True)
        found["infer"] = run("-m", "truecount", "estimate", counts, "--output", output)
        print(found["infer"], flush=True)
        found["all"] = run("-m", "truecount", "estimate", pattern, *columns, "--output", f"{folder}/other.parquet")
        print(found["all"], flush=True)
        found["same"] = Path(output).read_bytes() == Path(f"{folder}/other.parquet").read_bytes()
    return found


def pages(_: argparse.Namespace) -> None:
    """Write the tables of everything that was measured."""
    found = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    parts = ["What rows, groups and classes cost, in processor time.", ""]
    parts += table(
        ["classes", "milliseconds a group, one by one", "bytes a group in Parquet"],
        [[row["classes"], f"{row['ms']:.2g}", f"{row['bytes']:.0f}"] for row in found["classes"]["rows"]],
    )
    parts += table(
        [
            "classes",
            "groups",
            "inferred by",
            "milliseconds a group",
            "throughput of a core, the loop's is 1",
            "same draws",
        ],
        [
            [
                row["classes"],
                f"{row['groups']:,}",
                row["by"],
                f"{row['ms']:.2g}",
                f"{row['share']:.2f}",
                _yes(row["same"]),
            ]
            for row in found["executors"]["rows"]
        ],
    )
    parts += table(
        ["groups by one command", "processor seconds", "megabytes at most", "bytes a group in Parquet, two classes"],
        [
            [
                f"{row['groups']:,}",
                f"{row['processor']:.0f}",
                f"{row['megabytes']:.0f}",
                f"{row['bytes'] / row['groups']:.0f}",
            ]
            for row in found["groups"]["rows"]
        ],
    )
    parts += table(
        ["classes", "groups, pooled", "milliseconds a group", "megabytes at most", "effective sample size at least"],
        [
            [
                row["classes"],
                f"{row['groups']:,}",
                f"{row['ms']:.0f}",
                f"{row['megabytes']:.0f}",
                f"{row['effective']:.0f}",
            ]
            for row in found["pooled"]["rows"]
        ],
    )
    run_of = found["rows"]
    names = {
        "bare": "DuckDB's bare GROUP BY",
        "count": "`truecount counts`",
        "infer": "`truecount estimate` of those counts",
    }
    names["all"] = "`truecount estimate`, all at once"
    parts += table(
        [
            f"{run_of['rows'] / 1e6:,.0f} million rows, {run_of['groups']:,} groups",
            "processor seconds",
            "megabytes at most",
        ],
        [[told, f"{run_of[of]['processor']:.1f}", f"{run_of[of]['megabytes']:.0f}"] for of, told in names.items()],
    )
    ratio = run_of["all"]["processor"] / (run_of["bare"]["processor"] + run_of["infer"]["processor"])
    parts += [f"All at once takes {ratio:.2f} of the processor time of the bare GROUP BY and the inference.", ""]
    (RESULTS / "scale.md").write_text("\n".join(parts), encoding="utf-8")


def _yes(same: bool) -> str:
    return "yes" if same else "no"


def table(header: list[str], lines: list[list[Any]]) -> list[str]:
    cells = [header, ["---"] * len(header), *lines]
    return [*(f"| {' | '.join(map(str, line))} |" for line in cells), ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {each.__name__: each for each in (classes, executors, groups, pooled, rows, pages)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--groups", type=int)
    parser.add_argument("--rows", type=int, default=200_000_000)
    given = parser.parse_args()
    given.groups = given.groups or {"executors": 2000, "groups": 100_000}.get(given.part, 0)
    found = parts[given.part](given)
    if found is not None:
        path = RESULTS / "scale.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**known, given.part: found, "machine": about()}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
