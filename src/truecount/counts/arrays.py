"""Columns of labels become counts."""

from collections.abc import Iterable
from typing import Any

from truecount import _check
from truecount.counts.table import Counts


def count(
    labels: Any, predictions: Any, new_predictions: Any, *, classes: Iterable[Any] | None = None, outputs: Iterable[Any] | None = None
) -> Counts:
    """Count labelled and unlabelled outputs."""
    class_names = list(classes) if classes is not None else _check.sorted_names(set(labels))
    output_names = list(outputs) if outputs is not None else _check.sorted_names(set(predictions) | set(new_predictions))
    labeled = [[0] * len(output_names) for _ in class_names]
    for label, prediction in zip(labels, predictions, strict=True):
        labeled[class_names.index(label)][output_names.index(prediction)] += 1
    unlabeled = [0] * len(output_names)
    for prediction in new_predictions:
        unlabeled[output_names.index(prediction)] += 1
    return Counts(labeled, unlabeled, class_names, output_names)
