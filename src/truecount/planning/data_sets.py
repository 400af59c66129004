"""Data sets that may come of a plan: drawn at every truth, or the one that is expected."""

from typing import NamedTuple

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.models import ByPrediction, LabelShift
from truecount.planning.scenario import Scenario, Sizes


class DataSets(NamedTuple):
    """Whole counts of data sets that may come.

    Parameters
    ----------
    labeled, unlabeled
        Shapes (sets, classes, outputs) and (sets, outputs): those that there were already are included.
    new
        Shape (sets, classes, outputs): the labels that the plan adds.
    """

    labeled: IntArray
    unlabeled: IntArray
    new: IntArray

    @classmethod
    def beside(cls, scenario: Scenario, new: IntArray, items: IntArray) -> "DataSets":
        """Return new labels and items together with those that there are already."""
        labeled, unlabeled = (np.rint(each).astype(int) for each in (scenario.labeled, scenario.unlabeled))
        return cls(new + labeled, items + unlabeled, new)

    def take(self, places: IntArray) -> "DataSets":
        """Return some of the data sets."""
        return DataSets(*(each[places] for each in self))


def drawn_data(scenario: Scenario, sizes: Sizes, rng: np.random.Generator) -> DataSets:
    """Draw one data set at each truth."""
    labels, items = np.rint(sizes.labels).astype(int), round(sizes.items)
    if isinstance(scenario.model, LabelShift):
        rows = scenario.confusion if scenario.of_new_labels is None else scenario.of_new_labels
        new = rng.multinomial(np.broadcast_to(labels, scenario.prevalence.shape), rows)
    else:
        given = _normalised(scenario.given_output.swapaxes(1, 2))
        outputs = _normalised(scenario.output_shares)
        of_output = (
            np.broadcast_to(labels, outputs.shape)
            if isinstance(scenario.model, ByPrediction)
            else rng.multinomial(int(labels.sum()), outputs)
        )
        new = rng.multinomial(of_output, given).swapaxes(1, 2)
    return DataSets.beside(scenario, new, rng.multinomial(items, _normalised(scenario.output_shares)))


def expected_data(scenario: Scenario, sizes: Sizes) -> DataSets:
    """Return the counts that are expected at each truth, as whole numbers."""
    if isinstance(scenario.model, LabelShift):
        new = _whole(np.rint(sizes.labels)[:, None] * scenario.confusion)
    elif isinstance(scenario.model, ByPrediction):
        by_output = np.rint(sizes.labels)[:, None] * scenario.given_output.swapaxes(1, 2)
        new = _whole(by_output).swapaxes(1, 2)
    else:
        joint = scenario.prevalence[:, :, None] * scenario.confusion * np.rint(sizes.labels).sum()
        new = _whole(joint.reshape(len(joint), -1)).reshape(joint.shape)
    return DataSets.beside(scenario, new, _whole(round(sizes.items) * scenario.output_shares))


def _whole(expected: FloatArray) -> IntArray:
    """Round along the last axis and keep the sum: the largest remainders go up."""
    down = np.floor(expected + 1e-9)
    lacking = np.rint(expected.sum(axis=-1) - down.sum(axis=-1)).astype(int)
    rank = np.argsort(np.argsort(-(expected - down), axis=-1, kind="stable"), axis=-1, kind="stable")
    whole: IntArray = (down + (rank < lacking[..., None])).astype(int)
    return whole


def _normalised(shares: FloatArray) -> FloatArray:
    scaled: FloatArray = shares / shares.sum(axis=-1, keepdims=True)
    return scaled


def plug_in(scenario: Scenario, data: DataSets) -> Scenario:
    """Return the truths that data sets would make one believe in: shares solved for, and rates as counted."""
    labeled = data.labeled + 0.5 / data.labeled.shape[2]
    outputs = _normalised(np.asarray(data.unlabeled + 0.5, dtype=np.float64))
    if isinstance(scenario.model, LabelShift):
        confusion = _normalised(labeled)
        solved = np.einsum("sk,skl->sl", outputs, np.linalg.pinv(confusion))
        return scenario.at(_normalised(np.maximum(solved, 1e-6)), confusion)
    joint = labeled / labeled.sum(axis=1, keepdims=True) * outputs[:, None, :]
    prevalence = joint.sum(axis=2)
    return scenario.at(prevalence, joint / prevalence[:, :, None])
