"""Run experiments, and say which claims hold."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from experiments.paper import report
from experiments.paper.claim import Claim
from experiments.paper.registry import NAMES, AbsentError, experiment

RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Give 0, or 1 where the quick run finds another verdict on a main claim than the one on record."""
    options = _options(arguments)
    names = options.names or NAMES
    if options.quick:
        with TemporaryDirectory() as folder:
            return _quick(names, options, Path(folder))
    for name in names:
        if options.report or _made(name, options, RESULTS):
            report.draw(name, RESULTS)
    report.write(NAMES, RESULTS)
    return 0


def _quick(names: list[str], options: argparse.Namespace, folder: Path) -> int:
    """Run everything small, draw it, and print the main claims; those that broke come last."""
    claims: list[Claim] = []
    for name in names:
        if _made(name, options, folder):
            report.draw(name, folder)
            claims += [claim for claim in experiment(name).claims(report.read(name, folder)) if claim.is_main]
    broken = [claim for claim in claims if claim.is_broken]
    for claim in broken:
        print(f"BROKEN ({'holds' if claim.holds else 'does not hold'} now): {report.line(claim)}")
    print(f"{len(claims) - len(broken)} of {len(claims)} main claims as recorded")
    return 1 if broken or not claims else 0


def _made(name: str, options: argparse.Namespace, folder: Path) -> bool:
    """Run an experiment and keep its tables; say so where what it needs is absent."""
    clock, processor = perf_counter(), process_time()
    try:
        tables = experiment(name).run(_config(name, options))
    except AbsentError as reason:
        print(f"{name} skipped: {reason}", file=sys.stderr)
        return False
    report.save(name, tables, folder)
    seconds = {"clock": perf_counter() - clock, "processor": process_time() - processor}
    report.note_seconds(name, seconds, folder)
    print(f"{name}: {seconds['clock']:.0f} s ({seconds['processor']:.0f} s of processor time)", file=sys.stderr)
    return True


def _config(name: str, options: argparse.Namespace) -> Any:
    module = experiment(name)
    return module.QUICK if options.quick else module.FULL


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.paper", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help=f"of {', '.join(NAMES)}; or all")
    parser.add_argument("--quick", action="store_true", help="small runs; fail where a main claim's verdict changed")
    parser.add_argument("--report", action="store_true", help="figures and RESULTS.md again, from the tables")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
