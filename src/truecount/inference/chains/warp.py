"""A gamma of shape below one has a long left tail in its logarithm; bend it to be no longer than that of shape one."""

import numpy as np

from truecount._types import FloatArray
from truecount.inference.chains.coordinates import Coordinates


class Warped:
    """Replace a coordinate h of shape a < 1 by y, where ``h = y − (1/a − 1) · log(1 + exp(−y))``.

    Far to the left h is y/a, so a tail ``exp(a h)`` becomes ``exp(y)``; to the right nothing changes.
    """

    def __init__(self, inner: Coordinates) -> None:
        self.inner, self.shapes = inner, inner.shapes
        self.where = np.flatnonzero(inner.shapes < 1)
        self.stretch = 1 / inner.shapes[self.where] - 1

    def scale(self) -> FloatArray:
        """No stretched coordinate varies by much more than one."""
        return np.minimum(self.inner.scale(), 1.2)

    def point(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Return the inner coordinates' point, bent."""
        return self._bent(self.inner.point(prevalence, confusion))

    def moved(self, point: FloatArray, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Move the inner coordinates' point."""
        return self._bent(self.inner.moved(self._forward(point)[0], prevalence, confusion))

    def _bent(self, point: FloatArray) -> FloatArray:
        """Solve for the coordinates by Newton's method."""
        target = point[:, self.where]
        bent = np.where(target < 0, target / (1 + self.stretch), target)
        for _ in range(30):
            left = 1 / (1 + np.exp(bent))
            bent -= (bent - self.stretch * np.logaddexp(0, -bent) - target) / (1 + self.stretch * left)
        point[:, self.where] = bent
        return point

    def _forward(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        bent = point[:, self.where]
        inner = point.copy()
        inner[:, self.where] = bent - self.stretch * np.logaddexp(0, -bent)
        return inner, 1 / (1 + np.exp(bent))

    def gradient(self, point: FloatArray) -> FloatArray:
        """Chain rule, and the gradient of the log-Jacobian."""
        inner, left = self._forward(point)
        slope = 1 + self.stretch * left
        gradient = self.inner.gradient(inner)
        gradient[:, self.where] = gradient[:, self.where] * slope - self.stretch * left * (1 - left) / slope
        return gradient

    def log_density(self, point: FloatArray) -> FloatArray:
        """Inner log-density and the log-Jacobian."""
        inner, left = self._forward(point)
        value: FloatArray = self.inner.log_density(inner) + np.log1p(self.stretch * left).sum(axis=1)
        return value

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prevalence and confusion."""
        return self.inner.natural(self._forward(point)[0])

    def logs(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of prevalence and confusion."""
        return self.inner.logs(self._forward(point)[0])

    def pull(self, point: FloatArray, by_class: FloatArray, by_cell: FloatArray) -> FloatArray:
        """Apply the chain rule."""
        inner, left = self._forward(point)
        gradient = self.inner.pull(inner, by_class, by_cell)
        gradient[:, self.where] *= 1 + self.stretch * left
        return gradient
