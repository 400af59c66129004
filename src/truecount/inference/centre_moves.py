"""Moves of the centre far along one class: where all groups may lack a class, its logarithm has a long tail.

There the items say nothing of how small the class is, and only the prior of the centre, which falls off exponentially,
ends the tail. Trajectories are as long as the bulk of the posterior is wide, and take many of them to come back.
"""

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy import GroupDensity

MOVES = 3
"""Of each chain at a time."""
SHORTEST, LONGEST = 0.3, 6.0
"""Standard deviations of the steps, of the logarithm of a class's share against the others."""


def move_centre(density: GroupDensity, hyper: FloatArray, latent: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return hyperparameters of every chain after steps of the centre, each along one class, latents as they are."""
    inverse, first = np.linalg.pinv(density.centre.basis), density.rows.size
    with np.errstate(all="ignore"):
        value = density.value_and_gradient(hyper, latent)[0]
        for _ in range(MOVES):
            sizes = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), len(hyper)))
            along = inverse[:, rng.integers(inverse.shape[1], size=len(hyper))].T
            trial = hyper.copy()
            trial[:, first : first + len(inverse)] += (sizes * rng.standard_normal(len(hyper)))[:, None] * along
            found = density.value_and_gradient(trial, latent)[0]
            accept = np.log(rng.random(len(hyper))) < np.where(np.isfinite(found), found - value, -np.inf)
            hyper, value = np.where(accept[:, None], trial, hyper), np.where(accept, found, value)
    return hyper
