"""Labels in batches until the widest interval is narrow enough: chosen by the expected drop, and equally split."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from plan_populations import Source, uci

import truecount as tc

ITEMS, CELLS = 20_000, 3
"""Items of the population, and ranges of confidence of each prediction, which are the outputs."""
FIRST, BATCH, GROWTH, MOST = 3, 30, 0.1, 6000
"""Labels of each output to begin with; labels of a batch, or so much of those that there are; when to give up."""
MODEL = tc.ByPrediction()
PROBLEMS: dict[str, Callable[[], Source]] = {
    name: lambda name=name: uci(name, CELLS, is_shifted=False)
    for name in (
        *("page-blocks", "satimage", "nursery", "yeast"),
        *("spambase", "wine-quality-red", "waveform-21", "cmc"),
    )
}


@dataclass(frozen=True)
class Stopped:
    """Labels that it took, the share of the classes whose intervals hold the truth then, and the widest interval."""

    labels: int
    held: float
    width: float


def compared(draw: Source, seed: int) -> tuple[Stopped, Stopped]:
    """Label the same population adaptively, and equally split between the outputs."""
    rng = np.random.default_rng(seed)
    population = draw(rng)
    joint = population.shares[:, None] * population.rows
    joint = joint[:, joint.sum(axis=0) > 0]
    unlabeled = rng.multinomial(ITEMS, joint.sum(axis=0) / joint.sum())
    half_width = 0.03 if len(joint) <= 3 else 0.02
    return tuple(_until_narrow(way, joint, unlabeled, half_width, rng) for way in (_chosen, _equally))


Way = Callable[[tc.Counts, np.ndarray, int, np.random.Generator], np.ndarray]


def _until_narrow(
    way: Way, joint: np.ndarray, unlabeled: np.ndarray, half_width: float, rng: np.random.Generator
) -> Stopped:
    blank = tc.Counts(np.zeros(joint.shape, int), unlabeled)
    given = joint / joint.sum(axis=0)
    table = _labelled(np.minimum(FIRST, unlabeled), given, rng)
    while not tc.may_stop(blank, half_width, target=table, model=MODEL) and table.sum() < MOST:
        left = unlabeled - table.sum(axis=0)
        number = min(max(BATCH, int(GROWTH * table.sum())), int(left.sum()))
        table = table + _labelled(np.minimum(way(blank, table, number, rng), left), given, rng)
    ends, truth = tc.infer(*tc.with_target_labels(blank, table, MODEL)).interval(), joint.sum(axis=1)
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return Stopped(int(table.sum()), float(held.mean()), float(np.diff(ends, axis=1).max()))


def _chosen(blank: tc.Counts, table: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Choose what makes the variance drop most."""
    return np.array(list(tc.next_batch(blank, number, target=table, model=MODEL).values()))


def _equally(blank: tc.Counts, table: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Take as many of each output as have items left."""
    has_items = blank.unlabeled > table.sum(axis=0)
    each, extra = divmod(number, int(has_items.sum()))
    order = np.argsort(np.where(has_items, rng.random(len(has_items)), 2.0))
    more = np.where(has_items, each, 0)
    more[order[:extra]] += 1
    return more


def _labelled(sizes: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Label so many random items of each output."""
    return np.array([rng.multinomial(size, row) for size, row in zip(sizes, given.T, strict=True)]).T
