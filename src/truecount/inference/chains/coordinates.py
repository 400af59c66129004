"""Two coordinate systems for one posterior, in which a Hamiltonian sampler needs few steps.

* `ByClass` moves prevalence and confusion. Good while unlabelled items do not outnumber the labelled ones by far.
* `ByOutput` moves the outputs' shares besides. The unlabelled counts touch these alone, so their number is no matter.

Each point of a simplex is written as gammas over their sum, and the logarithms of the gammas are the coordinates. The
sum is free: it gets a gamma of its own, with as many counts as the simplex is believed to carry, so that every
coordinate's posterior scale is about one over the root of its count, known beforehand, and coordinates are nearly
independent.
"""

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.inference.modes.ascent import share_out
from truecount.models import Density


class Coordinates(Protocol):
    """A posterior density on plain coordinates, for many chains at once."""

    shapes: FloatArray
    """Shape (coordinates,): the gamma shape behind each one, at the least."""

    def point(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Shape (chains, coordinates): a point that stands for these, or for something close to them."""

    def moved(self, point: FloatArray, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Shape (chains, coordinates): a point that stands for these, with all that is independent of them kept."""

    def gradient(self, point: FloatArray) -> FloatArray:
        """Shape (chains, coordinates): gradient of the log-density."""

    def log_density(self, point: FloatArray) -> FloatArray:
        """Shape (chains,): log-density, up to a constant."""

    def logs(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Logarithms of what `natural` returns, however small."""

    def pull(self, point: FloatArray, by_class: FloatArray, by_cell: FloatArray) -> FloatArray:
        """Shape (chains, coordinates): gradient of ``Σ by_class · log π + Σ by_cell · log φ``."""

    def scale(self) -> FloatArray:
        """Shape (coordinates,): a first guess of each coordinate's posterior standard deviation."""

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Prevalence (chains, classes) and confusion (chains, classes, outputs)."""


class ByClass:
    """Prevalence and confusion rows; known rows have no coordinates."""

    def __init__(self, density: Density) -> None:
        self.density, self.free = density, np.flatnonzero(~density.is_known)
        self.is_free: slice | BoolArray = ~density.is_known
        self.is_known: slice | BoolArray = density.is_known
        if not density.is_known.any():
            self.is_free, self.is_known = slice(None), slice(0)  # which copy nothing
        self.known = density.known[density.is_known]
        self.alpha, self.rows = density.prevalence, density.rows[self.free]
        self.shapes = np.concatenate([self.alpha, self.rows.ravel()])
        expected = expected_items(density)
        self.items = np.concatenate([expected.sum(axis=1), expected[self.free].ravel()])
        self.total = self.alpha.sum() + density.unlabeled.sum()
        self.row_items = expected[self.free].sum(axis=1)
        self.row_totals = self.rows.sum(axis=1) + self.row_items

    def scale(self) -> FloatArray:
        """Return about one over the root of the counts behind each coordinate."""
        scale: FloatArray = 1 / np.sqrt(self.shapes + self.items)
        return scale

    def point(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Scale every simplex to the sum that it is believed to carry."""
        rows = _logs(confusion[:, self.free]) + np.log(self.row_totals)[:, None]
        return np.hstack([_logs(prevalence) + np.log(self.total), rows.reshape(len(prevalence), -1)])

    def moved(self, point: FloatArray, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Keep the sums."""
        _, _, total, row_totals = self._forward(point)
        rows = _logs(confusion[:, self.free]) + np.log(row_totals)
        return np.hstack([_logs(prevalence) + np.log(total), rows.reshape(len(point), -1)])

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
        """Expected allocations of the unlabelled items, plus the prior, minus what the sums take back.

        Nearly all of the time goes into this; sums over a short axis cost more than the same by matrix products.
        """
        size, (rows, outputs) = len(point), self.rows.shape
        gammas = np.exp(point)
        classes, flat = gammas[:, : len(self.alpha)], gammas[:, len(self.alpha) :]
        cells = flat.reshape(size, rows, outputs)
        row_totals = cells @ np.ones(outputs)
        prevalence = classes / classes.sum(axis=1, keepdims=True)
        scaled = prevalence[:, self.is_free] / row_totals
        shares = (scaled[:, None] @ cells)[:, 0] + prevalence[:, self.is_known] @ self.known
        by_share = self.density.unlabeled / np.maximum(shares, 1e-300)
        items = np.empty_like(prevalence)
        items[:, self.is_known] = prevalence[:, self.is_known] * (by_share @ self.known.T)
        items[:, self.is_free] = scaled * (cells @ by_share[:, :, None])[:, :, 0]
        left, right = np.empty((size, rows, 2)), np.ones((size, 2, outputs))
        left[:, :, 0], left[:, :, 1] = scaled, (self.row_items - items[:, self.is_free]) / row_totals - 1
        right[:, 0] = by_share
        gradient = np.empty_like(point)
        gradient[:, : len(self.alpha)] = self.alpha + items - classes
        np.multiply((left @ right).reshape(size, -1), flat, out=gradient[:, len(self.alpha) :])
        gradient[:, len(self.alpha) :] += self.rows.ravel()
        return gradient

    def log_density(self, point: FloatArray) -> FloatArray:
        """Log-density of the logarithms of the gammas."""
        prevalence, learned, total, row_totals = self._forward(point)
        outputs = np.einsum("cl,clk->ck", prevalence, self._confusion(learned))
        sums = _log_gamma_sum(total, self.total - self.alpha.sum())
        row_sums = _log_gamma_sum(row_totals[:, :, 0], self.row_totals - self.rows.sum(axis=1))
        value: FloatArray = point @ self.shapes + _logs(outputs) @ self.density.unlabeled + sums + row_sums
        return value

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prevalence and confusion."""
        prevalence, learned, _, _ = self._forward(point)
        return prevalence, self._confusion(learned)

    def logs(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take the logarithms of the sums off the coordinates; known rows have zeros."""
        _, _, total, row_totals = self._forward(point)
        cells = point[:, len(self.alpha) :].reshape(len(point), *self.rows.shape) - np.log(row_totals)
        confusion = np.zeros((len(point), *self.density.known.shape))
        confusion[:, self.free] = cells
        return point[:, : len(self.alpha)] - np.log(total), confusion

    def pull(self, point: FloatArray, by_class: FloatArray, by_cell: FloatArray) -> FloatArray:
        """Take off what the sums take back."""
        prevalence, learned, _, _ = self._forward(point)
        cells = by_cell[:, self.free]
        cells = cells - learned * cells.sum(axis=2, keepdims=True)
        classes = by_class - prevalence * by_class.sum(axis=1, keepdims=True)
        return np.hstack([classes, cells.reshape(len(point), -1)])


class ByOutput:
    """Outputs' shares, and a prevalence and confusion that explain shares close to them; no row may be known.

    The outputs' shares q have coordinates of their own, which the unlabelled counts hold tight. Beside them stand a
    prevalence w and rows ψ whose outputs' shares ``r = ψᵀw`` need not be q: the joint table has the column sums q and
    the predictive values of (w, ψ), ``T[l,k] = q[k] w[l] ψ[l,k] / r[k]``. That leaves r undetermined, so it gets a
    density, ``Π r[k]^g[k]``, as if `g`, far fewer unlabelled items than there are, had been seen. Then

        log p = Dir(w; α) + Σ_l Dir(ψ_l; A_l) + Σ g log r + Σ_k A_·k log(q/r)_k + Σ_l (α − A_·)_l log t_l + Dir(q; n)

    with ``t_l = Σ_k ψ[l,k] (q/r)[k]`` and A the labelled counts with their prior: `ByClass` with few unlabelled items,
    times what vanishes at q = r. Prevalence and confusion are ``π_l = w_l t_l`` and ``φ[l,k] = ψ[l,k] (q/r)[k] / t_l``.
    """

    FEW = 0.2
    """Items that `g` stands for, over the labelled ones; from 0.1 to 0.5 chains move about equally well."""

    def __init__(self, density: Density) -> None:
        self.density, self.alpha, self.rows = density, density.prevalence, density.rows
        self.columns, self.exponents = self.rows.sum(axis=0), self.alpha - self.rows.sum(axis=1)
        self.few = 1 + density.unlabeled * min(1.0, self.FEW * self.rows.sum() / density.unlabeled.sum())
        self.shapes = np.concatenate([self.alpha, self.rows.ravel(), density.unlabeled + 1])
        expected = expected_items(replace(density, unlabeled=self.few))
        self.items = np.concatenate([expected.sum(axis=1), expected.ravel(), np.zeros(density.n_outputs)])
        self.total = self.alpha.sum() + self.few.sum()
        self.row_totals = self.rows.sum(axis=1) + expected.sum(axis=1)
        self.output_total = density.unlabeled.sum() + 1

    def scale(self) -> FloatArray:
        """Return about one over the root of the counts behind each coordinate."""
        scale: FloatArray = 1 / np.sqrt(self.shapes + self.items)
        return scale

    def point(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Scale every simplex to the sum that it is believed to carry, and outputs the shares seen, or near to them."""
        outputs = np.broadcast_to(np.log(self.density.unlabeled + 1), (len(prevalence), self.density.n_outputs))
        rows = _logs(confusion) + np.log(self.row_totals)[:, None]
        classes = _logs(prevalence) + np.log(self.total)
        return np.hstack([classes, rows.reshape(len(classes), -1), outputs])

    def moved(self, point: FloatArray, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Keep the sums and r: in logarithms their density stands apart from that of prevalence and confusion."""
        at = self._forward(point)
        outputs = np.einsum("cl,clk->ck", prevalence, confusion)
        rows = confusion * (at.implied / np.maximum(outputs, 1e-300))[:, None, :]
        tilt = rows.sum(axis=2)
        rows = _logs(rows / tilt[:, :, None]) + np.log(at.row_totals)
        sums = _logs(prevalence * tilt) + np.log(at.total), _logs(outputs) + np.log(at.output_total)
        return np.hstack([sums[0], rows.reshape(len(point), -1), sums[1]])

    def _forward(self, point: FloatArray) -> "_Table":
        n_classes, n_outputs = self.rows.shape
        gammas = np.exp(point)
        classes, cells = gammas[:, :n_classes], gammas[:, n_classes:-n_outputs].reshape(-1, n_classes, n_outputs)
        total, row_totals = classes.sum(axis=1, keepdims=True), cells.sum(axis=2, keepdims=True)
        classes, rows = classes / total, cells / row_totals
        given_output = classes[:, :, None] * rows
        implied = given_output.sum(axis=1)
        given_output /= implied[:, None, :]
        output_total = gammas[:, -n_outputs:].sum(axis=1, keepdims=True)
        outputs = gammas[:, -n_outputs:] / output_total
        confusion = rows * (outputs / implied)[:, None, :]
        tilt = confusion.sum(axis=2)
        confusion /= tilt[:, :, None]
        return _Table(classes, rows, outputs, total, row_totals, output_total, implied, given_output, tilt, confusion)

    def gradient(self, point: FloatArray) -> FloatArray:
        """Expected allocations of the few items, and what pulls r towards q."""
        at = self._forward(point)
        pull = at.confusion * self.exponents[:, None]
        of_output = pull.sum(axis=1)
        by_output = self.density.unlabeled + self.columns + of_output
        by_output += at.outputs * (self.output_total - by_output.sum(axis=1, keepdims=True) - at.output_total)
        surplus = self.few - self.columns - of_output
        by_cell = at.given_output * surplus[:, None, :]
        of_class = by_cell.sum(axis=2)
        by_class = self.alpha + of_class
        by_class += at.classes * (self.few.sum() - surplus.sum(axis=1, keepdims=True) - at.total)
        by_cell += pull
        by_cell += self.rows
        left = self.row_totals - self.rows.sum(axis=1) - self.exponents - of_class
        by_cell += at.rows * (left[:, :, None] - at.row_totals)
        return np.hstack([by_class, by_cell.reshape(len(point), -1), by_output])

    def log_density(self, point: FloatArray) -> FloatArray:
        """Log-density of the logarithms of the gammas."""
        at = self._forward(point)
        value = np.log(at.classes) @ self.alpha + np.einsum("clk,lk->c", np.log(at.rows), self.rows)
        value += np.log(at.implied) @ (self.few - self.columns) + np.log(at.tilt) @ self.exponents
        value += np.log(at.outputs) @ (self.density.unlabeled + self.columns)
        value += _log_gamma_sum(at.total, self.total) + _log_gamma_sum(at.row_totals[:, :, 0], self.row_totals)
        value += _log_gamma_sum(at.output_total, self.output_total)
        log_density: FloatArray = value
        return log_density

    def natural(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prevalence and confusion."""
        at = self._forward(point)
        return at.classes * at.tilt, at.confusion

    def logs(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take the logarithms of the sums off the coordinates, and add what turns (w, ψ) into (π, φ)."""
        at, (n_classes, n_outputs) = self._forward(point), self.rows.shape
        rows = point[:, n_classes:-n_outputs].reshape(-1, n_classes, n_outputs) - np.log(at.row_totals)
        confusion = rows + np.log(at.outputs / at.implied)[:, None, :] - np.log(at.tilt)[:, :, None]
        return point[:, :n_classes] - np.log(at.total) + np.log(at.tilt), confusion

    def pull(self, point: FloatArray, by_class: FloatArray, by_cell: FloatArray) -> FloatArray:
        """Follow the terms of `gradient` that are linear in the concentrations."""
        at = self._forward(point)
        exponents = by_class - by_cell.sum(axis=2)
        pull = at.confusion * exponents[:, :, None]
        of_output = by_cell.sum(axis=1) + pull.sum(axis=1)
        cells = at.given_output * -of_output[:, None, :]
        of_class = by_class + cells.sum(axis=2)
        cells += pull + by_cell - at.rows * of_class[:, :, None]
        classes = of_class - at.classes * of_class.sum(axis=1, keepdims=True)
        outputs = of_output - at.outputs * of_output.sum(axis=1, keepdims=True)
        return np.hstack([classes, cells.reshape(len(point), -1), outputs])


class _Table(NamedTuple):
    """What a point of `ByOutput` stands for: w, ψ, q, the sums of their gammas, r, P(class | output), t and φ."""

    classes: FloatArray
    rows: FloatArray
    outputs: FloatArray
    total: FloatArray
    row_totals: FloatArray
    output_total: FloatArray
    implied: FloatArray
    given_output: FloatArray
    tilt: FloatArray
    confusion: FloatArray


def _log_gamma_sum(total: FloatArray, surplus: FloatArray | float) -> FloatArray:
    """Log-density of the sums of the gammas, beyond what the single gammas say; summed over the last axis."""
    value: FloatArray = (surplus * np.log(total) - total).sum(axis=1)
    return value


def _logs(shares: FloatArray) -> FloatArray:
    logs: FloatArray = np.log(np.maximum(shares, 1e-300))
    return logs


def expected_items(density: Density) -> FloatArray:
    """Shape (classes, outputs): the unlabelled items shared out by a rough fit."""
    even = np.full(density.n_classes, 1 / density.n_classes)
    return share_out(density, even, density.mean_confusion)[1]
