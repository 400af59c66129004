"""What a classifier says of items, and the cells that its answers are sorted into."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.reading.arrays import encode
from truecount.reading.names import named_or_found
from truecount.scores import Argmax, Cells, Partition
from truecount.scores.cells import ClassCells
from truecount.scores.partition import held_out_mask
from truecount.scores.scores import probabilities
from truecount.sklearn.folds import Folds, fit_folds
from truecount.sklearn.one_fit import OneFit, fit_once

FOLDS = 5
"""Of classifiers that must be fitted again for held-out answers."""
ASIDE = 4
"""Of so many labelled items of a class, one is set aside for a partition that looks at labels."""


@dataclass(frozen=True, slots=True)
class Sorter:
    """Fitted classifiers, and the cells that their answers are sorted into.

    Parameters
    ----------
    estimator
        Fitted to all labelled items.
    held
        What answers for labelled items that it was not fitted to, and for new ones in the same way.
    cells
        Fitted; where they are the classes, what the classifier predicts is taken, and no probabilities are computed.
    classes
        Names of the classes, in the order of the classifier's.
    """

    estimator: Any
    held: Folds | OneFit
    cells: Cells
    classes: tuple[Name, ...]

    def held_out_scores(self, X: Any) -> FloatArray:  # noqa: N803
        """Shape (labelled items, classes): probabilities, each by the classifier that was not fitted to the item."""
        return probabilities("scores", self.held.held_out(X, "predict_proba"))

    def scores_in_turns(self, X: Any) -> FloatArray:  # noqa: N803
        """Shape (new items, classes): probabilities as those of labelled items are made, by classifiers in turns."""
        return probabilities("scores", self.held.in_order(X, "predict_proba"))

    def scores_in_all_turns(self, X: Any) -> tuple[list[FloatArray], FloatArray]:  # noqa: N803
        """Return the same for every classifier whose turn may be the first, and `scores_in_turns`."""
        ways, in_turn = self.held.in_all_turns(X)
        return [probabilities("scores", each) for each in ways], probabilities("scores", in_turn)

    def assign(self, answers: Any) -> IntArray:
        """Shape (items,): the cell of each answer."""
        return codes("predictions", answers, self.classes) if is_plain(self.cells) else self.cells.assign(answers)

    def count(self, X: Any) -> IntArray:  # noqa: N803
        """Shape (cells,): how many items fall into each."""
        method, counted = method_for(self.cells, self.estimator), np.zeros(self.cells.size, np.int64)
        for answers in self.held.in_turns(X, method):
            counted += np.bincount(self.assign(answers), minlength=self.cells.size)
        return counted


def fit_sorter(
    estimator: Any,
    partition: Partition | Cells,
    X: Any,  # noqa: N803
    y: Any,
    *,
    cv: Any,
    seed: int,
) -> tuple[Sorter, IntArray]:
    """Fit classifiers and cells, and say where in a table of classes and cells each labelled item that counts belongs.

    Answers for labelled items come from a classifier that was not fitted to them: of one fit, where `fit_once` can, and
    of folds elsewhere, or where `cv` is given. A partition that looks at labels gets
    a quarter of the items of each class, which are then not counted.
    """
    method = method_for(partition, estimator)
    held: Folds | OneFit | None = fit_once(estimator, X, y) if cv is None and method != "decision_function" else None
    if isinstance(held, OneFit):
        fitted = held.estimator
    else:
        held = fit_folds(estimator, X, y, cv=FOLDS if cv is None else cv)
        fitted = estimator if isinstance(cv, str) else clone(estimator).fit(X, y)
    classes = class_names(fitted, y)
    answers, labels = held.held_out(X, method), codes("y", y, classes)
    cells, is_counted = _fit_cells(partition, answers, labels, len(classes), seed)
    sorter = Sorter(fitted, held, cells, classes)
    return sorter, (labels * cells.size + sorter.assign(answers))[is_counted]


def method_for(partition: Partition | Cells, estimator: Any) -> str:
    """Name the method of the classifier whose answers the partition sorts."""
    if isinstance(partition, type) or not hasattr(partition, "takes"):
        raise InputError(
            "partition", f"is {partition!r}", "it must be a partition", "Pass Argmax(), Bins(5) or Tree(5)"
        )
    if is_regressor(estimator):
        found, needed = f"is {type(estimator).__name__}, a regressor", "outputs of a classifier are counted"
        raise InputError("estimator", found, needed, "Pass a classifier")
    if is_plain(partition):
        return "predict"
    method = {"probabilities": "predict_proba", "values": "decision_function"}[partition.takes]
    if not hasattr(estimator, method):
        raise InputError(
            "estimator",
            f"is {type(estimator).__name__}, which has no {method}",
            f"{type(partition).__name__} sorts {partition.takes}",
            "Choose partition=Argmax(), or another classifier",
        )
    return method


def share_features(fitted: Any, host: Any) -> None:
    """Let what stands around a fitted classifier know the features that it was fitted to."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(host, name, getattr(fitted, name))


def with_inputs_of(estimator: Any, tags: Any) -> Any:
    """Return scikit-learn's tags of what takes whatever its classifier takes."""
    inner = get_tags(estimator).input_tags
    tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
    return tags


def is_plain(partition: Partition | Cells) -> bool:
    """Whether cells are the classes, so that what the classifier predicts is all that is needed."""
    return isinstance(partition, Argmax | ClassCells)


def class_names(estimator: Any, y: Any) -> tuple[Name, ...]:
    """Return the names of the classifier's classes; of one that keeps none to itself, of those that occur."""
    return named_or_found("classes", getattr(estimator, "classes_", np.unique(y))) or ()


def codes(argument: str, values: Any, classes: tuple[Name, ...]) -> IntArray:
    """Shape (items,): the position of each item's class."""
    column = encode(argument, np.asarray(values))
    for name in column.names:
        if name not in classes:
            found = f"holds {name!r}, first at position {column.first_row(name)}"
            raise InputError(argument, found, f"the classes are {quoted(classes)}", "Fit a classifier that knows it")
    return column.positions(classes)


def _fit_cells(
    partition: Partition | Cells, answers: Any, labels: IntArray, n_classes: int, seed: int
) -> tuple[Cells, Any]:
    """Return the cells, and which labelled items are to be counted."""
    everyone = np.ones(len(labels), bool)
    if isinstance(partition, Cells):
        return partition, everyone
    if is_plain(partition):
        return ClassCells(n_classes), everyone
    if not partition.needs_labels:
        return partition.fit(answers), everyone
    aside = held_out_mask(labels, ASIDE, np.random.default_rng(seed))
    return partition.fit(answers[aside], labels[aside]), ~aside
