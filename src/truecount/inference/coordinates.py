"""Two coordinate systems for one posterior, in which a Hamiltonian sampler needs few steps.

The joint table ``T = P(class, output)`` of the unlabelled population is the product of prevalence and confusion,
``T[l,k] = π[l] φ[l,k]``, and as well of the outputs' shares and the predictive values, ``T[l,k] = q[k] ρ[l|k]``.

* `ByClass` moves (π, φ). Good while unlabelled items do not outnumber the labelled ones by far.
* `ByOutput` moves (q, ρ). The unlabelled counts touch q alone, so their number does not matter.

Each point of a simplex is written as gammas over their sum, and the logarithms of the gammas are the coordinates. The
sum is free: it gets a gamma of its own, with as many counts as the simplex is believed to carry, so that every
coordinate's posterior scale is about one over the root of its count, known beforehand, and coordinates are nearly
independent.
"""

from typing import Protocol

import numpy as np

from truecount._types import FloatArray
from truecount.inference.draws import dirichlet
from truecount.models import Density


class Coordinates(Protocol):
    """A posterior density on plain coordinates, for many chains at once."""

    shapes: FloatArray
    """Shape (coordinates,): the gamma shape behind each one, at the least."""

    def start(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Shape (chains, coordinates): dispersed starting points."""

    def gradient(self, point: FloatArray) -> FloatArray:
        """Shape (chains, coordinates): gradient of the log-density."""

    def log_density(self, point: FloatArray) -> FloatArray:
        """Shape (chains,): log-density, up to a constant."""

    def scale(self) -> FloatArray:
        """Shape (coordinates,): a first guess of each coordinate's posterior standard deviation."""

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Prevalence (chains, classes) and confusion (chains, classes, outputs)."""


class ByClass:
    """Prevalence and confusion rows; known rows have no coordinates."""

    def __init__(self, density: Density) -> None:
        self.density, self.free = density, np.flatnonzero(~density.is_known)
        self.alpha, self.rows = density.prevalence, density.rows[self.free]
        self.shapes = np.concatenate([self.alpha, self.rows.ravel()])
        expected = _expected_items(density)
        self.items = np.concatenate([expected.sum(axis=1), expected[self.free].ravel()])
        self.total = self.alpha.sum() + density.unlabeled.sum()
        self.row_totals = self.rows.sum(axis=1) + expected[self.free].sum(axis=1)

    def scale(self) -> FloatArray:
        """Give about one over the root of the counts behind each coordinate."""
        scale: FloatArray = 1 / np.sqrt(self.shapes + self.items)
        return scale

    def start(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Take the rows from the labels alone, and a prevalence that fits each of them."""
        prevalence, confusion = _start(self.density, chains, rng)
        rows = np.log(np.maximum(confusion[:, self.free], 1e-300)) + np.log(self.row_totals)[:, None]
        return np.hstack([np.log(np.maximum(prevalence, 1e-300)) + np.log(self.total), rows.reshape(chains, -1)])

    def _forward(self, point: FloatArray) -> tuple[FloatArray, ...]:
        gammas = np.exp(point)
        classes = gammas[:, : len(self.alpha)]
        cells = gammas[:, len(self.alpha) :].reshape(len(point), *self.rows.shape)
        total, row_totals = classes.sum(axis=1, keepdims=True), cells.sum(axis=2, keepdims=True)
        return classes / total, cells / row_totals, total, row_totals

    def _confusion(self, learned: FloatArray) -> FloatArray:
        if len(self.free) == len(self.alpha):
            return learned
        confusion = np.repeat(self.density.known[None], len(learned), axis=0)
        confusion[:, self.free] = learned
        return confusion

    def gradient(self, point: FloatArray) -> FloatArray:
        """Expected allocations of the unlabelled items, plus the prior, minus what the sums take back."""
        prevalence, learned, total, row_totals = self._forward(point)
        items = prevalence[:, :, None] * self._confusion(learned)
        items *= (self.density.unlabeled / items.sum(axis=1))[:, None, :]
        of_class = items.sum(axis=2)
        classes = self.alpha + of_class - prevalence * total
        cells = items if len(self.free) == len(self.alpha) else items[:, self.free]
        surplus = (self.row_totals - self.rows.sum(axis=1) - of_class[:, self.free])[:, :, None] - row_totals
        cells += self.rows
        cells += learned * surplus
        return np.hstack([classes, cells.reshape(len(point), -1)])

    def log_density(self, point: FloatArray) -> FloatArray:
        """Log-density of the logarithms of the gammas."""
        prevalence, learned, total, row_totals = self._forward(point)
        outputs = np.einsum("cl,clk->ck", prevalence, self._confusion(learned))
        sums = _log_gamma_sum(total, self.total - self.alpha.sum())
        row_sums = _log_gamma_sum(row_totals[:, :, 0], self.row_totals - self.rows.sum(axis=1))
        value: FloatArray = point @ self.shapes + np.log(outputs) @ self.density.unlabeled + sums + row_sums
        return value

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give prevalence and confusion."""
        prevalence, learned, _, _ = self._forward(point)
        return prevalence, self._confusion(learned)


class ByOutput:
    """Outputs' shares and predictive values; no row may be known."""

    def __init__(self, density: Density) -> None:
        self.density = density
        self.columns = density.rows.sum(axis=0)
        self.exponents = density.prevalence - density.rows.sum(axis=1)
        self.total = density.unlabeled.sum()
        self.shapes = np.concatenate([density.unlabeled + self.columns, density.rows.ravel()])

    def scale(self) -> FloatArray:
        """Give about one over the root of the counts behind each coordinate."""
        scale: FloatArray = 1 / np.sqrt(np.concatenate([self.density.unlabeled + 1, self.density.rows.ravel()]))
        return scale

    def start(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Take predictive values from the labels alone, at a prevalence that fits each of them."""
        prevalence, confusion = _start(self.density, chains, rng)
        joint = np.maximum(prevalence[:, :, None] * confusion, 1e-300)
        given_output = np.log(joint / joint.sum(axis=1, keepdims=True)) + np.log(self.columns)
        outputs = np.log(dirichlet(rng, self.density.unlabeled + 1, (chains,))) + np.log(self.total)
        return np.hstack([outputs, given_output.reshape(chains, -1)])

    def _forward(self, point: FloatArray) -> tuple[FloatArray, ...]:
        gammas = np.exp(point)
        outputs = gammas[:, : len(self.columns)]
        cells = gammas[:, len(self.columns) :].reshape(len(point), *self.density.rows.shape)
        total, column_totals = outputs.sum(axis=1, keepdims=True), cells.sum(axis=1, keepdims=True)
        return outputs / total, cells / column_totals, total, column_totals

    def gradient(self, point: FloatArray) -> FloatArray:
        """Labels and prior pull on each cell; what the rows' normalisation takes back depends on φ."""
        outputs, given_output, total, column_totals = self._forward(point)
        pull, _ = self._confusion(outputs, given_output)
        pull *= self.exponents[:, None]
        of_output = pull.sum(axis=1)
        shares = self.density.unlabeled + self.columns + of_output
        shares += outputs * (
            self.total - self.density.unlabeled.sum() - self.columns.sum() - self.exponents.sum() - total
        )
        pull += self.density.rows
        pull -= given_output * (of_output[:, None, :] + column_totals)
        return np.hstack([shares, pull.reshape(len(point), -1)])

    def log_density(self, point: FloatArray) -> FloatArray:
        """Log-density of the logarithms of the gammas."""
        outputs, given_output, total, column_totals = self._forward(point)
        prevalence = np.einsum("ck,clk->cl", outputs, given_output)
        sums = _log_gamma_sum(total, self.total - self.density.unlabeled.sum() - self.columns.sum())
        column_sums = _log_gamma_sum(column_totals[:, 0], np.zeros_like(self.columns))
        value: FloatArray = point @ self.shapes + np.log(prevalence) @ self.exponents + sums + column_sums
        return value

    @staticmethod
    def _confusion(outputs: FloatArray, given_output: FloatArray) -> tuple[FloatArray, FloatArray]:
        joint = outputs[:, None, :] * given_output
        prevalence = joint.sum(axis=2)
        joint /= prevalence[:, :, None]
        return joint, prevalence

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give prevalence and confusion."""
        outputs, given_output, _, _ = self._forward(point)
        confusion, prevalence = self._confusion(outputs, given_output)
        return prevalence, confusion


def _log_gamma_sum(total: FloatArray, surplus: FloatArray | float) -> FloatArray:
    """Log-density of the sums of the gammas, beyond what the single gammas say; summed over the last axis."""
    value: FloatArray = (surplus * np.log(total) - total).sum(axis=1)
    return value


def _start(density: Density, chains: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Rows from the labels alone, and for each chain a prevalence that explains the outputs with them."""
    confusion = dirichlet(rng, density.rows, (chains,))
    confusion[:, density.is_known] = density.known[density.is_known]
    confusion = np.maximum(confusion, 1e-30)
    prevalence = dirichlet(rng, np.maximum(density.prevalence, 1), (chains,))
    for _ in range(50):
        joint = prevalence[:, :, None] * confusion
        items = (joint * (density.unlabeled / joint.sum(axis=1))[:, None, :]).sum(axis=2)
        prevalence = items + density.prevalence
        prevalence /= prevalence.sum(axis=1, keepdims=True)
    return prevalence, confusion


def _expected_items(density: Density) -> FloatArray:
    """Shape (classes, outputs): the unlabelled items shared out by a rough fit."""
    learned = density.rows / density.rows.sum(axis=1, keepdims=True)
    confusion = np.where(density.is_known[:, None], density.known, learned)
    prevalence = np.full(density.n_classes, 1 / density.n_classes)
    for _ in range(50):
        joint = prevalence[:, None] * confusion
        column = joint.sum(axis=0)
        items = joint * np.divide(density.unlabeled, column, out=np.zeros_like(column), where=column > 0)
        prevalence = items.sum(axis=1) + density.prevalence
        prevalence /= prevalence.sum()
    shared_out: FloatArray = items
    return shared_out
