"""Which items to label next, as the command says it."""

from typing import Any

import click

from truecount._wording import visible
from truecount.cli.options import named_class, read_whole
from truecount.cli.report import Report
from truecount.cli.screen import print_lines
from truecount.counts import Counts, Groups
from truecount.models import ByPrediction, Model, SamePopulation
from truecount.results.summary import Table

MOST = 10**9


def deliver_batch(report: Report, data: Any, model: Model, number: str, of_interest: str | None, seed: int) -> None:
    """Say how many items of each output to label next."""
    from truecount.api.batches import next_batch

    if not isinstance(data, Counts | Groups):
        raise click.BadParameter("--next needs data: files, counts or a survey.")
    if isinstance(model, SamePopulation):
        raise click.BadParameter("--next chooses by output: it goes with --design label-shift or by-prediction.")
    many = read_whole("--next", number, least=1, most=MOST, usual=50)
    of = None if of_interest is None else named_class("--class", of_interest, data.classes)
    found = next_batch(data, many, model=model, of=of, seed=seed)
    header, rows = ["output", "label next"], [[visible(str(name)), f"{each}"] for name, each in found.items()]
    if isinstance(data, Groups):
        header = ["group", *(visible(str(name)) for name in data.outputs)]
        rows = [[visible(str(name)), *(f"{each:,}" for each in own.values())] for name, own in found.items()]
    table = Table(header, rows, (), headline="Label these, at random within each output:")
    design = ", truecount.ByPrediction()" if isinstance(model, ByPrediction) else ""
    said = (
        "Afterwards infer in Python, with target the number of these items by class (rows) and output (columns):\n"
        f"  truecount.infer(*truecount.with_target_labels(counts, target{design}))"
    )
    if isinstance(data, Groups):
        said += "\nfor each group by itself: for group, counts in groups.apart()"
    report.write(
        lambda: {
            "schema": "truecount.plan/1",
            "next_batch": {str(name): _plain(each) for name, each in found.items()},
            "seed": seed,
        },
        lambda summary: [summary["next_batch"]],
        lambda: print_lines("\n".join([*table.cell_lines(), said])),
    )


def _plain(found: Any) -> Any:
    """Return a number, or the numbers of a group by the names of its outputs."""
    return {str(name): each for name, each in found.items()} if isinstance(found, dict) else found
