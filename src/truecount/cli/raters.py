"""Labels that may be wrong, on the command line: several columns of labels, or one with a known error."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from truecount._types import Name
from truecount.cli.options import MisuseError, read_share
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import InputError
from truecount.models import LabelShift, Model, TargetLabels

REMEDY = "Write 0.05 or 5%, or name a CSV file that counts true classes by the label that they got"


def behind_labels(ratings: Ratings) -> Counts | Groups:
    """Return the population of patterns of labels, with the true classes in place of the patterns."""
    from truecount.models.erring_labels import blank_counts

    counts, blank = ratings.counts, blank_counts(ratings)
    if not isinstance(counts, Groups):
        return blank
    unlabeled = dict(zip(counts.groups, counts.unlabeled, strict=True))
    return Groups(blank.labeled, unlabeled, ratings.classes, counts.outputs, by=counts.by)


def with_label_error(model: Model, text: str, classes: Sequence[Name]) -> Model:
    """Return the model of labels that are wrong as often as was said."""
    from truecount.models import ErringLabels

    if not isinstance(model, LabelShift):
        needed = "wrong labels are inferred behind under label shift"
        raise MisuseError("--label-error", "is given with --design", needed, "Leave out --design")
    if isinstance(model, TargetLabels):
        needed = "labels of the population are taken for right"
        raise MisuseError("--label-error", "is given with --target-labels", needed, "Leave out one of them")
    if model.prior.known is not None:
        needed = "rates that are known leave no labels that could be wrong"
        raise MisuseError("--label-error", "is given with rates that are known", needed, "Leave out one of them")
    if not Path(text).exists() and Path(text).suffix.lower() not in (".csv", ".tsv"):
        return ErringLabels(model.prior, known=read_share("--label-error", text, REMEDY))
    return ErringLabels(model.prior, validation=_validation(text, classes))


def _validation(path: str, classes: Sequence[Name]) -> list[list[float]]:
    """Read a table of true classes by label, in the order of the classes."""
    from truecount.counts.matrix import read_confusion

    table = read_confusion(path)
    names = list(map(str, classes))
    if sorted(map(str, table.classes)) != sorted(names) or sorted(map(str, table.outputs)) != sorted(names):
        found, needed = f"has the classes {list(table.classes)}", f"those of the data are {list(classes)}"
        raise InputError(path, found, needed, "Name rows and columns like the classes")
    rows, columns = ([list(map(str, side)).index(name) for name in names] for side in (table.classes, table.outputs))
    chosen: list[list[float]] = np.asarray(table.labeled)[np.ix_(rows, columns)].tolist()
    return chosen
