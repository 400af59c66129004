"""Labels of the population itself: from a file of their own, or from rows that a column tells apart."""

from dataclasses import replace
from pathlib import Path

from truecount.cli.options import GroupOptions, MisuseError
from truecount.cli.source import Source
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.models import LabelShift, Model, TargetLabels

OPTION, INDEPENDENT = "--target-labels", "--independent-classifiers"


def read_target(text: str, source: Source) -> tuple[Counts | Groups, LabelShift]:
    """Return the counts and a model that knows the labels of the population, or of each group.

    Parameters
    ----------
    text
        A file of labelled items, or ``column=value``: the labelled rows of the population among those of the data.
    source
        The data.
    """
    column, is_column, value = text.partition("=")
    if source.study:
        needed = "it names the column that says where labels come from"
        raise MisuseError(OPTION, "is given with --study", needed, "Leave one of them out")
    if is_column and not Path(text).exists():
        data, _ = replace(source, study=[*(source.by or ()), column]).read()
        if not isinstance(data, Groups):
            needed = "a column of the data says where labels come from"
            raise InputError(OPTION, f"is {text!r}", needed, "Name a file of rows, or of labels of the population")
        values = {
            str(each): each for each in (key[-1] if isinstance(key, tuple) else key for key in data.studies or ())
        }
        if value not in values:
            needed = f"labels have {', '.join(map(repr, values)) or 'nothing'} in column {column!r}"
            raise InputError(OPTION, f"is {text!r}", needed, "Name the value of labels of the population itself")
        return TargetLabels.of_study(data, values[value])
    if source.asks_for_groups:
        needed = "labels of groups are told apart by a column of the data"
        remedy = f"Put them into the same table, and write {OPTION} COLUMN=VALUE, or leave the groups out"
        raise MisuseError(OPTION, "names a file, and there are groups", needed, remedy)
    counts, _ = source.without_columns().read_one(OPTION)
    found = source.of_population(Path(text), OPTION)
    from truecount.diagnostics.evidence import audited

    table = audited(counts, found, lambda each: (each.labeled.astype(float), each.unlabeled.astype(float)))
    return counts, TargetLabels(labeled=table)


def of_random_labels(options: GroupOptions, *, has_error: bool, is_independent: bool) -> GroupOptions:
    """Return the options of groups whose own labels are random samples of them."""
    given = [name for name, is_given in (("--label-error", has_error), (INDEPENDENT, is_independent)) if is_given]
    if given:
        needed = "labels of groups are taken for right, and rows to vary between them and labels from elsewhere"
        raise MisuseError(OPTION, f"is given with {given[0]}", needed, "Leave one of them out")
    return replace(options, random_labels=True)


def with_prior(model: Model, target: LabelShift) -> LabelShift:
    """Return the labels of the population with the prior that was asked for."""
    if not isinstance(model, LabelShift):
        needed = "labels from elsewhere are combined with those of the population by what label shift allows"
        raise MisuseError("--design", f"is {model.option()!r}", needed, f"Leave --design out, or {OPTION}")
    return replace(target, prior=model.prior)
