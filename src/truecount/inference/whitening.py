"""Coordinates in which the posterior of many groups is nearly a standard normal.

The curvature of such a posterior is an arrowhead: hyperparameters meet everything, groups do not meet each other. With
``H_gg`` the block of group g and ``H_gh`` its meeting with the hyperparameters,

``hyper = centre + L y``,  ``latent_g = centre_g − H_gg⁻¹ H_gh (hyper − centre) + H_gg^(−½) z_g``,

where ``L Lᵀ`` inverts the Schur complement of the hyperparameters. The map is linear, so its Jacobian is constant. L is
lower triangular with sparse cells of the rows first, so that these depend on their own y alone, which trajectories
hold.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy import GroupDensity

STEP = 1e-4
"""Of the finite differences that give the curvature."""
LEAST_CURVATURE = 0.3
"""Of the hyperparameters, whose priors have about one."""
AT_ONCE = 40_000
"""Numbers in one array where chains are followed: what is made on the way then stays in the processor's cache."""
BATCH = 2_000_000
"""Numbers in one array of a batch of evaluations."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """A linear map from (y, z), nearly standard normal, to (hyper, latent)."""

    density: GroupDensity
    hyper: FloatArray
    latent: FloatArray
    factor: FloatArray
    coupling: FloatArray
    root: FloatArray
    inverse_root: FloatArray

    @classmethod
    def at(cls, density: GroupDensity, hyper: FloatArray, latent: FloatArray) -> "Whitening":
        """Take the curvature at this point, shapes (hyper,) and (latents, blocks)."""
        by_hyper, by_latent = _gradient_differences(density, hyper, latent)
        blocks = density.curvature(hyper[None], latent[None])[0].transpose(2, 0, 1)
        values, vectors = np.linalg.eigh(blocks)
        sizes = np.sqrt(np.maximum(values, 1e-8))[:, None]
        root, inverse = vectors / sizes, (vectors * sizes).transpose(0, 2, 1)
        meeting = by_latent.transpose(2, 1, 0)
        halves = np.matmul(root.transpose(0, 2, 1), meeting)
        schur = by_hyper - np.einsum("gdp,gdq->pq", halves, halves)
        eigenvalues, directions = np.linalg.eigh((schur + schur.T) / 2)
        covariance = directions / np.maximum(eigenvalues, LEAST_CURVATURE) @ directions.T
        order = np.argsort(~np.pad(density.rows.is_sparse, (0, len(hyper) - density.rows.size)), kind="stable")
        factor = np.zeros_like(covariance)
        factor[np.ix_(order, order)] = np.linalg.cholesky(covariance[np.ix_(order, order)])
        answer = -np.matmul(root, halves)
        coupling = np.matmul(answer, factor).transpose(1, 0, 2).reshape(latent.size, density.n_hyper)
        roots = (np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (root, inverse))
        return cls(density, hyper, latent, factor, coupling, *roots)

    def natural(self, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return hyperparameters (chain, hyper) and latent coordinates (chain, latent, block)."""
        moved = (y @ self.coupling.T).reshape(z.shape) + self.latent + _applied(self.root, z)
        return self.hyper + y @ self.factor.T, moved

    def standard(self, hyper: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (y, z) of this point."""
        y = self.standard_hyper(hyper)
        rest = latent - self.latent - (y @ self.coupling.T).reshape(latent.shape)
        return y, _applied(self.inverse_root, rest)

    def standard_hyper(self, hyper: FloatArray) -> FloatArray:
        """Return y of these hyperparameters."""
        return np.asarray(np.linalg.solve(self.factor, (hyper - self.hyper).T).T)

    def value_and_gradient(self, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-density and its gradients by y and z."""
        hyper, latent = self.natural(y, z)
        width = max(1, AT_ONCE // self.density.unlabeled.size)
        parts = [slice(at, at + width) for at in range(0, len(y), width)]
        found = [self.density.value_and_gradient(hyper[part], latent[part]) for part in parts]
        value, by_hyper, by_latent = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        by_y = by_hyper @ self.factor + by_latent.reshape(len(y), self.latent.size) @ self.coupling
        return value, by_y, _applied(self.root.swapaxes(0, 1), by_latent)


def _applied(blocks: FloatArray, values: FloatArray) -> FloatArray:
    """Apply each block's matrix, shape (latents, latents, blocks), to values (chain, latent, block)."""
    if blocks.shape[2] == 1:
        return (values[:, :, 0] @ blocks[:, :, 0].T)[:, :, None]
    total = blocks[:, 0] * values[:, None, 0]
    for column in range(1, len(blocks)):
        total += blocks[:, column] * values[:, None, column]
    return total


def _gradient_differences(
    density: GroupDensity, hyper: FloatArray, latent: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return minus the second derivatives by hyper and hyper (h, h), and by hyper and latent (h, latent, block)."""
    steps = np.repeat(np.eye(density.n_hyper), 2, axis=0) * STEP
    steps[1::2] *= -1
    batch = 2 * max(1, BATCH // (2 * density.unlabeled.size))
    by_hyper, by_latent = [np.empty((0, density.n_hyper))], [np.empty((0, *latent.shape))]
    for start in range(0, len(steps), batch):
        points = hyper + steps[start : start + batch]
        _, first, second = density.value_and_gradient(points, np.broadcast_to(latent, (len(points), *latent.shape)))
        by_hyper.append((first[1::2] - first[::2]) / (2 * STEP))
        by_latent.append((second[1::2] - second[::2]) / (2 * STEP))
    return np.concatenate(by_hyper), np.concatenate(by_latent)
