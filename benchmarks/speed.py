"""How many effective draws a second, ours against NumPyro's, in one run and in turns.

    python benchmarks/speed.py [case …] [--rounds 3] [--no-peer]

With cases named, only theirs are replaced in the results, and each says on which commit it was measured.

Needs the extra ``bench``. The peer is the same model written with NumPyro's primitives and sampled by its NUTS with
500 warm-up and 1,000 kept draws in one chain, as the paper's code and QuaPy's BayesianCC do it, in float32 (its
default) and in float64. Its compilation has a column of its own and is not counted against it; our time is everything
that a user waits for. Every figure is of the class with the fewest effective draws. Results go to
``benchmarks/results/speed.json`` and ``.md``.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc
from truecount import simulate

RESULTS = Path(__file__).parent / "results"
CASES = {
    "binary": (2, 2, 1000, 500),
    "paper's default": (5, 5, 1000, 500),
    "more outputs": (5, 9, 1000, 500),
    "fewer outputs": (5, 3, 1000, 500),
    "many classes": (20, 20, 1000, 500),
    "many more": (50, 50, 20_000, 10_000),
    "large population": (5, 5, 1000, 10**6),
    "large, more outputs": (5, 9, 1000, 10**6),
    "large, fewer outputs": (5, 3, 1000, 10**6),
    "large, many classes": (20, 20, 2000, 10**6),
    "nearly non-identifiable": (3, 3, 500, 500),
    "a hundred classes": (100, 100, 50_000, 20_000),
    "counts of 10¹²": (3, 3, 10**6, 10**12),
}
LEARNED = 6
"""Classes from which on the default prior is learned, which the peer's model has not."""
FLAT = tc.Prior(1.0, "flat")
"""The prior of the peer's model."""
WITHOUT_PEER = {"large, many classes", "a hundred classes", "counts of 10¹²"}
"""Where NumPyro would take many minutes or overflows; nothing is compared there."""


def problem(name: str, seed: int = 0) -> tc.Counts:
    """Data by the paper's construction."""
    classes, outputs, labeled, unlabeled = CASES[name]
    if name == "nearly non-identifiable":
        confusion = np.array([[0.96, 0.02, 0.02], [0.02, 0.5, 0.48], [0.02, 0.48, 0.5]])
        return simulate.counts([0.6, 0.3, 0.1], confusion, labeled=labeled, unlabeled=unlabeled, seed=seed)
    confusion = simulate.confusion(0.85, classes, outputs)
    return simulate.counts(
        simulate.prevalence(0.7, classes), confusion, labeled=labeled, unlabeled=unlabeled, seed=seed
    )


class Peer:
    """NumPyro in a process of its own, asked for one run at a time."""

    def __init__(self, *, x64: bool) -> None:
        command = [sys.executable, str(Path(__file__).with_name("peer_numpyro.py")), "x64" if x64 else "float32"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, counts: tc.Counts, seed: int) -> dict:
        """Sample once; the first time for given counts compiles, and says how long that took."""
        request = {"labeled": counts.labeled.tolist(), "unlabeled": counts.unlabeled.tolist(), "seed": seed}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait(timeout=60)


def ours(counts: tc.Counts, engine: object, seed: int, prior: tc.Prior = FLAT) -> dict:
    """One answer, timed as the user waits for it."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.ConvergenceWarning)
        posterior = tc.infer(counts, prior=prior, engine=engine, seed=seed)
    effective, _ = posterior.effective_draws.min(), len(posterior.findings)
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "effective": float(effective),
        "rate": float(effective / seconds),
        "rhat": None if posterior.rhat is None else float(posterior.rhat.max()),
        "mean": posterior.mean.tolist(),
        "mcse": posterior.mcse.tolist(),
        "engine": posterior.run.engine,
    }


def distance(one: dict, other: dict) -> float:
    """Greatest distance of two means, in standard errors."""
    gap = np.abs(np.subtract(one["mean"], other["mean"]))
    return float((gap / np.hypot(one["mcse"], other["mcse"])).max())


def run_case(name: str, rounds: int, peers: dict[str, Peer]) -> dict:
    """All engines on one problem, in turns."""
    counts = problem(name)
    engines = {"Auto": tc.Auto(), "Hamiltonian": tc.Hamiltonian(2001, effective_draws=4000), "Gibbs": tc.Gibbs()}
    if CASES[name][0] >= 50:
        del engines["Hamiltonian"], engines["Gibbs"]
    ours(problem("binary"), tc.Hamiltonian(200), 0)  # imports what is imported on first use
    asked = {} if name in WITHOUT_PEER else peers
    compiled = {label: peer.ask(counts, 0) for label, peer in asked.items()}
    runs: dict[str, list[dict]] = {label: [answer] for label, answer in compiled.items()}
    is_large = CASES[name][0] >= 50 or CASES[name][3] >= 10**6
    for number in range(1 if is_large else rounds):
        for label, engine in engines.items():
            try:
                runs.setdefault(label, []).append(ours(counts, engine, number))
            except tc.errors.UnsuitableEngineError as refusal:
                runs[label] = [{"refused": refusal.needed}]
        if CASES[name][0] >= LEARNED:
            runs.setdefault("default prior", []).append(ours(counts, tc.Auto(), number, tc.Prior()))
        for label, peer in asked.items() if number else ():
            runs[label].append(peer.ask(counts, number))
    return summary(name, runs, compiled)


def summary(name: str, runs: dict[str, list[dict]], compiled: dict[str, dict]) -> dict:
    """Medians over the rounds, and ratios to NumPyro's default."""
    result: dict = {"case": name, "shape": CASES[name], "runs": {}}
    for label, each in sorted(runs.items(), key=lambda item: item[0] in compiled):
        if "refused" in each[0]:
            result["runs"][label] = each[0]
            continue
        entry = {key: float(np.median([run[key] for run in each])) for key in ("seconds", "effective", "rate")}
        entry["rhat"] = None if each[0]["rhat"] is None else max(run["rhat"] for run in each)
        entry["engine"] = each[0].get("engine", label)
        entry["compile_seconds"] = compiled[label]["compile_seconds"] if label in compiled else None
        entry["distance"] = None if label in ("Auto", "default prior") else distance(runs["Auto"][0], each[0])
        result["runs"][label] = entry
    for peer in compiled:
        for label, entry in result["runs"].items():
            if "rate" in entry and label != "default prior":
                entry[f"ratio_to_{peer}"] = entry["rate"] / result["runs"][peer]["rate"]
    return result


def memory(name: str) -> float:
    """Peak memory in MB of one answer in a fresh process."""
    lines = (
        "import pathlib, re, speed, truecount as tc",
        f"tc.infer(speed.problem({name!r}), prior=speed.FLAT).findings",
        r"print(re.search(r'VmHWM:\s+(\d+)', pathlib.Path('/proc/self/status').read_text())[1])",
    )
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return int(done.stdout) / 1024


def many_at_once(rounds: int) -> dict:
    """`infer_many` on 1,000 problems of the default case against a loop over `infer`, in turns."""
    problems = [problem("paper's default", seed) for seed in range(1000)]
    engine, loop, together = tc.Auto(effective_draws=1000), [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        for seed, counts in enumerate(problems):
            tc.infer(counts, engine=engine, seed=seed)
        loop.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        tc.infer_many(problems, engine=engine)
        together.append(time.perf_counter() - begin)
    ratios = [one / other for one, other in zip(loop, together, strict=True)]
    return {
        "loop_seconds": float(np.median(loop)),
        "many_seconds": float(np.median(together)),
        "ratio": float(np.median(ratios)),
    }


LEGEND = """\
# Effective draws a second, beside NumPyro

Made by `benchmarks/speed.py`. L classes, K outputs, N labelled and N′ unlabelled items. × NumPyro: effective draws a
second over those of NumPyro in float32, its default, and in float64 (x64); its compilation is not counted. Means apart:
largest distance from the means of Auto, in standard errors (s.e.). MB: peak memory of one answer, at most. Where R-hat
is above 1.05 or nan the sampler has not converged, and a ratio to it says only that: float32 fails at N′ of a million.
Priors are flat, as in the peer's model, but for the rows "default prior", which has no peer: it is learned from six
classes on.

"""
COLUMNS = (
    "case",
    "L, K, N, N′",
    "engine",
    "effective draws",
    "seconds",
    "effective draws/s",
    "× NumPyro",
    "× NumPyro x64",
    "R-hat",
    "means apart (s.e.)",
    "compile s",
    "MB",
)


def table(results: list[dict]) -> str:
    """The figures to read."""
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    for result in results:
        lines += [" | ".join(row(result, label, entry)) for label, entry in result["runs"].items()]
    return "\n".join(f"| {line} |" for line in lines)


def row(result: dict, label: str, entry: dict) -> list[str]:
    """One line of the table."""
    shape = ", ".join(f"{value:,}" for value in result["shape"])
    if "refused" in entry:
        return [result["case"], shape, label, f"refuses: {entry['refused']}", *[""] * (len(COLUMNS) - 4)]
    return [
        result["case"],
        shape,
        label if entry["engine"] == label else f"{label} → {entry['engine']}",
        f"{entry['effective']:,.0f}",
        f"{entry['seconds']:.3g}",
        f"{entry['rate']:,.0f}",
        shown(entry.get("ratio_to_NumPyro float32"), ",.0f"),
        shown(entry.get("ratio_to_NumPyro x64"), ",.0f"),
        shown(entry["rhat"], ".3f"),
        shown(entry["distance"], ".1f"),
        shown(entry["compile_seconds"], ".1f"),
        f"{result['memory_mb']:.0f}" if label == "Auto" else "",
    ]


def shown(value: float | None, form: str) -> str:
    """A number, or nothing."""
    return "" if value is None else format(value, form)


def main() -> None:
    """Run the cases asked for, or all."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("cases", nargs="*", metavar="case", help=f"any of {', '.join(CASES)}")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--no-peer", action="store_true", help="leave NumPyro out")
    options = arguments.parse_args()
    peers = {} if options.no_peer else {"NumPyro float32": Peer(x64=False), "NumPyro x64": Peer(x64=True)}
    before = {} if options.no_peer or not options.cases else saved()
    for name in options.cases or CASES:
        result = {**run_case(name, options.rounds, peers), "memory_mb": memory(name), "machine": about()}
        before[name] = result
        print(table([result]).splitlines()[2], flush=True)
    for peer in peers.values():
        peer.close()
    many = {**many_at_once(options.rounds), "machine": about()}
    results = [before[name] for name in CASES if name in before]
    text = (
        f"{LEGEND}{table(results)}\n\n1,000 problems of the default case at 1,000 draws each: a loop over `infer` "
        f"{many['loop_seconds']:.2f} s, `infer_many` {many['many_seconds']:.2f} s, {many['ratio']:.1f} × faster.\n"
    )
    print(text)
    if not options.no_peer:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "speed.json").write_text(json.dumps({"cases": results, "infer_many": many}, indent=1) + "\n")
        (RESULTS / "speed.md").write_text(text)


def saved() -> dict[str, dict]:
    """What earlier runs found, by case; a run of some cases replaces those alone."""
    kept = json.loads((RESULTS / "speed.json").read_text())
    return {result["case"]: {"machine": kept.get("machine"), **result} for result in kept["cases"]}


if __name__ == "__main__":
    main()
