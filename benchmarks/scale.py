"""Measure what rows, groups and classes cost, for ``docs/guides/scale.md``, and what executors add to it.

Processor seconds, of this process and of all that it starts, since a machine may be shared; peak memory is that of the
largest process.
The extras `bench` and `spark` are needed.

    python benchmarks/scale.py classes                        # processor time of one group, by classes
    python benchmarks/scale.py executors [--groups 100000]    # a loop, processes, Dask, Spark: the draws, the cost
    python benchmarks/scale.py groups [--groups 100000]       # one command, memory; killed in the middle and resumed
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
import threading
import time
from collections.abc import Callable, Iterator
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

Infer = Callable[[Path], Any]
RESULTS = Path(__file__).parent / "results"
LABELS, ITEMS = 100, 300
"""Labels of each class, and unlabelled items of each group."""
SEED = 1
MOST = 100_000
"""Groups that are made at most: the first of many are the same as a few."""
IDLE = 5.0
"""Seconds for which a cluster is watched while it waits."""


def made(number: int, classes: int, seed: int = 0) -> tc.Groups:
    """Groups that one classifier sorted, right in four of five cases."""
    rng = np.random.default_rng(seed)
    confusion = np.eye(classes) * 0.8 + 0.2 / classes
    labeled = [rng.multinomial(LABELS, row) for row in confusion]
    items = rng.multinomial(ITEMS, rng.dirichlet(np.full(classes, 2.0), MOST)[:number] @ confusion)
    return tc.Groups(labeled, {f"s{at:07d}": row for at, row in enumerate(items)}, by=["store"])


def processor_seconds(of: psutil.Process | None = None) -> float:
    """Of a process, this one unless another is named, and of its descendants, living or ended."""
    root = of or psutil.Process()
    return sum(sum(each.cpu_times()[:4]) for each in (root, *root.children(recursive=True)))


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
    """Spark on two cores, started and warm; a task is tried four times, as on a cluster."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:

        def prepared(data: tc.Groups) -> Infer:
            rows = f"{folder}/{len(data)}.parquet"
            _write_rows(data, rows)
            asked = {"label": "y", "prediction": "c", "by": "store", "seed": SEED}
            return lambda output: tc.infer_table(spark.read.parquet(rows), **asked).write.parquet(str(output))

        prepared(made(20, number))(Path(folder) / "first")
        yield prepared
    spark.stop()


@contextmanager
def inferring(name: str, number: int) -> Iterator[Any]:
    """A function of groups that returns another, which infers them by one of several ways and writes the answers."""
    if name == "Spark":
        with spark_of(number) as prepared:
            yield prepared
        return
    with executor_of(name) as executor:
        wait([executor.submit(warm_up, number) for _ in range(8)])
        yield lambda data: lambda output: tc.infer(data, executor=executor, seed=SEED, output=output)


def written(output: Path, groups: int) -> str:
    """What was written of the first groups and of every class, in order, as a hash."""
    pattern = f"{output}/*.parquet" if output.is_dir() else str(output)
    wanted = f"SELECT store, class, mean, lower, upper FROM '{pattern}' WHERE store < 's{groups:07d}'"
    return hashlib.sha256(repr(duckdb.sql(f"{wanted} ORDER BY store, class").fetchall()).encode()).hexdigest()


def _write_rows(data: tc.Groups, path: str) -> None:
    """Write groups as rows, one for each labelled and each unlabelled item, by DuckDB in a process of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = [(data.groups[0], data.classes[y], data.outputs[c], n) for (y, c), n in np.ndenumerate(data.labeled[0])]
    cells += [(data.groups[at], None, data.outputs[c], n) for (at, c), n in np.ndenumerate(data.unlabeled)]
    columns = dict(zip(("store", "y", "c", "n"), map(list, zip(*cells, strict=True)), strict=True))
    pq.write_table(pa.table(columns), f"{path}.cells.parquet")
    chosen = f"SELECT store, y, c FROM '{path}.cells.parquet', range(n::BIGINT)"
    run("-c", f"import duckdb; duckdb.sql(\"COPY ({chosen}) TO '{path}' (FORMAT parquet)\")")


def executors(given: argparse.Namespace) -> dict[str, Any]:
    """What a group more costs: the difference between many groups and a tenth of them, without what any run costs.

    What a cluster takes while it waits, such as heartbeats, is left out: it grows with the time, not with the work. A
    loop over a tenth of the groups runs just before each way. A run over a tenth has a worker killed in the middle.
    """
    rows: list[dict[str, Any]] = []
    for number, many in ((2, given.groups), (5, given.groups // 10)):
        for name in ("two processes", "Dask", "Spark"):
            few = many // 10
            with tempfile.TemporaryDirectory() as folder, inferring("loop", number) as loop:
                least, plain = (measured(loop, made(size, number), folder, 0.0, few) for size in (few // 10, few))
            base = 1e3 * (plain["seconds"] - least["seconds"]) / (few - few // 10)
            with inferring(name, number) as way, tempfile.TemporaryDirectory() as folder:
                begin = processor_seconds()
                time.sleep(IDLE)
                idle = (processor_seconds() - begin) / IDLE
                less, most = (measured(way, made(size, number), folder, idle, few) for size in (few, many))
                killed = measured(way, made(few, number), folder, idle, few, kill_after=least["wall"] * 3)
            each = 1e3 * (most["seconds"] - less["seconds"]) / (many - few)
            rows.append({"classes": number, "groups": many, "by": name, "ms": each, "loop": base, "share": base / each})
            same = [plain["written"] == found["written"] for found in (less, most, killed)]
            rows[-1] |= {"same": all(same[:2]), "same after kill": same[2], "killed": killed["killed"], "idle": idle}
            rows[-1] |= {"driver": [less["driver"], most["driver"]], "bytes": most["bytes"], "wall": most["wall"]}
            print(rows[-1], flush=True)
            save("executors", {"rows": rows})
    return {"rows": rows}


def measured(
    way: Any, data: tc.Groups, folder: str, idle: float, first: int, kill_after: float | None = None
) -> dict[str, Any]:
    """Processor seconds beyond those of waiting, megabytes by which this process grew at most, and what was written."""
    output, infer, me = Path(folder) / f"{len(data)}{kill_after or ''}.parquet", way(data), psutil.Process()
    begin, start, held = processor_seconds(), time.perf_counter(), me.memory_info().rss
    with watched(kill_after) as seen:
        infer(output)
    wall = time.perf_counter() - start
    found = {"seconds": processor_seconds() - begin - idle * wall, "wall": wall, "killed": seen["killed"]}
    found |= {"driver": (seen["rss"] - held) / 1e6, "written": written(output, first)}
    return found | {"bytes": None if output.is_dir() else hashlib.sha256(output.read_bytes()).hexdigest()}


@contextmanager
def watched(kill_after: float | None) -> Iterator[dict[str, Any]]:
    """Look at this process's memory, and kill its busiest worker once after so many seconds."""
    seen, over = {"rss": 0, "killed": False}, threading.Event()

    def look() -> None:
        start, me = time.perf_counter(), psutil.Process()
        while not over.wait(0.2):
            seen["rss"] = max(seen["rss"], me.memory_info().rss)
            if kill_after is not None and not seen["killed"] and time.perf_counter() - start > kill_after:
                workers = [each for each in me.children(recursive=True) if each.name() != "java"]
                before = {each: sum(each.cpu_times()[:2]) for each in workers}
                time.sleep(0.3)
                grown = {each: sum(each.cpu_times()[:2]) - seconds for each, seconds in before.items()}
                if (busiest := max(grown, key=grown.__getitem__)) and grown[busiest] > 0.05:
                    busiest.kill()
                    seen["killed"] = True

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


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
    """A twentieth of the groups undisturbed; all of them killed in the middle, and resumed.

    The bytes of the latter are those of `executors`, which `infer` wrote with two processes.
    """
    rows, known = [], json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    whole = {row["groups"]: row["bytes"] for row in known["executors"]["rows"] if row["by"] == "two processes"}
    with tempfile.TemporaryDirectory() as folder:
        for number in (given.groups // 20, given.groups):
            path, output = Path(folder) / "groups.json", Path(folder) / f"{number}.parquet"
            path.write_text(made(number, 2).to_json())
            command = ["-m", "truecount", "estimate", str(path), "--separate", "--output", str(output), "--quiet"]
            command += ["--workers", "2", "--seed", str(SEED)]
            before = run_half(output, *command) if number == given.groups else 0.0
            found = run(*command, "--resume")
            found |= {"processor": found["processor"] + before, "killed": before > 0}
            found["same"] = hashlib.sha256(output.read_bytes()).hexdigest() == whole[number] if before else None
            rows.append({"groups": number, "bytes": output.stat().st_size, **found})
            print(rows[-1], flush=True)
    return {"rows": rows}


def run_half(output: Path, *command: str) -> float:
    """Run a command until about half of its parts are there, kill it, and return the processor seconds it took."""
    child = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    parts, process = Path(f"{output}.parts"), psutil.Process(child.pid)
    while child.poll() is None:
        time.sleep(1.0)
        told = parts / "run.json"
        if told.exists() and len(list(parts.glob("*.jsonl"))) > json.loads(told.read_text())["parts"] / 2:
            seconds = processor_seconds(process)
            child.kill()
            child.wait()
            return seconds
    raise SystemExit(f"{command} ended before it was killed")


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
            "the loop's",
            "throughput of a core, the loop's is 1",
            "same answers",
            "the same after a worker was killed",
            "megabytes by which the driver grew, a tenth of the groups, all",
        ],
        [
            [
                row["classes"],
                f"{row['groups']:,}",
                row["by"],
                f"{row['ms']:.2f}",
                f"{row['loop']:.2f}",
                f"{row['share']:.2f}",
                _yes(row["same"]),
                _yes(row["killed"] and row["same after kill"]),
                f"{row['driver'][0]:.0f}, {row['driver'][1]:.0f}",
            ]
            for row in found["executors"]["rows"]
        ],
    )
    parts += table(
        [
            "groups by one command",
            "processor seconds",
            "megabytes at most",
            "bytes a group in Parquet, two classes",
            "killed in the middle and resumed: the same bytes",
        ],
        [
            [
                f"{row['groups']:,}",
                f"{row['processor']:.0f}",
                f"{row['megabytes']:.0f}",
                f"{row['bytes'] / row['groups']:.0f}",
                _yes(row["same"]) if row.get("killed") else "",
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
    given.groups = given.groups or MOST
    found = parts[given.part](given)
    if found is not None:
        save(given.part, found)


def save(part: str, found: dict[str, Any]) -> None:
    """Keep what one part has measured so far."""
    path = RESULTS / "scale.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**known, part: found, "machine": about()}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
