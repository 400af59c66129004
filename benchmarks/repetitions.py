"""A classifier trained anew, and new items of another composition, again and again; for ``accuracy.py``.

Each repetition splits a set anew: 400 labelled items, drawn at random, and 200 new ones. The composition of the new
ones is drawn at random: a prevalence uniform on the simplex, then the number of items of each class given that. Every
composition is then as likely as every other, as in the artificial prevalence protocol. Their truth is the realized
share, that of the population they come from the prevalence.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from uci import read

from sklearn import config_context
from truecount import Scores

LABELED, NEW, FOLDS = 400, 200, 5
LOGISTIC = LogisticRegression(tol=1e-3, max_iter=300)
GOOD = (6, 7, 8, 9)
HARD = "wine-quality-white, 6 or not"
SETS = {
    "spambase": None,
    "page-blocks": (1,),
    "wine-quality-white": GOOD,
    "wine-quality-red": GOOD,
    "cmc": None,
    "waveform-21": None,
    "satimage": None,
    "optdigits": None,
    HARD: (6,),
}
"""Which classes are told from all others, where some are rare: text from the rest of a page, and good wines from bad
ones, as papers on quantification have them. The last problem is too hard for its classifier, on purpose."""


class Echo(BaseEstimator):
    """A fitted classifier that takes probabilities for features and gives them back."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.classes_ = np.arange(classes)

    def fit(self, features: np.ndarray, labels: np.ndarray) -> "Echo":
        """Nothing to learn."""
        return self

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """The probabilities."""
        return features

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The most probable class."""
        return features.argmax(axis=1)


@dataclass(frozen=True)
class Repetition:
    """Scores of labelled and new items, in three ways, and the truth.

    `crossed`: labelled items scored by five-fold cross-validation, new ones by the classifiers of the folds, in turns.
    `refitted`: the same, but new ones by a classifier trained on all labelled items.
    `separate`: half of the labelled items train the classifier, the other half is scored by it; so are the new ones.
    """

    crossed: Scores
    refitted: Scores
    separate: Scores
    prevalence: np.ndarray
    labels: np.ndarray

    @property
    def realized(self) -> np.ndarray:
        """The share of each class among the new items."""
        return np.bincount(self.labels, minlength=len(self.prevalence)) / len(self.labels)


def repetitions(name: str, number: int, classifier: BaseEstimator = LOGISTIC) -> Iterator[Repetition]:
    """Draw so many."""
    features, labels = read(name.partition(",")[0], SETS[name])
    features = scale(features)
    for seed in range(number):
        rng = np.random.default_rng([seed, *name.encode()])
        order = rng.permutation(len(labels))
        known, pool = order[:LABELED], order[LABELED:]
        prevalence = rng.dirichlet(np.ones(labels.max() + 1))
        new = _draw(rng, pool, labels[pool], rng.multinomial(NEW, prevalence))
        yield _scored(classifier, features, labels, known, new, prevalence)


def _draw(rng: np.random.Generator, pool: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Draw so many items of each class from a pool in random order; one twice only where it has too few."""
    drawn = []
    for label, size in enumerate(sizes):
        members = pool[labels == label]
        drawn.append(members[:size] if size <= len(members) else rng.choice(members, size))
    return np.concatenate(drawn)


def _scored(
    classifier: BaseEstimator,
    features: np.ndarray,
    labels: np.ndarray,
    known: np.ndarray,
    new: np.ndarray,
    prevalence: np.ndarray,
) -> Repetition:
    def score(training: np.ndarray, items: np.ndarray) -> np.ndarray:
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return clone(classifier).fit(features[training], labels[training]).predict_proba(features[items])

    training, held = known[: LABELED // 2], known[LABELED // 2 :]
    crossed, in_turns = np.empty((LABELED, len(prevalence))), np.empty((NEW, len(prevalence)))
    for turn, (rest, fold) in enumerate(StratifiedKFold(FOLDS).split(known, labels[known])):
        both = score(known[rest], np.append(known[fold], new[turn::FOLDS]))
        crossed[fold], in_turns[turn::FOLDS] = both[: len(fold)], both[len(fold) :]
    separate = score(training, np.append(held, new))
    return Repetition(
        Scores(crossed, labels[known], in_turns),
        Scores(crossed, labels[known], score(known, new)),
        Scores(separate[: len(held)], labels[held], separate[len(held) :]),
        prevalence,
        labels[new],
    )
