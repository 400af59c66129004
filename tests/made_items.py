"""Items of Gaussian classes, whose posterior class probabilities are known, with any shares."""

import numpy as np

DISTANCE = 2.0


def made_items(rng: np.random.Generator, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Two features and a class for each item: so many of each class, in an order drawn at random."""
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    angles = 2 * np.pi * labels / len(sizes)
    centers = DISTANCE / np.sqrt(2) * np.column_stack([np.cos(angles), np.sin(angles)])
    return centers + rng.standard_normal((len(labels), 2)), labels


def probabilities(items: np.ndarray, shares: list[float]) -> np.ndarray:
    """P(class | item) by Bayes's rule, where the classes have these shares."""
    angles = 2 * np.pi * np.arange(len(shares)) / len(shares)
    centers = DISTANCE / np.sqrt(2) * np.column_stack([np.cos(angles), np.sin(angles)])
    weights = shares * np.exp(-0.5 * ((items[:, None] - centers) ** 2).sum(axis=2))
    return weights / weights.sum(axis=1, keepdims=True)
