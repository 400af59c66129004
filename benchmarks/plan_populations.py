"""Populations that plans are carried out on: simulated, OpenQA with two judges, and UCI sets with a classifier."""

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import truecount as tc
from truecount.planning.row_belief import RowBelief

DATA = Path(os.environ.get("TRUECOUNT_DATA", "."))
YES_NO = ("Yes", "No")


@dataclass(frozen=True)
class Population:
    """Items that can be drawn: the outputs of the items of each class, and the shares of the classes."""

    outputs: list[np.ndarray]
    shares: np.ndarray
    n_outputs: int

    @property
    def rows(self) -> np.ndarray:
        """Shape (classes, outputs): P(output | class)."""
        counted = [np.bincount(own, minlength=self.n_outputs) for own in self.outputs]
        return np.array([each / max(each.sum(), 1) for each in counted])

    def labels(self, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw so many items of each class; shape (classes, outputs)."""
        return np.array([rng.multinomial(size, row) for size, row in zip(sizes, self.rows, strict=True)])

    def items(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """Draw items of all classes; shape (classes, outputs)."""
        return self.labels(rng.multinomial(number, self.shares), rng)


Source = Callable[[np.random.Generator], Population]


def simulated(classes: int) -> Source:
    """Truths that differ from run to run."""

    def draw(rng: np.random.Generator) -> Population:
        quality = rng.uniform(0.7, 0.95, classes)
        rows = [np.where(np.arange(classes) == k, q, (1 - q) / (classes - 1)) for k, q in enumerate(quality)]
        outputs = [rng.choice(classes, 20_000, p=row) for row in rows]
        return Population(outputs, rng.dirichlet(np.full(classes, 2.0)), classes)

    return draw


def believed(classes: int) -> Source:
    """Truths drawn from what a plan believes before any label: its promise holds exactly, but for the items of a pilot.

    These tell of the rows what a plan does not take from them.
    """
    nothing = np.zeros((classes, classes), int)
    belief = RowBelief.of(tc.Prior(), tc.Counts(nothing, nothing[0]))

    def draw(rng: np.random.Generator) -> Population:
        rows = [rng.dirichlet(concentration) for concentration in belief.draw(rng, 1)[0]]
        outputs = [rng.choice(classes, 20_000, p=row) for row in rows]
        return Population(outputs, rng.dirichlet(np.ones(classes)), classes)

    return draw


def uci(name: str, cells: int = 1, *, is_shifted: bool = True) -> Source:
    """A logistic regression trained on a third of a set, which is split anew each time; the rest is drawn from.

    The shares of the classes differ from run to run where `is_shifted`; else they are those of the set. With `cells`,
    outputs are predictions by confidence, so many quantiles of it for each.
    """
    from uci import read

    features, labels = read(name)
    n_classes = int(labels.max()) + 1

    def draw(rng: np.random.Generator) -> Population:
        classes, outputs = _outputs(features, labels, rng, cells)
        own = [outputs[classes == k] for k in range(n_classes)]
        natural = np.bincount(classes, minlength=n_classes) / len(classes)
        shares = rng.dirichlet(np.full(n_classes, 2.0)) if is_shifted else natural
        return Population(own, shares, n_classes * cells)

    return draw


def _outputs(
    features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, cells: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return classes and outputs of the items that were not trained on."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    training, rest = np.split(rng.permutation(len(labels)), [len(labels) // 3])
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    scores = classifier.fit(features[training], labels[training]).predict_proba(features[rest])
    predicted, sure = classifier.classes_[scores.argmax(axis=1)], scores.max(axis=1)
    fine = np.zeros(len(rest), int)
    for output in np.unique(predicted) if cells > 1 else ():
        own = predicted == output
        fine[own] = np.searchsorted(np.quantile(sure[own], np.arange(1, cells) / cells), sure[own])
    return labels[rest], predicted * cells + fine


def openqa(judge: str) -> Source:
    """Answers of all systems, judged by people and by a model; the share of right answers differs from run to run."""
    with (DATA / "openqa_judges" / "labels.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["truth"] in YES_NO and row[judge] in YES_NO]
    classes, outputs = (np.array([row[column] == "Yes" for row in rows]).astype(int) for column in ("truth", judge))
    own = [outputs[classes == k] for k in (0, 1)]
    return lambda rng: Population(own, rng.dirichlet(np.full(2, 2.0)), 2)
