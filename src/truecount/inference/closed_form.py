"""Independent draws from a posterior in closed form, where labels tell P(class | output): nothing to converge."""

import numpy as np

from truecount._types import FloatArray
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.inference.run import ClosedForm
from truecount.models import GivenOutput


def sample_closed_form(posterior: GivenOutput, *, draws: int, seed: int) -> Draws:
    """Draw the shares of the classes, ``π = Σ_k q_k ρ[·|k]``, and the confusion that goes with them."""
    rng = np.random.default_rng(seed)
    outputs = dirichlet(rng, posterior.seen + 1 / len(posterior.seen), (draws,))
    classes = dirichlet(rng, (posterior.labeled + posterior.prior).T, (draws,))
    joint = (outputs[:, :, None] * classes).transpose(0, 2, 1)
    prevalence = joint.sum(axis=2)
    stride = confusion_stride(draws, posterior.labeled.size)
    return Draws(
        prevalence=prevalence,
        confusion=_rows(joint[::stride], prevalence[::stride]),
        stride=stride,
        effective=np.full(len(posterior.labeled), float(draws)),
        run=ClosedForm(),
    )


def _rows(joint: FloatArray, prevalence: FloatArray) -> FloatArray:
    """P(output | class), even where a class has no share to speak of."""
    even = np.full_like(joint, 1 / joint.shape[2])
    rows: FloatArray = np.divide(joint, prevalence[..., None], out=even, where=prevalence[..., None] > 0)
    return rows
