"""Groups whose prevalences, and perhaps confusions, vary around common ones: the posterior, with gradients.

A *unit* is a group, a study that labels come from, or both. The log-ratios of its prevalence are
``η = centre + loading · (spread · ζ)`` with ``ζ ~ N(0, 1)``, and prevalences the softmax of ``basis · η``. The loading
is the identity for units that vary independently around the centre; for a random walk it adds up the steps so far.
Where the confusion varies too, row l of a unit is ``softmax(h_l + basis · (row_spread_l · ε_l))`` with ``ε ~ N(0, 1)``
and h_l the log-gammas of the common row; units with labels of their own tell how large the row spread is, and a unit
without any has the predictive rows.

Everything is unbounded in the coordinates used here:

``hyper``
    For each cell of a row to be learned the standardised logarithm of its gamma, then the coefficients of the centre,
    then for each spread its normal score.
``latent``
    ``v = spread ** centring · ζ``, of the prevalence and then of each row. A centring of 0 suits latents that the data
    say little about, of 1 those that they determine: it keeps the posterior of `latent` from depending on the spread.

Latents come in blocks that are independent given `hyper`: one for each unit, or a single one for a walk.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import BoolArray, FloatArray, IntArray
from truecount.models.hierarchy.centre import Centre
from truecount.models.hierarchy.dirichlet import DirichletGroups
from truecount.models.hierarchy.information import information_of_items, information_of_units
from truecount.models.hierarchy.log_ratios import half_normal, half_normal_slope, log_ratio_basis, shares_of
from truecount.models.hierarchy.random_labels import RandomLabels
from truecount.models.hierarchy.rows import Rows


class _Likelihood(NamedTuple):
    """Of the items and of labels by unit: its logarithm, and the gradients by log-ratios and by the common rows."""

    value: FloatArray
    by_ratios: FloatArray
    by_common: FloatArray


@dataclass(frozen=True)
class GroupDensity:
    """The posterior of confusion, centre, spreads and prevalences of units that share them.

    Parameters
    ----------
    rows
        The common rows of the confusion: with what all labels say of them, or only their prior where rows vary.
    unlabeled
        Shape (outputs, units): unlabelled items.
    centre
        Prior and design of the units' centre.
    spread_scale, row_spread_scale
        Scales of the half-normal priors of the spread of prevalences and of that of rows.
    labeled
        Shape (classes, outputs, units): labelled items of each unit, where rows vary; else None.
    loadings
        None for units that vary independently. Else one matrix (units, steps) for each kind of spread: a random walk,
        and perhaps an independent part beside it.
    dirichlet
        The prior of prevalences where it is no normal one of log-ratios.
    is_group
        Shape (units,): whether a unit has a prevalence of interest. That of a study that is no group is not in the
        data, and has normal latents of its own whatever the prior of the others.
    is_one_study
        Whether all groups are one study and share its rows.
    random_labels
        Labels of groups that are random samples of them; None where labels are drawn by class.
    centring
        Shape (latents, blocks), from 0 to 1.
    """

    rows: Rows
    unlabeled: FloatArray
    centre: Centre
    spread_scale: float = 1.0
    row_spread_scale: float = 0.5
    labeled: FloatArray | None = None
    loadings: tuple[FloatArray, ...] | None = None
    dirichlet: DirichletGroups | None = None
    is_group: BoolArray | None = None
    is_one_study: bool = False
    random_labels: RandomLabels | None = None
    centring: FloatArray = field(default_factory=lambda: np.zeros(()))

    def __post_init__(self) -> None:
        object.__setattr__(self, "centring", np.broadcast_to(self.centring, self.latent_shape))

    @property
    def n_groups(self) -> int:
        """How many units there are."""
        return int(self.unlabeled.shape[1])

    @property
    def n_ratios(self) -> int:
        """How many log-ratios a prevalence has."""
        return int(self.centre.basis.shape[1])

    @property
    def n_row_ratios(self) -> int:
        """How many log-ratios the rows of one unit have; none where all units have the same rows."""
        return 0 if self.labeled is None else int(self.rows.free.sum()) * (len(self.unlabeled) - 1)

    @property
    def n_row_spreads(self) -> int:
        """How many spreads of rows there are: one for each row that varies."""
        return 0 if self.labeled is None else int(self.rows.free.sum())

    @property
    def n_prevalence_spreads(self) -> int:
        """How many spreads of prevalences are learned: one for each log-ratio and kind, or one Dirichlet's."""
        if self.dirichlet is not None:
            return int(self.dirichlet.fixed is None)
        return self.n_ratios * len(self.loadings or (None,))

    @property
    def n_spreads(self) -> int:
        """How many spreads are learned."""
        return self.n_prevalence_spreads + self.n_row_spreads

    @property
    def n_hyper(self) -> int:
        """How many hyperparameters there are."""
        return self.rows.size + len(self.centre.design) * self.n_ratios + self.n_spreads

    @property
    def latent_shape(self) -> tuple[int, int]:
        """How many latents a block has, and how many blocks there are."""
        if self.loadings is None:
            return self.n_ratios + self.n_row_ratios, self.n_groups
        steps = sum(loading.shape[1] for loading in self.loadings)
        return self.n_ratios * steps + self.n_row_ratios * self.n_groups, 1

    @cached_property
    def _row_basis(self) -> FloatArray:
        return log_ratio_basis(len(self.unlabeled))

    @cached_property
    def _items(self) -> FloatArray:
        return np.asarray(self.unlabeled.sum(axis=0))

    @cached_property
    def _loading_of_ratios(self) -> list[tuple[slice, FloatArray]]:
        """For a walk: which log-ratios, of the prevalence or of rows, each kind of latent moves, and how."""
        kinds = [(slice(self.n_ratios), loading) for loading in self.loadings or ()]
        of_rows = slice(self.n_ratios, self.n_ratios + self.n_row_ratios)
        return [*kinds, (of_rows, np.eye(self.n_groups))] if self.n_row_ratios else kinds

    @cached_property
    def _scales(self) -> FloatArray:
        """Shape (spreads,): of their half-normal priors."""
        counts = [self.n_prevalence_spreads, self.n_row_spreads]
        return np.repeat([self.spread_scale, self.row_spread_scale], counts)

    @cached_property
    def spread_of_latent(self) -> IntArray:
        """Shape (latents,): which spread each latent has, in the order of `all_spreads`."""
        of_prevalence = np.zeros(self.n_ratios, int) if self.dirichlet is not None else np.arange(self.n_ratios)
        if self.loadings is not None:
            steps = np.repeat([loading.shape[1] for loading in self.loadings], self.n_ratios)
            of_prevalence = np.repeat(np.arange(len(steps)), steps)
        each = self.n_row_ratios // max(self.n_row_spreads, 1) * (1 if self.loadings is None else self.n_groups)
        of_rows = np.repeat(np.arange(self.n_row_spreads), each)
        return np.concatenate([of_prevalence, of_prevalence.max() + 1 + of_rows])

    @cached_property
    def tells_spread(self) -> FloatArray:
        """Shape (latents, blocks): 1 where a latent's deviation tells of the spread, 0 where its prior is standard.

        A group without items or random labels tells nothing, but under a Dirichlet prior no latent of a group is
        standard.
        """
        result, seen = np.ones(self.latent_shape), self._items
        if self.random_labels is not None:
            seen = seen + self.random_labels.counts.sum(axis=0)
        if self.loadings is None:
            result[: self.n_ratios, (seen == 0) & ~self._has_learned_dirichlet] = 0
        return result

    @property
    def _has_learned_dirichlet(self) -> BoolArray:
        """Shape (units,): whether the prior of a unit's prevalence is a Dirichlet whose spread is learned."""
        return self._groups & (self.dirichlet is not None and not self._is_fixed)

    @property
    def _is_fixed(self) -> bool:
        return self.dirichlet is not None and self.dirichlet.fixed is not None

    @cached_property
    def _is_normal(self) -> FloatArray:
        """Shape (latents, blocks): 1 for latents with a normal prior, 0 for those of prevalences with a Dirichlet."""
        result = np.ones(self.latent_shape)
        if self.dirichlet is not None:
            result[: self.n_ratios, self._groups] = 0
        return result

    @cached_property
    def _groups(self) -> BoolArray:
        return np.ones(self.n_groups, bool) if self.is_group is None else self.is_group

    def recentred(self, centring: FloatArray) -> "GroupDensity":
        """Return the same density in coordinates of another centring."""
        return replace(self, centring=centring)

    def of_groups(self, chosen: IntArray) -> "GroupDensity":
        """Return the density of some of the units, where they are independent of the others."""
        return replace(
            self,
            labeled=None if self.labeled is None else self.labeled[:, :, chosen],
            unlabeled=self.unlabeled[:, chosen],
            centre=replace(self.centre, design=self.centre.design[:, chosen]),
            is_group=None if self.is_group is None else self.is_group[chosen],
            random_labels=None if self.random_labels is None else self.random_labels.of_groups(chosen),
            centring=self.centring[:, chosen],
        )

    def parts(self, hyper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return coordinates of rows, coefficients of the centre (chain, column, log-ratio) and scores of spreads."""
        first, last = self.rows.size, hyper.shape[1] - self.n_spreads
        coefficients = hyper[:, first:last].reshape(len(hyper), len(self.centre.design), self.n_ratios)
        return hyper[:, :first], coefficients, hyper[:, last:]

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return the spreads that are learned, of their scores: of prevalences, then of rows."""
        return half_normal(scores, self._scales)

    def all_spreads(self, scores: FloatArray) -> FloatArray:
        """Return the spread of every kind of latent, 1 where it is not learned."""
        spread = self.spread(scores)
        return np.concatenate([np.ones((len(spread), 1)), spread], axis=1) if self._is_fixed else spread

    def prevalence(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return prevalences, shape (chain, class, unit)."""
        _, coefficients, scores = self.parts(hyper)
        deviation = self._deviation(self.stretched(self.all_spreads(scores))[0] * latent)
        return shares_of(self.centre.basis, self.centre.located(coefficients) + deviation[:, : self.n_ratios])

    def common_rows(self, hyper: FloatArray) -> FloatArray:
        """Return the common rows of the confusion, shape (chain, class, output)."""
        return self.rows.natural(self.parts(hyper)[0])[0]

    def unit_rows(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the rows of every unit, where they vary, shape (chain, unit, class, output)."""
        row_points, _, scores = self.parts(hyper)
        deviation = self._deviation(self.stretched(self.all_spreads(scores))[0] * latent)
        common, logs, _, _ = self.rows.natural(row_points)
        return self._unit_rows(common, logs, deviation[:, self.n_ratios :]).transpose(0, 3, 1, 2)

    def standard_latent(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return ``ζ`` and ``ε``, whatever the centring."""
        return latent * np.sqrt(self.stretched(self.all_spreads(self.parts(hyper)[2]))[1])

    def own_latent(self, hyper: FloatArray, standard: FloatArray) -> FloatArray:
        """Return the latent coordinates of ``ζ`` and ``ε``."""
        return standard / np.sqrt(self.stretched(self.all_spreads(self.parts(hyper)[2]))[1])

    def spreads_given_deviations(
        self, hyper: FloatArray, standard: FloatArray
    ) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
        """Return the deviations, and the log-density of the spreads' scores given them, each spread by itself."""
        _, coefficients, scores = self.parts(hyper)
        of_latent, first = self.spread_of_latent, int(self._is_fixed)
        deviation = standard * self.all_spreads(scores)[:, of_latent, None]
        number, squares = np.zeros(of_latent.max() + 1), np.zeros((len(hyper), of_latent.max() + 1))
        np.add.at(number, of_latent, self.tells_spread.sum(axis=1))
        np.add.at(squares.T, of_latent, (deviation**2 * self.tells_spread).sum(axis=2).T)
        located = self.centre.located(coefficients)
        groups, shares = self._has_learned_dirichlet, None
        if groups.any():
            number[0], squares[:, 0] = 0, 0
            ratios = located + self._deviation(deviation)[:, : self.n_ratios]
            shares = shares_of(self.centre.basis, ratios)[:, :, groups]

        def log_density(points: FloatArray) -> FloatArray:
            spread = self.spread(points)
            value: FloatArray = -0.5 * (points**2 + squares[:, first:] / spread**2) - number[first:] * np.log(spread)
            if shares is not None and self.dirichlet is not None:
                concentration = self.dirichlet.concentration(located[:, :, groups], spread[:, 0])
                value[:, 0] += self.dirichlet.log_density(concentration, shares)
            return value

        return deviation, log_density

    @cached_property
    def without_items(self) -> "GroupDensity":
        """The density of the same units by their labels alone."""
        return replace(self, unlabeled=np.zeros_like(self.unlabeled))

    def unit_values(self, hyper: FloatArray, standard: FloatArray) -> FloatArray:
        """Return the log-density of the latents of each unit given `hyper`, up to a constant, shape (chain, unit).

        Where rows vary and units are independent of each other.
        """
        row_points, coefficients, scores = self.parts(hyper)
        common, logs, _, _ = self.rows.natural(row_points)
        spread = self.all_spreads(scores)
        deviation = standard * spread[:, self.spread_of_latent, None]
        located, labeled = self.centre.located(coefficients), np.asarray(self.labeled)
        shares = shares_of(self.centre.basis, located + deviation[:, : self.n_ratios])
        rows = self._unit_rows(common, logs, deviation[:, self.n_ratios :])
        outputs = (shares[:, :, None] * rows).sum(axis=1)
        value = np.where(self.unlabeled > 0, self.unlabeled * finite_log(outputs), 0.0).sum(axis=1)
        value += np.where(labeled > 0, labeled * np.log(rows), 0.0).sum(axis=(1, 2))
        value -= 0.5 * (self._is_normal * standard**2).sum(axis=1)
        if self.dirichlet is not None:
            concentration = self.dirichlet.concentration(located, spread[:, 0]) * self._groups
            value += (concentration * finite_log(shares)).sum(axis=1)
        if self.random_labels is not None:
            value += self.random_labels.log_density(shares)
        return np.asarray(value)

    def given_all_but_items(
        self,
        located: FloatArray,
        scale: FloatArray,
        standard: FloatArray,
        scores: FloatArray,
        shares: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return curvature (chain, unit, log-ratio, log-ratio) and gradient of standard latents by all but items.

        That is their prior, and labels that are random samples.
        """
        normal = np.broadcast_to(np.eye(self.n_ratios), (len(located), self.n_groups, self.n_ratios, self.n_ratios))
        curvature, gradient, both = normal, -standard, scale[:, None] * scale[:, :, None]
        if self.dirichlet is not None:
            concentration = self.dirichlet.concentration(located, self.all_spreads(scores)[:, 0])
            own = (self.dirichlet.curvature(concentration, shares) * both).transpose(0, 3, 1, 2)
            curvature = np.where(self._groups[:, None, None], own, normal)
            by_latent = self.dirichlet.gradient(concentration, shares)[0] * scale
            gradient = np.where(self._groups, by_latent, -standard)
        if self.random_labels is not None:
            curvature = curvature + (self.random_labels.curvature(shares) * both).transpose(0, 3, 1, 2)
            gradient = gradient + self.random_labels.gradient(shares) * scale
        return curvature, gradient

    def stretched(self, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``spread · ζ / v`` and the prior precision of v, shape (chain, latent, block)."""
        logs = np.log(spread)[:, self.spread_of_latent, None]
        return np.exp((1 - self.centring) * logs), np.exp(-2 * self.centring * logs)

    def _deviation(self, scaled: FloatArray) -> FloatArray:
        """Return deviations from the centre and the common rows (chain, log-ratio, unit), of scaled latents."""
        if self.loadings is None:
            return scaled
        total, start = np.zeros((len(scaled), self.n_ratios + self.n_row_ratios, self.n_groups)), 0
        for ratios, loading in self._loading_of_ratios:
            stop = start + (ratios.stop - (ratios.start or 0)) * loading.shape[1]
            each = scaled[:, start:stop, 0].reshape(len(scaled), -1, loading.shape[1])
            total[:, ratios] += each @ loading.T
            start = stop
        return total

    def _by_scaled(self, score: FloatArray) -> FloatArray:
        """Return the gradient by scaled latents, of that by log-ratios."""
        if self.loadings is None:
            return score
        each = [(score[:, ratios] @ loading).reshape(len(score), -1) for ratios, loading in self._loading_of_ratios]
        return np.concatenate(each, axis=1)[:, :, None]

    def _unit_rows(self, common: FloatArray, logs: FloatArray, deviation: FloatArray) -> FloatArray:
        """Return rows of every unit, shape (chain, class, output, unit)."""
        each = deviation.reshape(len(deviation), self.n_row_spreads, self._row_basis.shape[1], self.n_groups)
        exponents = logs[..., None] + np.matmul(self._row_basis, each)
        exponents -= exponents.max(axis=2, keepdims=True)
        np.exp(exponents, out=exponents)
        rows = np.broadcast_to(common[..., None], (*common.shape, self.n_groups)).copy()
        rows[:, self.rows.free] = exponents / exponents.sum(axis=2, keepdims=True)
        return rows

    def _likelihood(self, shares: FloatArray, common: FloatArray, logs: FloatArray, rows: FloatArray) -> _Likelihood:
        """Return the likelihood of shares (chain, class, unit), common rows and deviations of rows from them."""
        if self.labeled is not None:
            return self._varying_likelihood(shares, common, self._unit_rows(common, logs, rows))
        outputs = np.matmul(common.transpose(0, 2, 1), shares)
        ratio = self.unlabeled / np.maximum(outputs, SMALLEST)
        score = np.matmul(self.centre.basis.T, (np.matmul(common, ratio) - self._items[None, None]) * shares)
        allocations = np.matmul(shares, ratio.transpose(0, 2, 1)) * common
        return _Likelihood(self._of_items(outputs), score, allocations)

    def _varying_likelihood(self, shares: FloatArray, common: FloatArray, rows: FloatArray) -> _Likelihood:
        free, labeled = self.rows.free, np.asarray(self.labeled)
        joint = shares[:, :, None] * rows
        outputs = joint.sum(axis=1)
        allocations = joint * (self.unlabeled / np.maximum(outputs, SMALLEST))[:, None]
        score = np.matmul(self.centre.basis.T, allocations.sum(axis=2) - self._items * shares)
        counted = allocations[:, free] + labeled[free]
        by_logits = counted - rows[:, free] * counted.sum(axis=2, keepdims=True)
        by_rows = np.matmul(self._row_basis.T, by_logits).reshape(len(shares), -1, self.n_groups)
        of_labels = np.where(labeled[free] > 0, labeled[free] * np.log(rows[:, free]), 0.0).sum(axis=(1, 2, 3))
        by_common = np.zeros_like(common)
        by_common[:, free] = by_logits.sum(axis=3)
        return _Likelihood(self._of_items(outputs) + of_labels, np.concatenate([score, by_rows], axis=1), by_common)

    def _of_items(self, outputs: FloatArray) -> FloatArray:
        return np.asarray(np.where(self.unlabeled > 0, self.unlabeled * finite_log(outputs), 0.0).sum(axis=(1, 2)))

    def value_and_gradient(self, hyper: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-density (chain,) and its gradients by `hyper` and `latent`."""
        row_points, coefficients, scores = self.parts(hyper)
        common, logs, slope, value = self.rows.natural(row_points)
        spread = self.all_spreads(scores)
        scale, precision = self.stretched(spread)
        scaled, located = scale * latent, self.centre.located(coefficients)
        deviation = self._deviation(scaled)
        shares = shares_of(self.centre.basis, located + deviation[:, : self.n_ratios])
        likelihood, by_ratios, by_common = self._likelihood(shares, common, logs, deviation[:, self.n_ratios :])
        prior, by_coefficients = self.centre.prior(coefficients)
        value = value + likelihood + prior - 0.5 * (scores * scores).sum(axis=1)
        if self.random_labels is not None:
            value += self.random_labels.log_density(shares).sum(axis=1)
            by_ratios[:, : self.n_ratios] += self.random_labels.gradient(shares)
        by_located, by_spread = by_ratios[:, : self.n_ratios], np.zeros_like(spread)

        normal = self._is_normal
        if self.dirichlet is not None:
            groups = self._groups
            concentration = self.dirichlet.concentration(located[:, :, groups], spread[:, 0])
            value += self.dirichlet.log_density(concentration, shares[:, :, groups])
            value += ((1 - normal) * np.log(scale)).sum(axis=(1, 2))
            by_shares, by_centre, by_spread[:, 0] = self.dirichlet.gradient(concentration, shares[:, :, groups])
            by_ratios[:, : self.n_ratios, groups] += by_shares
            by_located = by_ratios[:, : self.n_ratios].copy()
            by_located[:, :, groups] += by_centre
        penalty = latent**2 * precision
        value -= 0.5 * (normal * (penalty - np.log(precision))).sum(axis=(1, 2))

        by_scaled, centring = self._by_scaled(by_ratios), self.centring
        by_log = (1 - centring) * (by_scaled * scaled + 1 - normal) + centring * normal * (penalty - 1)
        np.add.at(by_spread.T, self.spread_of_latent, by_log.sum(axis=2).T)
        learned = slice(int(self._is_fixed), None)
        slopes = half_normal_slope(scores, spread[:, learned], self._scales) / spread[:, learned]
        by_hyper = np.concatenate(
            [
                self.rows.gradient(by_common, common, logs, slope),
                (by_coefficients + self.centre.gradient(by_located)).reshape(len(hyper), -1),
                by_spread[:, learned] * slopes - scores,
            ],
            axis=1,
        )
        return value, by_hyper, by_scaled * scale - normal * latent * precision

    def curvature(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the expected curvature by the latents of each block, shape (chain, latent, latent, block)."""
        row_points, coefficients, scores = self.parts(hyper)
        common, logs, _, _ = self.rows.natural(row_points)
        spread = self.all_spreads(scores)
        scale, precision = self.stretched(spread)
        located, deviation = self.centre.located(coefficients), self._deviation(scale * latent)
        shares = shares_of(self.centre.basis, located + deviation[:, : self.n_ratios])
        if self.labeled is None:
            information = information_of_items(shares, common, self._items, self.centre.basis)
        else:
            information = information_of_units(
                shares,
                self._unit_rows(common, logs, deviation[:, self.n_ratios :]),
                items=self._items,
                labels=self.labeled.sum(axis=1),
                free=self.rows.free,
                basis=self.centre.basis,
                row_basis=self._row_basis,
            )
        if self.random_labels is not None:
            information[:, : self.n_ratios, : self.n_ratios] += self.random_labels.curvature(shares)
        if self.dirichlet is not None:
            groups = np.flatnonzero(self._groups)
            concentration = self.dirichlet.concentration(located[:, :, groups], spread[:, 0])
            of_prior = self.dirichlet.curvature(concentration, shares[:, :, groups])
            information[:, : self.n_ratios, : self.n_ratios, groups] += of_prior
        result = self._loaded(information) * scale[:, :, None] * scale[:, None]
        diagonal = np.arange(result.shape[1])
        result[:, diagonal, diagonal] += self._is_normal * precision
        return result

    def _loaded(self, information: FloatArray) -> FloatArray:
        """Return the information on scaled latents, of that on log-ratios unit by unit."""
        if self.loadings is None:
            return information
        rows = []
        for left, left_loading in self._loading_of_ratios:
            cells = [
                np.einsum("gs,cijg,gt->cisjt", left_loading, information[:, left, right], right_loading, optimize=True)
                for right, right_loading in self._loading_of_ratios
            ]
            shaped = [cell.reshape(len(cell), cell.shape[1] * cell.shape[2], -1) for cell in cells]
            rows.append(np.concatenate(shaped, axis=2))
        return np.concatenate(rows, axis=1)[..., None]
