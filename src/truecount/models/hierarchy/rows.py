"""Rows of the confusion in unbounded coordinates."""

from dataclasses import dataclass, field

import numpy as np

from truecount._log_sum import log_sum
from truecount._types import BoolArray, FloatArray
from truecount.models.learned import Learned

TAIL = 3.0
"""Slope of the log-density far on the left, in standard deviations: about that of a normal one there."""
CLIFF = 0.2
"""Concentration, labels included, below which a cell is empty or not, with a cliff between in these coordinates."""
FAR = -30.0
"""Left of this ``log(1 + exp(s))`` is ``exp(s)`` to all digits, and would underflow farther on."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the confusion in unbounded coordinates: cube roots of gammas of these shapes, standardised.

    The cube root of a gamma is nearly normal (Wilson & Hilferty 1931), where its logarithm has a long left tail and a
    steep right side. With ``s = location + scale · coordinate`` a gamma of shape a is ``a · (log(1 + exp(s)) / k)³``,
    which is positive for every s. Gammas of shapes below 1/9 have no such mean: coordinate 0 is where their density, of
    an exponential tail on the left, is highest.

    Parameters
    ----------
    shapes
        Shape (classes, outputs): Dirichlet concentration of each row, labelled items included.
    known
        Shape (classes, outputs): rows that are known, NaN in those to be learned; or (chains, classes, outputs), where
        all are known and differ between chains.
    learned
        A prior of the rows that is learned; `shapes` then hold its reference.
    """

    shapes: FloatArray
    known: FloatArray
    learned: Learned | None = None
    free: BoolArray = field(init=False)
    location: FloatArray = field(init=False)
    scale: FloatArray = field(init=False)
    log_unit: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        free = np.isnan(self.known[..., 0]).reshape(-1, len(self.shapes)).any(axis=0)
        shapes = self.shapes[free]
        sharpness = TAIL * np.sqrt(np.maximum(shapes, 1 / shapes))
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "location", sharpness * np.maximum(1 - 1 / (9 * shapes), 0.0))
        object.__setattr__(self, "scale", sharpness / (3 * np.sqrt(shapes)))
        object.__setattr__(self, "log_unit", np.log(shapes) - 3 * np.log(sharpness))

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.location.size

    @property
    def is_sparse(self) -> BoolArray:
        """Shape (coordinates,): cells that are empty or not, between which there is a cliff in these coordinates."""
        return np.asarray(self.shapes[self.free].ravel() < CLIFF)

    def natural(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the confusion, and log-gammas, their slope and their log-density at these coordinates."""
        place = self.location + self.scale * points.reshape(len(points), *self.location.shape)
        log_roots = np.where(place < FAR, place, np.log(np.logaddexp(0, np.maximum(place, FAR))))
        slope = 3 * np.exp(-np.logaddexp(0, -place) - log_roots)
        logs = self.log_unit + 3 * log_roots
        density = (self.shapes[self.free] * logs - np.exp(logs) + np.log(slope)).sum(axis=(1, 2))
        if self.learned is not None:
            density = density + self.learned.log_ratio(self._log_rows(logs))
        gammas = np.exp(logs - logs.max(axis=2, keepdims=True))
        confusion = np.broadcast_to(self.known, (len(points), *self.shapes.shape)).copy()
        confusion[:, self.free] = gammas / gammas.sum(axis=2, keepdims=True)
        return confusion, logs, slope, density

    def draw(self, number: int, rng: np.random.Generator) -> FloatArray:
        """Draw coordinates from what these shapes say alone, shape (number, coordinates)."""
        shapes = np.broadcast_to(self.shapes[self.free], (number, *self.location.shape))
        if self.learned is not None:
            beyond = self.learned.rows_at(self.learned.draw(rng, number)) - self.learned.reference_rows
            shapes = shapes + beyond[:, self.free]
        return self._points(_log_gammas(shapes, rng))

    def drawn_surplus(self, logs: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw concentrations of a learned prior given rows by their log-gammas, beyond those in `shapes`."""
        if self.learned is None:
            return np.zeros((len(logs), *self.shapes.shape))
        each = self.learned.log_densities(self._log_rows(logs))
        points = (each + rng.gumbel(size=each.shape)).argmax(axis=1)
        return self.learned.rows_at(points) - self.learned.reference_rows

    def with_other_shares(self, logs: FloatArray, shapes: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw rows of Dirichlet distributions (chain, class, output); return coordinates with these log-gammas' sums.

        Likelihood and prior depend on the rows alone, so that sums of gammas are independent of them.
        """
        new = _log_gammas(shapes[:, self.free], rng)
        return self._points(new + log_sum(logs, axis=2) - log_sum(new, axis=2))

    def _points(self, logs: FloatArray) -> FloatArray:
        """Return the coordinates of log-gammas."""
        log_roots = (logs - self.log_unit) / 3
        roots = np.exp(np.maximum(log_roots, FAR))
        place = np.where(log_roots < FAR, log_roots, roots + np.log(-np.expm1(-roots)))
        points: FloatArray = (place - self.location) / self.scale
        return points.reshape(len(logs), -1)

    def gradient(
        self, allocations: FloatArray, confusion: FloatArray, logs: FloatArray, slope: FloatArray
    ) -> FloatArray:
        """Return the gradient of likelihood and prior, given ``φ · ∂/∂φ`` of the likelihood (chain, class, output)."""
        if self.learned is not None:
            allocations = allocations + self.learned.surplus(self._log_rows(logs))
        pull = allocations[:, self.free]
        pull = pull - confusion[:, self.free] * pull.sum(axis=2, keepdims=True) + self.shapes[self.free] - np.exp(logs)
        bend = 1 - slope / 3 * (1 + np.exp((logs - self.log_unit) / 3))
        gradient: FloatArray = (pull * slope + bend) * self.scale
        return gradient.reshape(len(pull), -1)

    def _log_rows(self, logs: FloatArray) -> FloatArray:
        """Return logarithms of the rows that are learned, and zeros for the others, of log-gammas."""
        result = np.zeros((len(logs), *self.shapes.shape))
        result[:, self.free] = logs - log_sum(logs, axis=2)
        return result


def _log_gammas(shapes: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw logarithms of gammas, which would underflow for small shapes."""
    logs = np.log(rng.standard_gamma(np.where(shapes < 1, shapes + 1, shapes)))
    return np.asarray(logs + np.where(shapes < 1, np.log1p(-rng.random(shapes.shape)) / shapes, 0.0))
