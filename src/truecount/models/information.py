"""How much counts will tell about the prevalence, before they are counted: the Fisher information of the model."""

from functools import cache

import numpy as np

from truecount._types import FloatArray


def expected_covariance(
    confusion: FloatArray,
    prevalence: FloatArray,
    *,
    labeled: FloatArray,
    unlabeled: float,
    prior: FloatArray,
) -> FloatArray:
    """Return the covariance that the posterior of the prevalence will have, by its Fisher information.

    ``J = φ V⁻ φᵀ`` with ``V = Σ(q)/N′ + Σ_l π_l² Σ(φ_l)/n_l`` and ``Σ(p) = diag p − p pᵀ``: unlabelled outputs vary
    around ``q = φᵀπ``, and the rows of φ are known from the labels only. The prior's precision is added.

    Parameters
    ----------
    confusion
        Shape (..., classes, outputs): φ, all above zero.
    prevalence
        Shape (..., classes): π.
    labeled
        Shape (classes,): labelled items of each class, pseudo-items of the row prior included.
    unlabeled
        How many unlabelled items there will be.
    prior
        Shape (classes,): Dirichlet concentration of the prevalence.

    Returns
    -------
    Shape (..., classes, classes).

    Notes
    -----
    The rows are integrated out of the joint information, which leaves J exactly. As an approximation of the posterior
    it is right for many items and for a prevalence that is not on the edge.

    Examples
    --------
    >>> rows, none = np.array([[0.7, 0.3], [0.1, 0.9]]), np.full(2, 1e9)
    >>> covariance = expected_covariance(rows, np.full(2, 0.5), labeled=none, unlabeled=1000, prior=np.ones(2))
    >>> round(float(np.sqrt(covariance[0, 0])), 4), round(float(np.sqrt(0.4 * 0.6 / 1000) / 0.6), 4)
    (0.0257, 0.0258)
    """
    outputs = np.einsum("...l,...lk->...k", prevalence, confusion)
    rows = np.einsum("...l,...lij->...ij", prevalence**2 / labeled, _scatter(confusion))
    tangent, of_outputs = _tangent(prevalence.shape[-1]), _tangent(outputs.shape[-1])
    variance = of_outputs.T @ (_scatter(outputs) / unlabeled + rows) @ of_outputs
    slopes = tangent.T @ confusion @ of_outputs
    before = np.linalg.inv(tangent.T @ _dirichlet_covariance(prior) @ tangent)
    learned = slopes @ np.linalg.inv(variance) @ slopes.swapaxes(-1, -2)
    covariance: FloatArray = tangent @ np.linalg.inv(learned + before) @ tangent.T
    return covariance


def _scatter(shares: FloatArray) -> FloatArray:
    """``diag p − p pᵀ`` along the last axis."""
    scatter: FloatArray = shares[..., None] * (np.eye(shares.shape[-1]) - shares[..., None, :])
    return scatter


def _dirichlet_covariance(concentration: FloatArray) -> FloatArray:
    total = concentration.sum()
    covariance: FloatArray = _scatter(concentration / total) / (total + 1)
    return covariance


@cache
def _tangent(size: int) -> FloatArray:
    """Shape (size, size − 1): orthonormal directions that keep the sum."""
    directions: FloatArray = np.linalg.qr(np.eye(size) - 1 / size)[0][:, : size - 1]
    directions.flags.writeable = False
    return directions
