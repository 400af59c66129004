"""Measure what rows, groups and classes cost, for ``docs/guides/scale.md``, and what executors add to it.

Processor seconds, of this process and of all that it starts, since a machine may be shared; peak memory is that of the
largest process.

    python benchmarks/scale.py classes                        # processor time of one group, by classes
    python benchmarks/scale.py executors [--groups 2000]      # a loop, processes, Dask, Spark: the draws, the cost
    python benchmarks/scale.py groups [--groups 100000]       # one command, memory, by the number of groups
    python benchmarks/scale.py pooled                         # all groups jointly
    python benchmarks/scale.py rows [--rows 200000000]        # shards of Parquet in a temporary folder, one command
    python benchmarks/scale.py pages                          # the tables of all that was measured
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
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
IDLE = 5.0
"""Seconds for which a cluster is watched while it waits."""


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


def warm_up(number: int) -> None:
    """Load in one worker what an inference needs, and leave the next one to another."""
    with ThreadPoolExecutor(1) as thread:
        tc.infer(made(20, number, 1), executor=thread, seed=SEED)
    time.sleep(0.5)


@contextmanager
def spark_of(number: int) -> Iterator[Any]:
    """Spark on two cores, started and warm: a function that infers groups from rows, and writes the answers."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:

        def inferred(data: tc.Groups, output: Path) -> None:
            _write_rows(data, Path(folder) / "rows.parquet")
            asked = {"label": "y", "prediction": "c", "by": "store", "seed": SEED}
            frame = tc.infer_table(spark.read.parquet(f"{folder}/rows.parquet"), **asked)
            frame.write.parquet(str(output))

        inferred(made(20, number), Path(folder) / "first")
        yield inferred


@contextmanager
def inferring(name: str, number: int) -> Iterator[Any]:
    """A function that infers groups by one of several ways, and writes the answers."""
    if name == "Spark":
        with spark_of(number) as inferred:
            yield inferred
        return
    with executor_of(name) as executor:
        wait([executor.submit(warm_up, number) for _ in range(8)])

        def inferred(data: tc.Groups, output: Path) -> None:
            tc.infer(data, executor=executor, seed=SEED, output=output)

        yield inferred


def written(output: Path) -> str:
    """What was written of every group and class, in order, as a hash."""
    pattern = f"{output}/*.parquet" if output.is_dir() else str(output)
    found = duckdb.sql(f"SELECT store, class, mean, lower, upper FROM '{pattern}' ORDER BY store, class").fetchall()
    return hashlib.sha256(repr(found).encode()).hexdigest()


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
    """What a group more costs: the difference between many groups and a quarter of them, without what any run costs.

    What a cluster takes while it waits, such as heartbeats, is left out: it grows with the time, not with the work.
    """
    rows, expected, plain = [], dict[int, str](), dict[int, float]()
    for name in ("loop", "two processes", "Dask", "Spark"):
        for number, many in ((2, given.groups), (5, given.groups // 10)):
            with inferring(name, number) as infer, tempfile.TemporaryDirectory() as folder:
                begin = processor_seconds()
                time.sleep(IDLE)
                idle = (processor_seconds() - begin) / IDLE
                few, most = (measured(infer, made(groups, number), folder, idle) for groups in (many // 10, many))
            each = 1e3 * (most["seconds"] - few["seconds"]) / (many - many // 10)
            base = plain.setdefault(number, each)
            rows.append({"classes": number, "groups": many, "by": name, "ms": each, "share": base / each})
            same = most["written"] == expected.setdefault(number, most["written"])
            rows[-1] |= {"same": same, "idle": idle, "fixed": few["seconds"] - each * (many // 10) / 1e3}
            rows[-1] |= {"driver": [few["driver"], most["driver"]]}
            print(rows[-1], flush=True)
    return {"rows": sorted(rows, key=lambda row: row["classes"])}


def measured(infer: Any, data: tc.Groups, folder: str, idle: float) -> dict[str, Any]:
    """Processor seconds beyond those of waiting, megabytes that this process came to hold, and what was written."""
    output, me = Path(folder) / f"{len(data)}.parquet", psutil.Process()
    begin, start, held = processor_seconds(), time.perf_counter(), me.memory_info().rss
    infer(data, output)
    seconds = processor_seconds() - begin - idle * (time.perf_counter() - start)
    return {"seconds": seconds, "driver": (me.memory_info().rss - held) / 1e6, "written": written(output)}


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
    for number, count in ((2, 100), (2, 400), (5, 50)):
        code = POOLED.format(here=str(Path(__file__).parent), groups=count, classes=number)
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        told = child.stdout.read() if child.stdout else ""
        _, _, usage = os.wait4(child.pid, 0)
        seconds, effective, status = json.loads(told)
        rows.append({"classes": number, "groups": count, "ms": 1e3 * seconds / count, "effective": effective})
        rows[-1] |= {"status": status, "megabytes": usage.ru_maxrss / 1024}
        print(rows[-1], flush=True)
    return {"rows": rows}


ROWS = """SELECT 's' || lpad((i % {groups})::VARCHAR, 5, '0') AS store,
    CASE WHEN i % 1000 = {shard} THEN y END AS label,
    CASE WHEN random() < 0.85 THEN y ELSE 1 - y END AS prediction
    FROM (SELECT i, (random() < 0.2 + 0.6 * (i % {groups}) / {groups})::INT AS y FROM range({rows}) AS made(i))"""
BARE = """import duckdb, sys
duckdb.sql(f"SELECT store, label, prediction, count(*) FROM '{sys.argv[1]}' GROUP BY ALL").fetchall()"""


def write_shards(folder: str, number: int, groups: int) -> None:
    """Write rows in eight Parquet files, labels in some of them."""
    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET memory_limit = '1GB'")
    for shard in range(8):
        made_rows = ROWS.format(groups=groups, shard=shard, rows=number // 8)
        connection.execute(f"COPY ({made_rows}) TO '{folder}/{shard}.parquet' (FORMAT parquet)")


def rows(given: argparse.Namespace) -> dict[str, Any]:
    """Count, infer and write by one command; shards are made here, or were made before in a folder that is named."""
    number = 5000
    with tempfile.TemporaryDirectory() as own:
        folder = given.shards or own
        if given.shards is None:
            write_shards(folder, given.rows, number)
        pattern, columns = f"{folder}/*.parquet", ["--label", "label", "--prediction", "prediction", "--by", "store"]
        count = duckdb.read_parquet(pattern).aggregate("count(*)").fetchall()[0][0]
        size = sum(path.stat().st_size for path in Path(folder).glob("*.parquet"))
        found: dict[str, Any] = {"rows": count, "groups": number, "bytes": size, "bare": run("-c", BARE, pattern)}
        print(found, flush=True)
        with tempfile.TemporaryDirectory() as results:
            counts, first, other = (f"{results}/{name}" for name in ("counts.json", "first.parquet", "other.parquet"))
            steps = {
                "all": ["estimate", pattern, *columns, "--output", other],
                "count": ["counts", pattern, *columns, "-o", counts],
                "infer": ["estimate", counts, "--output", first],
            }
            for name, arguments in steps.items():
                found[name] = run("-m", "truecount", *arguments)
                print(name, found[name], flush=True)
            found["same"] = Path(first).read_bytes() == Path(other).read_bytes()
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
            "same answers",
            "megabytes that the driver came to hold",
        ],
        [
            [
                row["classes"],
                f"{row['groups']:,}",
                row["by"],
                f"{row['ms']:.2g}",
                f"{row['share']:.2f}",
                _yes(row["same"]),
                f"{row['driver'][1]:.0f}",
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
    parts += table(
        ["what the constants say of", "processor hours", "minutes on 100 cores", "gigabytes written"], projected(found)
    )
    (RESULTS / "scale.md").write_text("\n".join(parts), encoding="utf-8")


def projected(found: dict[str, Any]) -> list[list[str]]:
    """What a billion rows and a million groups would take, if each took what it took here."""
    counted = found["rows"]["count"]["processor"] / found["rows"]["rows"] * 1e9 / 3600
    lines = [["1,000,000,000 rows, counted", counted, 0.0]]
    for row in found["classes"]["rows"]:
        hours = 1e6 * row["ms"] / 3.6e6
        lines.append([f"1,000,000 groups of {row['classes']} classes", hours, 1e6 * row["bytes"] / 1e9])
    return [[what, f"{hours:.2g}", f"{60 * hours / 100:.2g}", f"{size:.2g}"] for what, hours, size in lines]


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
    parser.add_argument("--shards", help="folder of shards that are there already")
    given = parser.parse_args()
    given.groups = given.groups or {"executors": 2000, "groups": 100_000}.get(given.part, 0)
    found = parts[given.part](given)
    if found is not None:
        path = RESULTS / "scale.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**known, given.part: found, "machine": about()}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
