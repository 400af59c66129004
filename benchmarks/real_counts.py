"""Counts made from real data whose true shares are known, for what compares priors.

Reads the folder that ``TRUECOUNT_DATA`` names. On every set the labelled and the unlabelled items are disjoint, and
label shift holds, by construction or as far as an audit with labels on both sides can see.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import load_npz
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier

import truecount as tc

FEWEST_ITEMS = 100
"""Smaller classes are left out: a third of so few items is no population."""
MOST_UNLABELED = 500
AS_FOUND, SPLIT = "10 each on average", "20 each, outputs split"
UCI_DESIGNS: dict[str, int] = {"5 each": 5, "20 each": 20, "100 each": 100, AS_FOUND: 10, SPLIT: 20}
PANDALM_BOXES = {"gpt35_label": (0, 1, 2, "garbage"), "pandalm7b_label": (0, 1, 2)}
XSTEST_BOXES = ("gpt4_label", "strmatch_label")
XSTEST_LABELED, OPENQA_LABELED = 45, 20


@dataclass(frozen=True)
class Problem:
    """Counts and the truth behind them; problems of one cluster share data, those of two do not."""

    source: str
    design: str
    cluster: object
    counts: tc.Counts
    realized: np.ndarray
    population: np.ndarray | None = None

    @property
    def setting(self) -> tuple[str, str]:
        """What is averaged over."""
        return self.source, self.design


def uci(name: str, *, repetitions: int, designs: tuple[str, ...] = tuple(UCI_DESIGNS)) -> Iterator[Problem]:
    """Thirds of a UCI set train the box, are labelled and are sampled from; it is split anew for every repetition.

    A linear box and a forest take turns. The prevalence of the unlabelled items is uniform on the simplex and their
    composition is drawn from it, so that every composition is equally likely: the artificial prevalence protocol. Both
    truths are then known, the share among the items and the one in the population.
    """
    features, labels = _read_uci(name)
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        training, labeled, pool = np.array_split(rng.permutation(len(labels)), 3)
        box = LinearDiscriminantAnalysis() if seed % 2 else _forest(seed)
        scores = box.fit(features[training], labels[training]).predict_proba(features)
        population, drawn = _shifted_sample(rng, labels, pool)
        for design in designs:
            chosen = _choose_labels(rng, labels, labeled, design)
            outputs, number = _outputs(scores, labeled, split=design == SPLIT)
            yield Problem(f"uci {name}", design, seed, *_tally(labels, outputs, number, chosen, drawn), population)


def pbmc() -> Iterator[Problem]:
    """Blood cells: a forest is trained on one sample, the second is labelled, the third is counted, in every order."""
    folder = _folder() / "pbmc_three_samples"
    cells, expression = pd.read_csv(folder / "cells.csv"), load_npz(folder / "expression.npz")
    labels = np.unique(cells["cell_type"], return_inverse=True)[1]
    for number, order in enumerate(permutations(sorted(set(cells["donor"])))):
        training, labeled, counted = (np.flatnonzero(cells["donor"] == sample) for sample in order)
        outputs = _forest(number).fit(expression[training], labels[training]).predict(expression)
        yield Problem("pbmc", "a sample", order, *_tally(labels, outputs, labels.max() + 1, labeled, counted))


def pandalm(*, repetitions: int) -> Iterator[Problem]:
    """Judges of pairwise comparisons: one pair of models is labelled, another is counted, no application on both."""
    frame = pd.read_csv(_folder() / "pandalm_judges" / "labels.csv")
    for seed, (labeled, counted) in enumerate(_pairs(frame["group"], repetitions)):
        first = _half(frame["motivation_app"], seed)
        sides = frame[(frame["group"] == labeled) & first], frame[(frame["group"] == counted) & ~first]
        for box, outputs in PANDALM_BOXES.items():
            names = [str(output) for output in outputs]
            yield _judged(f"pandalm {box}", "another pair", counted, *sides, box, ["0", "1", "2"], names)


def xstest(*, repetitions: int) -> Iterator[Problem]:
    """Judges of refusals: some answers of a model are labelled, its others are counted."""
    frame = pd.read_csv(_folder() / "xstest_refusals" / "labels.csv")
    for seed in range(repetitions):
        for group, answers in frame.groupby("group"):
            shuffled = answers.sample(frac=1, random_state=seed)
            sides = shuffled[:XSTEST_LABELED], shuffled[XSTEST_LABELED:]
            for box in XSTEST_BOXES:
                classes, names = sorted(set(frame["truth"])), sorted(set(frame[box]))
                yield _judged(f"xstest {box}", "same model", group, *sides, box, classes, names)


def openqa(*, repetitions: int) -> Iterator[Problem]:
    """A judge of answers: a few answers of one system are labelled, those of another to other questions are counted."""
    frame = pd.read_csv(_folder() / "openqa_judges" / "labels.csv").dropna(subset=["gpt4_label"])
    for seed, (labeled, counted) in enumerate(_pairs(frame["group"], repetitions)):
        first = _half(frame["question"], seed)
        few = frame[(frame["group"] == labeled) & first].sample(OPENQA_LABELED, random_state=seed)
        rest = frame[(frame["group"] == counted) & ~first]
        yield _judged("openqa gpt4_label", "another system", counted, few, rest, "gpt4_label", ["No", "Yes"])


def _folder() -> Path:
    return Path(os.environ["TRUECOUNT_DATA"])


@cache
def _read_uci(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and class codes of the classes that are large enough."""
    frame = pd.read_csv(_folder() / "uci" / f"{name}.tsv.gz", sep="\t")
    frame = frame[frame.groupby("target")["target"].transform("size") >= FEWEST_ITEMS]
    labels = np.unique(frame.pop("target"), return_inverse=True)[1]
    return frame.to_numpy(float), labels


def _forest(seed: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(30, min_samples_leaf=2, random_state=seed)


def _shifted_sample(rng: np.random.Generator, labels: np.ndarray, pool: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw a prevalence and, without replacement, items of it: at most about two thirds of what there is of a class."""
    available = np.bincount(labels[pool])
    prevalence = rng.dirichlet(np.ones(len(available)))
    size = int(min(MOST_UNLABELED, (available / prevalence).min() * 2 / 3))
    composition = rng.multinomial(size, prevalence)
    while (composition > available).any():
        composition = rng.multinomial(size, prevalence)
    each = [rng.choice(pool[labels[pool] == code], number, replace=False) for code, number in enumerate(composition)]
    return prevalence, np.concatenate(each)


def _choose_labels(rng: np.random.Generator, labels: np.ndarray, labeled: np.ndarray, design: str) -> np.ndarray:
    number = UCI_DESIGNS[design]
    if design == AS_FOUND:
        return rng.choice(labeled, number * (labels.max() + 1), replace=False)
    return _so_many_each(rng, labels, labeled, number)


def _so_many_each(rng: np.random.Generator, labels: np.ndarray, labeled: np.ndarray, number: int) -> np.ndarray:
    """So many labelled items of each class, or all that there are."""
    shuffled = rng.permutation(labeled)
    return np.concatenate([shuffled[labels[shuffled] == code][:number] for code in range(labels.max() + 1)])


def _outputs(scores: np.ndarray, labeled: np.ndarray, *, split: bool) -> tuple[np.ndarray, int]:
    """The likeliest class; split, there are two outputs for each, one for scores in the upper half. And how many."""
    best, score, number = scores.argmax(axis=1), scores.max(axis=1), scores.shape[1]
    return (best + number * (score > np.median(score[labeled])), 2 * number) if split else (best, number)


def _tally(
    labels: np.ndarray, outputs: np.ndarray, number: int, labeled: np.ndarray, counted: np.ndarray
) -> tuple[tc.Counts, np.ndarray]:
    """Counts with that number of outputs, and the shares among the counted items."""
    table = np.zeros((labels.max() + 1, number), int)
    np.add.at(table, (labels[labeled], outputs[labeled]), 1)
    unlabeled = np.bincount(outputs[counted], minlength=number)
    return tc.Counts(table, unlabeled), np.bincount(labels[counted], minlength=len(table)) / len(counted)


def _pairs(groups: pd.Series, repetitions: int) -> Iterator[tuple[str, str]]:
    """Count every group, with so many of the groups that follow it, in turn, as the labelled one."""
    names = sorted(set(groups))
    for step in range(1, repetitions + 1):
        yield from ((names[(place + step) % len(names)], name) for place, name in enumerate(names))


def _half(values: pd.Series, seed: int) -> pd.Series:
    """Say of every row whether its value is in a random half of all values."""
    distinct = np.unique(values)
    return values.isin(np.random.default_rng(seed).permutation(distinct)[: len(distinct) // 2])


def _judged(
    source: str,
    design: str,
    cluster: object,
    labeled: pd.DataFrame,
    counted: pd.DataFrame,
    box: str,
    classes: list[str],
    outputs: list[str] | None = None,
) -> Problem:
    """Count what a judge said."""
    columns = [column.astype(str).to_numpy() for column in (labeled["truth"], labeled[box], counted[box])]
    counts = tc.count(*columns, classes=classes, outputs=outputs or classes)
    shares = counted["truth"].astype(str).value_counts(normalize=True).reindex(classes, fill_value=0)
    return Problem(source, design, cluster, counts, shares.to_numpy())
