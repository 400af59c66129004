"""Run experiments, and say which claims hold."""

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from experiments.paper import report
from experiments.paper.claim import Claim
from experiments.paper.registry import NAMES, AbsentError, experiment

from truecount.errors import IdentifiabilityWarning

RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where the quick run finds another verdict on a main claim than the one on record."""
    options = _options(arguments)
    if options.quick:
        with TemporaryDirectory() as folder:
            return _quick(options, Path(folder))
    folder = options.out or RESULTS
    for name in options.names:
        if options.report or _made(name, options, folder):
            report.draw(name, folder)
    page = RESULTS.parent / "RESULTS.md" if folder == RESULTS else folder / "RESULTS.md"
    report.write(NAMES, folder, page)
    return 0


def _quick(options: argparse.Namespace, folder: Path) -> int:
    """Run everything small, draw it, and print the main claims; those that broke come last."""
    claims: list[Claim] = []
    for name in options.names:
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentifiabilityWarning)  # fewer outputs than classes are the point
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
    config = module.QUICK if options.quick else module.FULL
    if name == "cells" and options.cells:
        types = tuple(options.types.split(",")) if options.types else ()
        return replace(config, file=options.cells, quantify=options.quantify, types=types, **_columns(options))
    return config


def _columns(options: argparse.Namespace) -> dict[str, str]:
    return {"donor": options.donor_column, "cell_type": options.type_column}


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.paper", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small runs; fail where a main claim's verdict changed")
    parser.add_argument("--report", action="store_true", help="figures and RESULTS.md again, from the tables")
    parser.add_argument("--out", type=Path, help="folder for tables, figures and page (the committed ones by default)")
    cells = parser.add_argument_group("cells", "single cells of an AnnData file, in place of the blood cells")
    cells.add_argument("--cells", metavar="FILE.h5ad", help="such as that of the Kidney Cell Atlas; needs --out")
    cells.add_argument("--donor-column", default="donor", help="column of obs that names the donor")
    cells.add_argument("--type-column", default="cell_type", help="column of obs that names the cell type")
    cells.add_argument("--types", help="cell types to use, with commas between (all by default)")
    cells.add_argument("--quantify", metavar="DONOR", help="donor to quantify (each in turn by default)")
    options = parser.parse_args(arguments)
    options.names = options.names or (["cells"] if options.cells else list(NAMES))
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no experiment {name!r}: choose from {', '.join(NAMES)}")
    if options.cells and not options.out:
        parser.error("--cells needs --out FOLDER, so that the committed results stay as they are")
    return options


if __name__ == "__main__":
    sys.exit(main())
