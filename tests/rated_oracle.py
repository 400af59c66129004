"""The exact posterior where labels err: every way to give a few items their classes is summed, in closed form."""

from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import gammaln


def log_beta(concentrations):
    """Return the logarithm of the integral of a Dirichlet distribution, along the last axis."""
    return gammaln(concentrations).sum(axis=-1) - gammaln(concentrations.sum(axis=-1))


def splits(items, n_classes):
    """Return every split of cells of items into classes, (splits, classes, cells), and the logarithm of its ways."""
    of_cell = [
        np.array([each for each in product(range(number + 1), repeat=n_classes) if sum(each) == number])
        for number in items
    ]
    places = np.indices([len(each) for each in of_cell]).reshape(len(items), -1)
    split = np.stack([each[place] for each, place in zip(of_cell, places, strict=True)], axis=2).astype(float)
    return split, (gammaln(np.asarray(items) + 1.0) - gammaln(split + 1).sum(axis=1)).sum(axis=1)


class Oracle:
    """Weights of all splits of labelled (first axis) and unlabelled items (second axis), and what follows from them."""

    def __init__(self, density):
        patterns, outputs = np.nonzero(density.labeled)
        n_classes, (groups, n_outputs) = len(density.prevalence), density.unlabeled.shape
        by_class, ways = splits(density.labeled[patterns, outputs].astype(int), n_classes)
        self.density = density
        self.labeled = by_class @ np.eye(n_outputs)[outputs]
        self.shares = density.shares + by_class.sum(axis=2)
        self.raters = np.tile(density.raters, (len(ways), 1, 1, 1))
        weights = ways + log_beta(self.shares)
        for cell, pattern in enumerate(patterns):
            for rater, label in zip(density.rater_of, density.labels[pattern], strict=True):
                if label >= 0:
                    self.raters[:, rater, :, label] += by_class[:, :, cell]
        is_known = ~np.isnan(density.known[:, 0, 0])
        weights += log_beta(self.raters[:, ~is_known]).sum(axis=(1, 2))
        said = (self.raters - density.raters)[:, is_known]
        weights += (said * np.log(density.known[is_known])).sum(axis=(1, 2, 3))
        new, ways = splits(density.unlabeled.astype(int).ravel(), n_classes)
        self.new = new.reshape(-1, n_classes, groups, n_outputs)
        self.prevalence = density.prevalence + self.new.sum(axis=3).transpose(0, 2, 1)
        table = weights[:, None] + (ways + log_beta(self.prevalence).sum(axis=1))
        kinds, kind = np.unique(self.labeled.reshape(len(self.labeled), -1), axis=0, return_inverse=True)
        self.kinds, self.kind = kinds.reshape(-1, n_classes, n_outputs), kind.ravel()
        table += np.array([log_beta(self.rows(each)).sum(axis=1) for each in range(len(kinds))])[self.kind]
        self.weights = np.exp(table - table.max())
        self.weights /= self.weights.sum()

    def rows(self, kind):
        """Return concentrations of the classifier's rows for one table of labelled items, and all unlabelled ones."""
        return self.density.rows + self.kinds[kind] + self.new.sum(axis=2)

    @cached_property
    def moments(self):
        """Return exact means of prevalence, confusion, shares behind the labels and raters, and of their squares.

        Means of the first group's prevalence times the confusion, (classes, classes, outputs), are beside them.
        """
        shares = _moments(self.prevalence)
        by_new, by_labeled = self.weights.sum(axis=0), self.weights.sum(axis=1)
        rows, products = 0.0, 0.0
        for kind in range(len(self.kinds)):
            weight = self.weights[self.kind == kind].sum(axis=0)
            means = _moments(self.rows(kind))
            rows = rows + np.tensordot(weight, means, (0, 1))
            products = products + np.einsum("n,nl,nmk->lmk", weight, shares[0, :, 0], means[0], optimize=True)
        return {
            "prevalence": np.tensordot(by_new, shares, (0, 1)),
            "confusion": rows,
            "labeled_prevalence": np.tensordot(by_labeled, _moments(self.shares), (0, 1)),
            "raters": np.tensordot(by_labeled, _moments(self.raters), (0, 1)),
            "products": products,
        }

    def draw(self, number, rng):
        """Return independent draws: prevalence, confusion, and labelled items by class and output."""
        places = rng.choice(self.weights.size, number, p=self.weights.ravel())
        labeled, new = np.divmod(places, self.weights.shape[1])
        rows = self.density.rows + self.labeled[labeled] + self.new[new].sum(axis=2)
        drawn = [rng.standard_gamma(each) for each in (self.prevalence[new], rows)]
        return *(each / each.sum(axis=-1, keepdims=True) for each in drawn), self.labeled[labeled]


def _moments(concentrations):
    """Return means of Dirichlet shares, and of their squares."""
    total = concentrations.sum(axis=-1, keepdims=True)
    mean = concentrations / total
    return np.stack([mean, mean * (concentrations + 1) / (total + 1)])
