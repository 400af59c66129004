"""A mixture of t distributions, fitted to weighted points: where hyperparameters are proposed."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray

DEGREES = 3.0
"""Of freedom: the tails are longer than those of most posteriors."""
ROUNDS = 30
"""Of expectation and maximisation."""
LEAST_SHARE = 0.02
"""Every part is proposed from at least so often."""
BORROWED = 0.1
"""Of the covariance of all points, which each part's covariance has at least, for each point and dimension."""


@dataclass(frozen=True, slots=True)
class TMixture:
    """Parts with probabilities (part,), means (part, d) and Cholesky factors of their scale matrices (part, d, d)."""

    probabilities: FloatArray
    means: FloatArray
    factors: FloatArray

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw points, shape (size, d)."""
        part = rng.choice(len(self.means), size, p=self.probabilities)
        noise = rng.standard_normal((size, self.means.shape[1]))
        noise *= np.sqrt(DEGREES / rng.chisquare(DEGREES, size))[:, None]
        return np.asarray(self.means[part] + np.matmul(self.factors[part], noise[..., None])[..., 0])

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return the log-density at points, up to a constant that depends on d alone."""
        size = self.means.shape[1]
        parts = []
        for probability, mean, factor in zip(self.probabilities, self.means, self.factors, strict=True):
            square = (np.linalg.solve(factor, (points - mean).T) ** 2).sum(axis=0)
            height = np.log(probability) - np.log(factor.diagonal()).sum()
            parts.append(height - 0.5 * (DEGREES + size) * np.log1p(square / DEGREES))
        return np.asarray(np.logaddexp.reduce(parts, axis=0))

    @classmethod
    def fitted(cls, points: FloatArray, weights: FloatArray, parts: int, rng: np.random.Generator) -> "TMixture":
        """Fit normal distributions to points (n, d) with weights that sum to one; their covariances become scales."""
        n_effective, size = 1 / (weights**2).sum(), points.shape[1]
        centred = points - weights @ points
        whole = centred.T @ (centred * weights[:, None]) + 1e-9 * np.eye(size)
        means = points[rng.choice(len(points), parts, p=weights)]
        probabilities, covariances = np.full(parts, 1 / parts), np.repeat(whole[None], parts, axis=0)
        for _ in range(ROUNDS):
            logs = []
            for probability, mean, factor in zip(probabilities, means, np.linalg.cholesky(covariances), strict=True):
                square = (np.linalg.solve(factor, (points - mean).T) ** 2).sum(axis=0)
                logs.append(np.log(probability) - np.log(factor.diagonal()).sum() - 0.5 * square)
            belongs = np.exp(logs - np.logaddexp.reduce(logs, axis=0)) * weights
            shares = belongs.sum(axis=1)
            probabilities = np.maximum(shares, LEAST_SHARE) / np.maximum(shares, LEAST_SHARE).sum()
            means = (belongs @ points + 1e-9 * means) / (shares + 1e-9)[:, None]
            around = points - means[:, None]
            own = np.matmul(around.swapaxes(1, 2), around * belongs[..., None])
            borrowed = BORROWED * (size + 1) / n_effective + 1e-9
            covariances = (own + borrowed * whole) / (shares + borrowed)[:, None, None]
        return cls(probabilities, means, np.asarray(np.linalg.cholesky(covariances)))
