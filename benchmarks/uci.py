"""Scores of a plain classifier on real sets, in samples of shifted prevalence; for what compares methods."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from truecount import Scores

ITEMS = 300


def samples(name: str, two_classes: bool = False, *, number: int) -> Iterator[tuple[Scores, np.ndarray]]:
    """Draw samples whose prevalence is uniform on the simplex, each with the shares that it really has.

    A logistic regression is trained on one third of the set, the second third is labelled, and the samples come from
    the last. The set is split anew for each, because samples from one split share its luck.
    """
    features, labels = read(name)
    if two_classes:
        labels = (labels == np.bincount(labels).argmax()).astype(int)
    for seed in range(number):
        rng = np.random.default_rng(seed)
        training, labeled, pool = np.array_split(rng.permutation(len(labels)), 3)
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
        scores = classifier.fit(features[training], labels[training]).predict_proba(features)
        drawn = rng.choice(pool, ITEMS, p=_chances(rng, labels[pool]))
        shares = np.bincount(labels[drawn], minlength=scores.shape[1]) / ITEMS
        yield Scores(scores[labeled], labels[labeled], scores[drawn]), shares


def _chances(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Set each item a chance such that the classes come in proportions that are drawn uniformly."""
    sizes = np.bincount(labels)
    chances = (rng.dirichlet(np.ones(len(sizes))) / sizes)[labels]
    return chances / chances.sum()


def read(name: str, together: Collection[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Features and class codes; these classes `together` against all others, if given."""
    frame = pd.read_csv(Path(os.environ["TRUECOUNT_DATA"]) / "uci" / f"{name}.tsv.gz", sep="\t")
    target = frame.pop("target")
    labels = target.isin(together) if together else target
    return frame.to_numpy(float), np.unique(labels, return_inverse=True)[1]
