"""The centre of the groups' log-ratios: a share, and what covariates add to it."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray


@dataclass(frozen=True, slots=True)
class Centre:
    """Coefficients of the groups' centre.

    Parameters
    ----------
    concentration
        Shape (classes,): Dirichlet prior of the share at the intercept.
    design
        Shape (columns, groups): a group's centre is the sum of its columns times their coefficients; the first column
        is one throughout. Without columns the centre is even shares.
    basis
        The map from log-ratios to logarithms of shares.
    effect_scale
        Scale of the normal prior of all coefficients but the intercept.
    """

    concentration: FloatArray
    design: FloatArray
    basis: FloatArray
    effect_scale: float = 1.0

    def located(self, coefficients: FloatArray) -> FloatArray:
        """Return the centre of each group (chain, log-ratio, group), of coefficients (chain, column, log-ratio)."""
        return np.asarray(np.matmul(coefficients.transpose(0, 2, 1), self.design))

    def gradient(self, by_location: FloatArray) -> FloatArray:
        """Return the gradient by coefficients, of that by each group's centre."""
        return np.asarray(np.matmul(by_location, self.design.T).transpose(0, 2, 1))

    def prior(self, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-prior (chain,) and its gradient."""
        if not len(self.design):
            return np.zeros(len(coefficients)), np.zeros_like(coefficients)
        logs = coefficients[:, 0] @ self.basis.T
        logs = logs - np.logaddexp.reduce(logs, axis=1)[:, None]
        gradient = -coefficients / self.effect_scale**2
        gradient[:, 0] = (self.concentration - self.concentration.sum() * np.exp(logs)) @ self.basis
        effects = 0.5 * (coefficients[:, 1:] ** 2).sum(axis=(1, 2)) / self.effect_scale**2
        return logs @ self.concentration - effects, gradient
