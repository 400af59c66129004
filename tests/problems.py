"""Problems that every engine meets: ordinary ones, and each way in which counts can be awkward."""

from dataclasses import dataclass
from math import nan

from truecount import Counts, Prior, simulate
from truecount.models import Density, density

FLAT = Prior()


@dataclass(frozen=True)
class Problem:
    """Counts and a prior.

    Parameters
    ----------
    refused_by
        Names of the engines that must refuse it.
    """

    counts: Counts
    prior: Prior = FLAT
    refused_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.has_oracle:
            object.__setattr__(self, "refused_by", (*self.refused_by, "Quadrature"))

    @property
    def density(self) -> Density:
        return density(self.counts, self.prior)

    @property
    def has_oracle(self) -> bool:
        """Whether the answer is known without drawing."""
        return self.counts.labeled.shape == (2, 2)


def paper(
    classes: int, outputs: int, labeled: int, unlabeled: int, *, quality: float = 0.85, first: float = 0.7
) -> Counts:
    """Counts as in the paper's simulations: labels in equal shares, one class larger than the others elsewhere."""
    return simulate.counts(
        simulate.prevalence(first, classes),
        simulate.confusion(quality, classes, outputs),
        labeled=labeled,
        unlabeled=unlabeled,
        seed=1,
    )


NEARLY_SINGULAR = simulate.counts(
    [0.6, 0.3, 0.1], [[0.96, 0.02, 0.02], [0.02, 0.5, 0.48], [0.02, 0.48, 0.5]], labeled=500, unlabeled=500, seed=1
)
JUDGE = Counts([[140, 60], [20, 180]], [600, 400])
EMPTY_CLASS = [[0, 0, 0], [10, 80, 10], [5, 5, 90]]
CRAWLS = ("Gibbs",)

PROBLEMS = {
    "two classes": Problem(JUDGE),
    "two classes, asymmetric priors": Problem(JUDGE, Prior([3, 1.5], [[2, 1], [0.5, 4]])),
    "two classes, few of everything": Problem(Counts([[3, 1], [1, 2]], [4, 3])),
    "two classes, zero cells": Problem(Counts([[60, 0], [0, 40]], [30, 70])),
    "two classes, one without labels": Problem(Counts([[0, 0], [8, 72]], [60, 40])),
    "two classes, none of the first": Problem(Counts([[80, 20], [30, 170]], [38, 162])),
    "two classes, hardly any of the first": Problem(Counts([[399, 2], [19, 103]], [3280, 50])),
    "two classes, all outputs alike": Problem(Counts([[90, 10], [10, 90]], [0, 300])),
    "two classes, useless box": Problem(Counts([[30, 28], [31, 27]], [55, 45])),
    "two classes, nothing unlabelled": Problem(Counts([[14, 6], [2, 18]], [0, 0]), Prior([2, 1])),
    "two classes, a million unlabelled": Problem(paper(2, 2, 1000, 10**6), refused_by=CRAWLS),
    "two classes, sparse shares": Problem(Counts([[80, 20], [30, 170]], [45, 155]), Prior(0.5, "sparse")),
    "two classes, known rows": Problem(
        Counts([[0, 0], [0, 0]], [105, 45]), Prior.known_confusion([[0.89, 0.11], [0.04, 0.96]])
    ),
    "two classes, one known row": Problem(
        Counts([[0, 0], [20, 180]], [400, 600]), Prior.known_confusion([[0.89, 0.11], [nan, nan]])
    ),
    "five classes": Problem(paper(5, 5, 1000, 500)),
    "five classes, none of four": Problem(paper(5, 5, 1000, 500, first=1.0), refused_by=("Exact",)),
    "three classes, useless box": Problem(paper(3, 3, 150, 120, quality=1 / 3)),
    "five classes, a million unlabelled": Problem(paper(5, 5, 1000, 10**6), refused_by=CRAWLS),
    "three classes, nearly singular": Problem(NEARLY_SINGULAR),
    "three classes, one without labels": Problem(Counts(EMPTY_CLASS, [30, 40, 50])),
    "five classes, three outputs": Problem(paper(5, 3, 1000, 500), refused_by=CRAWLS),
    "five classes, nine outputs": Problem(paper(5, 9, 1000, 500)),
    "three classes, six outputs, sparse rows": Problem(paper(3, 6, 60, 150), Prior(confusion="sparse")),
    "three classes, two outputs, a million unlabelled": Problem(paper(3, 2, 1000, 10**6), refused_by=CRAWLS),
    "two classes, three outputs, a million unlabelled": Problem(paper(2, 3, 1000, 10**6), refused_by=CRAWLS),
    "three classes, one output": Problem(Counts([[9], [8], [7]], [50]), Prior([3, 2, 1])),
    "three classes, two known rows": Problem(
        Counts([[0, 0, 0], [0, 0, 0], [5, 5, 40]], [40, 30, 50]),
        Prior.known_confusion([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [nan, nan, nan]]),
    ),
}

KNOWN_4 = [nan] * 4, [0.3714119675606016, 0.2083646332093629, 0.22302049696666407, 0.1972029022633714]
KNOWN_5 = (
    [nan] * 5,
    [0.07570183466234641, 0.05486521541763792, 0.44956033715182386, 0.08381460070239971, 0.33605801206579],
)
TWO_MODES = {
    "four outputs": (
        Counts([[0, 8, 0, 12], [4, 7, 6, 13]], [368, 162, 185, 85]),
        Prior.known_confusion(KNOWN_4),
        (0.86174879, 0.18711014),
    ),
    "five outputs": (
        Counts([[4, 1, 0, 0, 0], [1, 0, 18, 3, 8]], [21, 6, 270, 16, 187]),
        Prior.known_confusion(KNOWN_5, confusion=5.0),
        (0.82799396, 0.30051831),
    ),
}
"""Labels that contradict the outputs, and the mean and sd of the first class: sums over all allocations of the
unlabelled items (`benchmarks/attack_oracle.py`)."""
