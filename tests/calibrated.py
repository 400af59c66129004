"""Shapes of counts on which draws are calibrated by simulation."""

from dataclasses import dataclass

import numpy as np

from truecount import Prior
from truecount.diagnostics.calibration import Calibration, calibrate

ROWS = [[4, 1, 0.7], [1, 3, 2], [0.6, 1.5, 5]]
DATA_SETS = 300
"""As many show every planted bug of `test_sbc.py`, of which labels that count twice are the hardest to see."""
WIDE_ROWS = [[4, 1, 0.7, 1, 2], [1, 3, 2, 0.8, 1], [0.6, 1.5, 5, 1, 0.5]]


@dataclass(frozen=True)
class Shape:
    """Counts of one shape and an asymmetric prior."""

    prior: Prior
    labeled: list[int]
    unlabeled: int
    outputs: int

    def calibrate(self, draw, *, seed: int, data_sets: int = DATA_SETS, **options: int) -> Calibration:
        shape = {"labeled": self.labeled, "unlabeled": self.unlabeled, "outputs": self.outputs}
        return calibrate(draw, self.prior, **shape, data_sets=data_sets, seed=seed, **options)


SQUARE = Shape(Prior([2, 1, 3.5], ROWS), [9, 14, 6], 40, 3)
SHAPES = {
    "as many outputs": SQUARE,
    "two classes": Shape(Prior([1, 2.5], [[5, 1], [0.8, 3]]), [6, 8], 25, 2),
    "more outputs": Shape(Prior([2, 1, 3.5], WIDE_ROWS), [9, 14, 6], 40, 5),
    "fewer outputs": Shape(Prior([2, 1, 3.5], [[4, 1], [1, 3], [0.6, 1.5]]), [9, 14, 6], 40, 2),
    "a million unlabelled": Shape(Prior([2, 1, 3.5], ROWS), [90, 140, 60], 1_000_000, 3),
    "learned rows": Shape(Prior([2, 1, 3.5], "learned"), [9, 14, 6], 40, 3),
    "one known row": Shape(Prior.known_confusion([[0.8, 0.2], [np.nan] * 2], prevalence=[1, 2]), [0, 9], 30, 2),
}
