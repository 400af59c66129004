"""Posteriors that trust the unlabelled items less: the cut one, and a tempered one."""

from dataclasses import replace

import numpy as np

from truecount._simplex import project_to_simplex
from truecount._types import FloatArray
from truecount.inference.draws import Draws, Engine, dirichlet, draw_rows
from truecount.models import Density

SWEEPS = 100


def cut_draws(model: Density, *, draws: int = 1000, seed: int = 0, sweeps: int = SWEEPS) -> FloatArray:
    """Shape (draws, classes): shares given rows that only the labels may move.

    Every draw takes the rows from the labels alone, ``φ ~ Dir(β + F)``, and then the shares from ``p(π | φ, n)`` of
    those very rows. Reweighting would give the full posterior back; here a misspecified unlabelled side cannot move φ.
    The shares start from outputs drawn of ``Dir(n + 1)``, solved for π, which inside the simplex is exact for as many
    outputs as classes and a flat prior, and then take Gibbs sweeps with the rows held.
    """
    rng = np.random.default_rng(seed)
    confusion = draw_rows(rng, model, 0.0, (draws,))
    outputs = dirichlet(rng, model.unlabeled + 1, (draws,))
    solved = np.einsum("dk,dkl->dl", outputs, np.linalg.pinv(confusion))
    prevalence = np.maximum(project_to_simplex(solved), 1e-6)
    items = np.rint(model.unlabeled).astype(np.int64)
    for _ in range(sweeps):
        joint = prevalence[:, :, None] * confusion
        total = joint.sum(axis=1, keepdims=True)
        given_output = np.divide(joint, total, out=np.full_like(joint, 1 / len(model.rows)), where=total > 0)
        given_output /= given_output.sum(axis=1, keepdims=True)
        allocated = rng.multinomial(items, given_output.transpose(0, 2, 1)).sum(axis=1)
        gammas = np.maximum(rng.standard_gamma(model.prevalence + allocated), 1e-300)
        prevalence = gammas / gammas.sum(axis=1, keepdims=True)
    return prevalence


def tempered_draws(model: Density, engine: Engine, *, power: float = 0.5, seed: int = 0) -> Draws:
    """Draw where every unlabelled item counts for a part of one: their likelihood raised to a power."""
    return engine.sample(replace(model, unlabeled=power * model.unlabeled), seed)
