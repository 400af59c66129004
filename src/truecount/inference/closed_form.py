"""Independent draws from a posterior in closed form, where labels tell P(class | output): nothing to converge."""

import numpy as np

from truecount._types import FloatArray
from truecount.inference.draws import CONFUSION_BYTES, Draws, confusion_stride, dirichlet
from truecount.inference.run import ClosedForm
from truecount.models import GivenOutput


def sample_closed_form(posterior: GivenOutput, *, draws: int, seed: int) -> Draws:
    """Draw the shares of the classes, ``π = Σ_k q_k ρ[·|k]``, and the confusion that goes with them.

    Some draws at a time, as many as weigh no more than what is kept of the confusion.
    """
    rng = np.random.default_rng(seed)
    outputs = dirichlet(rng, posterior.seen + 1 / len(posterior.seen), (draws,))
    stride = confusion_stride(draws, posterior.labeled.size)
    at_once = max(1, CONFUSION_BYTES // (8 * posterior.labeled.size))
    prevalence, confusion = [], []
    for start in range(0, draws, at_once):
        part = outputs[start : start + at_once]
        classes = dirichlet(rng, (posterior.labeled + posterior.prior).T, (len(part),))
        joint = (part[:, :, None] * classes).transpose(0, 2, 1)
        prevalence.append(joint.sum(axis=2))
        kept = slice(-start % stride, None, stride)
        confusion.append(_rows(joint[kept], prevalence[-1][kept]))
    return Draws(
        prevalence=np.concatenate(prevalence),
        confusion=np.concatenate(confusion),
        stride=stride,
        effective=np.full(len(posterior.labeled), float(draws)),
        run=ClosedForm(),
    )


def _rows(joint: FloatArray, prevalence: FloatArray) -> FloatArray:
    """P(output | class), even where a class has no share to speak of."""
    even = np.full_like(joint, 1 / joint.shape[2])
    rows: FloatArray = np.divide(joint, prevalence[..., None], out=even, where=prevalence[..., None] > 0)
    return rows
