"""Rows of the confusion in unbounded coordinates."""

from dataclasses import dataclass, field

import numpy as np

from truecount._types import FloatArray


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the confusion in unbounded coordinates: standardised logarithms of gammas of these shapes.

    Parameters
    ----------
    shapes
        Shape (classes, outputs): Dirichlet concentration of each row, labelled items included.
    known
        Shape (classes, outputs): rows that are known, NaN in those to be learned.
    """

    shapes: FloatArray
    known: FloatArray
    free: FloatArray = field(init=False)
    location: FloatArray = field(init=False)
    scale: FloatArray = field(init=False)
    stretch: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        from scipy.special import digamma, polygamma

        free = np.isnan(self.known[:, 0])
        shapes = self.shapes[free]
        tame = np.maximum(shapes, 1.0)
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "location", np.asarray(digamma(tame)))
        object.__setattr__(self, "scale", np.sqrt(polygamma(1, tame)))
        object.__setattr__(self, "stretch", 1 / np.minimum(shapes, 1.0) - 1)

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.location.size

    def natural(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the confusion, and log-gammas, their slope and their log-density at these coordinates.

        A gamma of shape a < 1 has a long left tail in its logarithm h, which ``h = y − (1/a − 1) · log(1 + exp(−y))``
        bends.
        """
        bent = self.location + self.scale * points.reshape(len(points), *self.location.shape)
        left = 1 / (1 + np.exp(bent))
        slope = 1 + self.stretch * left
        logs = bent - self.stretch * np.logaddexp(0, -bent)
        density = (self.shapes[self.free] * logs - np.exp(logs) + np.log(slope)).sum(axis=(1, 2))
        gammas = np.exp(logs - logs.max(axis=2, keepdims=True))
        confusion = np.broadcast_to(self.known, (len(points), *self.known.shape)).copy()
        confusion[:, self.free] = gammas / gammas.sum(axis=2, keepdims=True)
        return confusion, logs, slope, density

    def gradient(
        self, allocations: FloatArray, confusion: FloatArray, logs: FloatArray, slope: FloatArray
    ) -> FloatArray:
        """Return the gradient of likelihood and prior, given ``φ · ∂/∂φ`` of the likelihood (chain, class, output)."""
        pull = allocations[:, self.free]
        pull = pull - confusion[:, self.free] * pull.sum(axis=2, keepdims=True) + self.shapes[self.free] - np.exp(logs)
        left = (slope - 1) / np.where(self.stretch > 0, self.stretch, 1.0)
        bend = self.stretch * left * (1 - left) / slope
        gradient: FloatArray = (pull * slope - bend) * self.scale
        return gradient.reshape(len(pull), -1)
