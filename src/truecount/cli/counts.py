"""Data become counts that travel: count where the data are, merge, and estimate elsewhere."""

import json
from collections.abc import Sequence

import click

from truecount._atomic import is_same_file, require_writable, whole_file
from truecount.cli import arguments as given
from truecount.cli.report import require_ending
from truecount.cli.source import Source, on_disk
from truecount.counts import Groups
from truecount.counts.exchange import merged_parts, read_counts, to_document
from truecount.counts.tally import Tally
from truecount.errors import InputError

MERGE = "merge"


def counts(
    tables: given.CountedTables,
    label: given.Label = None,
    prediction: given.Prediction = None,
    by: given.By = None,
    weight: given.Weight = None,
    cluster: given.Cluster = None,
    missing: given.Missing = None,
    output: given.Output = "-",
    strict_classes: given.StrictClasses = False,
    quiet: given.Quiet = False,
) -> None:
    """Count rows into a small JSON file, or merge such files.

    \b
    One table, whose rows with an empty label are the unlabelled population; a pattern or a folder is one table:
      truecount counts runs.parquet --label human --prediction verdict -o counts.json
      truecount counts 'runs/*.parquet' --label human --prediction verdict -o counts.json
    A labelled and an unlabelled table, or unlabelled rows alone:
      truecount counts read.csv unread.csv --label human --prediction verdict -o counts.json
      truecount counts unread.csv --prediction verdict -o part.json
    With counts for each group, or for each week of a column of times:
      truecount counts runs.parquet --label human --prediction verdict --by region -o counts.json
      truecount counts runs.parquet --label human --prediction verdict --by time:week -o counts.json
    Shards that were counted apart, then the answer:
      truecount counts merge part-*.json -o counts.json
      truecount estimate counts.json

    A shard need not hold every class, nor both kinds of rows. Where a shard lacks a class or an output, it has zeros.
    """  # noqa: D301
    if output != "-":
        require_writable(output, Source(tables=tables).files())
        require_ending("output", output, "json")
    if tables[0] == MERGE:
        _refuse_options(label=label, prediction=prediction, by=by, weight=weight, missing=missing, cluster=cluster)
        found = _merged(tables[1:], strict_classes=strict_classes)
    else:
        if strict_classes:
            raise click.BadParameter("--strict-classes goes with merge.")
        with on_disk(tables) as named:
            source = Source(
                tables=named, label=label, prediction=prediction, by=by, weight=weight, missing=missing, cluster=cluster
            )
            found = source.shard()
    _write(found, output)
    if output != "-" and not quiet:
        click.echo(f"{_size(found)}: {output}")


def _merged(files: Sequence[str], *, strict_classes: bool) -> Tally | Groups:
    if not files:
        raise click.BadParameter("Name the files to merge.")
    _refuse_twice(files)
    parts = [read_counts(file) for file in files]
    try:
        return merged_parts(parts, strict_classes=strict_classes)
    except InputError as error:
        raise _named(error, files) from error


def _refuse_twice(files: Sequence[str]) -> None:
    for number, file in enumerate(files):
        if any(is_same_file(file, earlier) for earlier in files[:number]):
            raise InputError(file, "is named twice", "each shard is counted once", "Name each shard once")


def _named(error: InputError, files: Sequence[str]) -> InputError:
    """Name the file instead of its number."""
    number = error.argument.removeprefix("shard ")
    argument = files[int(number) - 1] if number.isdigit() else error.argument
    return error.about(argument)


def _refuse_options(**options: object) -> None:
    stray = [f"--{name}" for name, value in options.items() if value]
    if stray:
        raise click.BadParameter(f"merge does not go with {' and '.join(stray)}.")


def _write(found: Tally | Groups, output: str) -> None:
    document = found.to_dict() if isinstance(found, Groups) else to_document(found)
    text = json.dumps(document, ensure_ascii=False) + "\n"
    if output == "-":
        click.echo(text, nl=False)
        return
    with whole_file(output) as stream:
        stream.write(text.encode(errors="backslashreplace"))


def _size(found: Tally | Groups) -> str:
    what = "weight" if found.is_weighted else "rows"
    if isinstance(found, Groups):
        labeled, unlabeled, number = found.labeled.sum(), found.unlabeled.sum(), len(found)
        classes, outputs = len(found.classes), len(found.outputs)
    else:
        labeled, unlabeled, number = sum(found.labeled.values()), sum(found.unlabeled.values()), len(found.groups())
        classes = len(found.rated_classes() if found.raters else found.class_names())
        outputs = len(found.output_names())
    groups = f", {number:,} groups" if found.by else ""
    return f"{labeled:,} labelled and {unlabeled:,} unlabelled {what}{groups}, {classes:,} classes, {outputs:,} outputs"
