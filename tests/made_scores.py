"""Scores that are calibrated at the labelled prevalence, from Gaussian classes whose prevalence shifts."""

import numpy as np

from truecount.scores.scores import Scores


def shifted_scores(
    rng: np.random.Generator,
    *,
    labeled_prevalence: list[float],
    prevalence: list[float],
    items: int,
    unlabeled_items: int | None = None,
    distance: float = 1.5,
) -> Scores:
    """Draw items of classes at ``0, distance, 2 distance, …`` on a line, and score them by Bayes's rule."""
    shares = np.asarray(labeled_prevalence)
    labels = rng.choice(len(shares), items, p=shares)
    truth = rng.choice(len(shares), unlabeled_items or items, p=prevalence)

    def score(classes: np.ndarray) -> np.ndarray:
        places = distance * classes + rng.standard_normal(len(classes))
        densities = shares * np.exp(-0.5 * (places[:, None] - distance * np.arange(len(shares))) ** 2)
        return densities / densities.sum(axis=1, keepdims=True)

    return Scores(score(labels), labels, score(truth))
