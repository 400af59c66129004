"""Measure speed and memory of answers for many groups, beside NumPyro on the same model in the same run.

    python benchmarks/groups.py [--peer PYTHON] [--parts react2 districts classes memory] [--groups 500 5000]

`PYTHON` is an interpreter with NumPyro; without it only our side is measured. Effective draws per second of processor
time of the worst group's share and of the spread, warm-up counted on both sides, compilation not. Where both sides
answer, means of the rates and of the spread are compared, too. `react2` is a survey of 315 districts, read from the
folder that ``TRUECOUNT_DATA`` names. Results go to ``benchmarks/results/groups.json`` and ``.md``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine import about

import truecount as tc
from truecount.inference.convergence import effective_draws
from truecount.models.hierarchy.log_ratios import log_ratio_basis

RESULTS = Path(__file__).parent / "results"
PEER = Path(__file__).parent / "peer_groups.py"
PROBLEMS = ("react2", "districts", "classes")


def react2() -> tc.Groups:
    """The districts of REACT-2, round 4."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / "published" / "react2_districts_round4.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    positive, total = (np.array(data[name]) for name in ("positive", "total"))
    return tc.Groups([[38, 7], [7, 493]], dict(enumerate(np.stack([positive, total - positive], axis=1))))


def districts() -> tc.Groups:
    """315 groups of two classes, simulated to be like districts of a seroprevalence survey."""
    rng = np.random.default_rng(1)
    shares = 1 / (1 + np.exp(-rng.normal(-3.1, 0.5, 315)))
    rows = np.array([[0.84, 0.16], [0.014, 0.986]])
    items = {at: rng.multinomial(513, [share, 1 - share] @ rows) for at, share in enumerate(shares)}
    return tc.Groups([[38, 7], [7, 493]], items)


def classes(number: int = 50) -> tc.Groups:
    """Groups of five classes."""
    rng, basis = np.random.default_rng(2), log_ratio_basis(5)
    logs = (rng.normal(size=4) * 0.7 + 0.7 * rng.normal(size=(number, 4))) @ basis.T
    shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    rows = 0.3 * rng.dirichlet(np.ones(5), 5) + 0.7 * np.eye(5)
    labeled = np.stack([rng.multinomial(100, row) for row in rows])
    return tc.Groups(labeled, {at: rng.multinomial(300, share @ rows) for at, share in enumerate(shares)})


def ours(groups: tc.Groups) -> dict:
    """Effective draws of the worst share and of the spread per second, warm-up counted."""
    begin = time.process_time()
    answer = tc.infer(groups, seed=1)
    seconds = time.process_time() - begin
    shares = answer.prevalence[:, :, 0]
    share = float(effective_draws(shares, answer.draws.chains).min())
    spread = float(effective_draws(answer.spread, answer.draws.chains).min())
    return {
        "seconds": seconds,
        "share_per_second": share / seconds,
        "spread_per_second": spread / seconds,
        "spread": answer.spread.mean(axis=0).tolist(),
        "status": answer.status,
        "compared": compared(answer),
    }


def compared(answer: tc.GroupPosterior) -> dict:
    """Means and Monte Carlo standard errors of the rates of the first and last class and of the first spread."""
    rows = answer.confusion
    found = {"rate of the first class": rows[:, 0, 0], "of the last": rows[:, -1, -1], "spread": answer.spread[:, 0]}
    effective = effective_draws(np.stack(list(found.values()), axis=1), answer.draws.chains)
    return {
        name: (float(values.mean()), float(values.std() / np.sqrt(number)))
        for (name, values), number in zip(found.items(), effective, strict=True)
    }


def peer(python: str, groups: tc.Groups) -> dict:
    """The same of NumPyro, in a process of its own."""
    request = json.dumps({"labeled": groups.labeled[0].tolist(), "unlabeled": groups.unlabeled.tolist()})
    environment = {**os.environ, "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    done = subprocess.run(
        [python, str(PEER)], input=request, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


def memory(number: int) -> dict:
    """Seconds, and megabytes at most, of five-class groups inferred from and written, in a process of its own."""
    code = (
        "import sys, time, resource, json, tempfile, pathlib; sys.path.insert(0, sys.argv[1])\n"
        "import groups, truecount as tc\n"
        "from truecount.results.export.frame import to_csv\n"
        "from truecount.results.groups.export import rows_of\n"
        "data = groups.classes(int(sys.argv[2])); begin = time.process_time()\n"
        "answer = tc.infer(data, engine=tc.Auto(200), seed=1); inferred = time.process_time() - begin\n"
        "folder = pathlib.Path(tempfile.mkdtemp())\n"
        "(folder / 'answer.json').write_text(json.dumps(answer.to_dict()), encoding='utf-8')\n"
        "(folder / 'answer.csv').write_text(to_csv(rows_of(answer.summary())), encoding='utf-8')\n"
        "seconds = time.process_time() - begin\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "print(inferred, seconds, peak, answer.status, max(each.rhat for each in answer.convergence),\n"
        "      min(each.effective for each in answer.convergence), answer.draws.iterations)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(number)]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    inferred, seconds, megabytes = map(float, words[:3])
    return {
        "groups": number,
        "infer_seconds": inferred,
        "seconds": seconds,
        "megabytes": megabytes,
        "status": words[3],
        "rhat": float(words[4]),
        "effective": float(words[5]),
        "iterations": int(words[6]),
    }


def measured(part: str, asked: argparse.Namespace) -> Iterator[Any]:
    """Yield what was measured of a part; of memory, one number of groups after the other."""
    if part == "memory":
        yield from map(memory, asked.groups)
        return
    groups = {"react2": react2, "districts": districts, "classes": classes}[part]()
    yield {"ours": ours(groups)} | ({"peer": peer(asked.peer, groups)} if asked.peer else {})


def text(document: dict) -> str:
    """Tables of both."""
    lines = [
        "Effective draws per second of processor time, warm-up counted, compilation not.",
        "",
        "| problem | quantity | truecount | NumPyro | times |",
        "| --- | --- | --- | --- | --- |",
    ]
    for part in PROBLEMS:
        found = document.get(part, {})
        for key, name in (("share_per_second", "worst share"), ("spread_per_second", "spread")):
            if "ours" in found:
                mine, other = found["ours"][key], found.get("peer", {}).get(key)
                more = "– | –" if other is None else f"{other:.1f} | {mine / other:.0f}"
                lines.append(f"| {part} | {name} | {mine:.0f} | {more} |")
    lines += [
        "",
        "Means with Monte Carlo standard errors, and the difference in standard errors.",
        "",
        "| problem | mean of | ours | of NumPyro | difference |",
        "| --- | --- | --- | --- | --- |",
    ]
    for part in PROBLEMS:
        sides = [document.get(part, {}).get(side, {}).get("compared", {}) for side in ("ours", "peer")]
        for name in sides[0] if all(sides) else ():
            (mine, error), (other, its_error) = (side[name] for side in sides)
            apart = (mine - other) / np.hypot(error, its_error)
            lines.append(
                f"| {part} | {name} | {mine:.4f} ({error:.4f}) | {other:.4f} ({its_error:.4f}) | {apart:+.1f} |"
            )
    lines += [
        "",
        "Five-class groups, `Auto(200)`, JSON and CSV written, a process for each number.",
        "",
        "| groups | seconds to infer | by group | and to write | megabytes at most | R-hat | least ESS | status |",
        "|" + " --- |" * 8,
    ]
    for row in document.get("memory", []):
        lines.append(
            f"| {row['groups']:,} | {row['infer_seconds']:.0f} | {row['infer_seconds'] / row['groups']:.3f} | "
            f"{row['seconds'] - row['infer_seconds']:.0f} | {row['megabytes']:.0f} | {row['rhat']:.4f} | "
            f"{row['effective']:.0f} | {row['status']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the parts that are asked for, and write results as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer")
    parser.add_argument("--parts", nargs="*", default=[*PROBLEMS, "memory"])
    parser.add_argument(
        "--groups", nargs="*", type=int, default=[500, 1000, 2000, 5000], help="numbers whose memory is measured"
    )
    asked = parser.parse_args()
    path = RESULTS / "groups.json"
    ours(tc.Groups([[9, 1], [1, 9]], {"a": [3, 4], "b": [4, 4], "c": [3, 3]}))
    for part in asked.parts:
        for found in measured(part, asked):
            document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            if part == "memory":
                rows = {row["groups"]: row for row in document.get("memory", [])} | {found["groups"]: found}
                found = [rows[number] for number in sorted(rows)]
            document |= {part: found, "machine": about()}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(document), encoding="utf-8")


if __name__ == "__main__":
    main()
