"""Labels of the population itself: from a file of their own, or from rows that a column tells apart."""

from dataclasses import replace
from pathlib import Path

from truecount.cli.options import MisuseError
from truecount.cli.source import Source
from truecount.counts import Counts, Groups
from truecount.models import LabelShift, Model, TargetLabels

OPTION = "--target-labels"


def read_target(text: str, source: Source) -> tuple[Counts, TargetLabels]:
    """Return the counts and a model that knows the labels of the population.

    Parameters
    ----------
    text
        A file of labelled items, or ``column=value``: the labelled rows of the population among those of the data.
    source
        The data.
    """
    column, is_column, value = text.partition("=")
    if is_column and not Path(text).exists():
        data, _ = replace(source, study=[column]).read()
        if not isinstance(data, Groups) or len(data) > 1:
            needed = "labels of the population are of one population"
            raise MisuseError(OPTION, "is given with groups", needed, "Leave --by out")
        named = {str(study): study for study in data.studies or ()}
        return TargetLabels.of_study(data, named.get(value, value))
    counts, _ = source.without_columns().read_one(OPTION)
    found = source.of_population(Path(text), OPTION)
    from truecount.diagnostics.evidence import audited

    table = audited(counts, found, lambda each: (each.labeled.astype(float), each.unlabeled.astype(float)))
    return counts, TargetLabels(labeled=table)


def with_prior(model: Model, target: TargetLabels) -> TargetLabels:
    """Return the labels of the population with the prior that was asked for."""
    if not isinstance(model, LabelShift):
        needed = "labels from elsewhere are combined with those of the population by what label shift allows"
        raise MisuseError("--design", f"is {model.option()!r}", needed, f"Leave --design out, or {OPTION}")
    return replace(target, prior=model.prior)
