"""How far a move that should leave draws as they are has shifted them."""

import numpy as np


def deviations(before, after):
    """How far means of shares, rows, their squares and logarithms moved, in standard errors."""
    chains = len(before[0])
    values = [np.concatenate([part.reshape(chains, -1) for part in each], axis=1) for each in (before, after)]
    shift = [change(values[1]) - change(values[0]) for change in (np.asarray, np.square, lambda x: np.log(x + 1e-3))]
    shift = np.concatenate(shift, axis=1)
    spread = shift.std(axis=0)
    return np.abs(shift.mean(axis=0))[spread > 0] / spread[spread > 0] * np.sqrt(chains)
