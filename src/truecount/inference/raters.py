"""Labels that may be wrong: Gibbs sampling over patterns of labels, with moves of the confusion that keep the outputs.

In turns: the true classes of labelled items given all rates, the classes of unlabelled items, then all rates given
these. Imputed classes of many unlabelled items hold the confusion still, so other moves (Metropolis–Hastings) propose
it from what labelled items alone say. One takes the shares along so that a summary of the outputs, as many numbers as
there are classes, stays what it was; the centre of pooled groups goes along too. With more outputs than classes, two
more keep all outputs: one row gives way.

Items of clusters are worth parts of items, and a part has no class. Whole numbers near them are imputed, and what is
drawn given these is accepted or rejected, block by block, by the likelihood of the rest, which makes the draws exact.
"""

from dataclasses import dataclass, replace

import numpy as np

from truecount._log_sum import SMALLEST, finite_log, log_sum, softmax
from truecount._types import BoolArray, FloatArray
from truecount.inference import convergence
from truecount.inference.draws import CONFUSION_BYTES, Draws, dirichlet
from truecount.inference.group_draws import GroupDraws, chain_after_chain
from truecount.inference.pooled_shares import PooledShares
from truecount.inference.run import ChainRun, status_of
from truecount.models.erring_labels import RatedDensity

CHAINS, WARMUP, FIRST = 8, 500, 1000
"""Chains, sweeps of each that are thrown away, and sweeps after which it is first asked whether these are enough."""
MOST_SWEEPS = 32_000
WORST_CONDITION = 1e10
WANTED_ACCEPTANCE = 0.3
Move = tuple[FloatArray, FloatArray, FloatArray]
"""Logarithm of the acceptance ratio, proposed shares (the centre of pooled groups behind them), proposed confusion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedDraws:
    """Draws from the posterior of shares, confusion and raters, chain after chain.

    Parameters
    ----------
    prevalence
        Shape (draws, groups, classes).
    confusion
        Shape (kept, classes, outputs): belongs to every `stride`-th draw.
    raters
        Shape (kept, raters, classes, labels).
    labeled_prevalence
        Shape (kept, classes): class shares behind the labelled items.
    labeled
        Shape (classes, outputs): labelled items by class, imputed, on the average.
    centre
        Shape (kept, columns, log-ratios): of pooled groups, no columns elsewhere.
    spread
        Shape (kept, spreads): of pooled groups, none elsewhere.
    """

    prevalence: FloatArray
    confusion: FloatArray
    raters: FloatArray
    labeled_prevalence: FloatArray
    labeled: FloatArray
    centre: FloatArray
    spread: FloatArray
    stride: int
    effective: FloatArray
    rhat: FloatArray
    run: ChainRun

    def of_one(self) -> Draws:
        """Return the draws of one population."""
        return Draws(
            prevalence=self.prevalence[:, 0],
            confusion=self.confusion,
            stride=self.stride,
            chains=self.run.chains,
            effective=self.effective,
            rhat=self.rhat,
            run=self.run,
        )

    def have_groups_converged(self) -> bool:
        """Whether what pooled groups have in common has converged, too."""
        return not self.spread.size or self.of_groups().is_enough(convergence.FEWEST_EFFECTIVE)

    def of_groups(self) -> GroupDraws:
        """Return the draws of several groups, which have one classifier in common."""
        return GroupDraws(
            prevalence=self.prevalence[:: self.stride],
            confusion=self.confusion,
            centre=self.centre,
            spread=self.spread,
            common_rows=None,
            row_spread=np.zeros((len(self.confusion), 0)),
            chains=self.run.chains,
            iterations=self.run.warmup + len(self.prevalence) // self.run.chains,
            gradients=0,
            acceptance=self.run.acceptance or 0.0,
        )


def sample_rated(density: RatedDensity, *, effective_draws: int, seed: int) -> RatedDraws:
    """Draw until every share has this effective sample size, or the sweeps are spent."""
    chain = _Chains(density, np.random.default_rng(seed))
    for _ in range(WARMUP):
        chain.sweep(is_tuning=True)
    wanted, swept = FIRST, 0
    kept = _Kept(stride=1)
    while True:
        for sweep in range(swept, wanted):
            chain.sweep()
            kept.add(chain, sweep)
        swept = wanted
        prevalence = kept.prevalence()
        flat = prevalence.reshape(len(prevalence), -1)
        effective, rhat = convergence.effective_draws(flat, CHAINS), convergence.rhat(flat, CHAINS)
        is_enough = effective.min() >= effective_draws and rhat.max() <= convergence.RHAT_LIMIT
        if is_enough or swept >= MOST_SWEEPS:
            drawn = kept.draws(chain, effective, rhat)
            if swept >= MOST_SWEEPS or drawn.have_groups_converged():
                return drawn
        wanted = min(2 * swept, MOST_SWEEPS)


class _Chains:
    """Where the chains stand: shapes (chains, …)."""

    def __init__(self, density: RatedDensity, rng: np.random.Generator) -> None:
        self.density, self.rng = density, rng
        patterns, outputs = np.nonzero(density.labeled)
        self.items = density.whole_items[patterns, outputs]
        whole = np.rint(density.unlabeled).astype(np.int64)
        self.unlabeled, self.whole_unlabeled = density.unlabeled, whole
        self.rest, self.unlabeled_rest = density.labeled[patterns, outputs] - self.items, self.unlabeled - whole
        self.has_rest = bool(self.rest.any() or self.unlabeled_rest.any())
        n_classes, n_outputs = density.rows.shape
        self.of_output = np.eye(n_outputs)[outputs]
        said = np.zeros((len(density.labels), len(density.raters), n_classes))
        place, column = np.nonzero(density.labels >= 0)
        np.add.at(said, (place, density.rater_of[column], density.labels[place, column]), 1.0)
        self.said = said[patterns].reshape(len(patterns), -1)
        self.tau = np.full((CHAINS, n_classes), 1 / n_classes)
        right = density.raters / density.raters.sum(axis=2, keepdims=True)
        self.rho = np.tile(np.where(np.isnan(density.known), right, density.known), (CHAINS, 1, 1, 1))
        self.phi = np.full((CHAINS, n_classes, n_outputs), 1 / n_outputs)
        self.pi = np.full((CHAINS, len(self.unlabeled), n_classes), 1 / n_classes)
        self.common = None if density.spread is None else PooledShares(density.prevalence, density.spread, CHAINS)
        self.total = np.zeros((n_classes, n_outputs))
        self.log_step, self.moved, self.moves = np.full((3, CHAINS), -1.0), 0.0, 0
        self._impute_labeled()
        self.phi = dirichlet(rng, self._rows(), ())
        guess = self._rows().mean(axis=0)
        guess /= guess.sum(axis=1, keepdims=True)
        self.summary = (guess / guess.sum(axis=0)).T  # (outputs, classes): rows add up to one
        singular = np.linalg.svd(guess @ self.summary, compute_uv=False)
        self.can_move = bool(self.unlabeled.any() and n_outputs >= n_classes and singular[-1] > 1e-6)
        self.can_rest = bool(len(self.unlabeled) == 1 and self.unlabeled.any() and n_outputs > n_classes)

    def _rows(self) -> FloatArray:
        """Concentrations of the confusion given labelled items alone."""
        return self.density.rows + self.of_class_output

    def _concentration(self) -> FloatArray:
        """Of the shares of each group, shape (classes,) or (chains, 1, classes)."""
        return self.density.prevalence if self.common is None else self.common.concentration()[:, None]

    def sweep(self, *, is_tuning: bool = False) -> None:
        """Draw everything once."""
        rng, density = self.rng, self.density
        before = self.tau, self.rho, self.pi, self.phi
        self._impute_labeled()
        self.tau = dirichlet(rng, density.shares + self.of_class, ())
        self.rho = dirichlet(rng, density.raters + self.of_class_label, ())
        self.rho = np.where(np.isnan(density.known), self.rho, density.known)
        joint = self.pi[:, :, None, :] * self.phi.transpose(0, 2, 1)[:, None] + SMALLEST
        items = rng.multinomial(self.whole_unlabeled, joint / joint.sum(axis=3, keepdims=True))
        rows = self._rows() + items.sum(axis=1).transpose(0, 2, 1)
        self.pi = np.maximum(dirichlet(rng, self._concentration() + items.sum(axis=2), ()), SMALLEST)
        self.phi = np.maximum(dirichlet(rng, rows, ()), SMALLEST)
        if self.has_rest:
            self._keep_some(before)
        if self.common is not None:
            self.common.sweep(rng, self.pi)
            self.pi = self.common.move(rng, self.pi, lambda shares: self._log_likelihood(shares, self.phi))
        if self.can_move:
            self._take(0, self._move_along_summary(), is_tuning)
        if self.can_rest:
            self._take(1, self._move_rows(), is_tuning)
            self._take(2, self._move_shares(), is_tuning)

    def _impute_labeled(self) -> None:
        """Draw the classes of labelled items, those of one pattern and output at once."""
        heights = self._heights(self.tau, self.rho, self.phi)
        items = self.rng.multinomial(self.items, softmax(heights)).astype(np.float64)
        of_class = items.transpose(0, 2, 1)
        self.of_class, self.of_class_output = items.sum(axis=1), of_class @ self.of_output
        n_chains, n_classes = self.tau.shape
        by_label = (of_class @ self.said).reshape(n_chains, n_classes, -1, n_classes)
        self.of_class_label = by_label.transpose(0, 2, 1, 3)

    def _heights(self, tau: FloatArray, rho: FloatArray, phi: FloatArray) -> FloatArray:
        """Shape (chains, cells, classes): log-probability of class, labels and output of an item of each cell."""
        logs = finite_log(rho).transpose(0, 2, 1, 3).reshape(CHAINS, len(tau[0]), -1)
        heights = finite_log(tau)[:, None] + self.said @ logs.transpose(0, 2, 1)
        return np.asarray(heights + self.of_output @ finite_log(phi).transpose(0, 2, 1))

    def _keep_some(self, before: tuple[FloatArray, ...]) -> None:
        """Let blocks stay what they were, one after the other, by the likelihood of what imputed items leave out.

        Given the imputed items, all blocks were drawn independently: the shares behind labels, each row of each rater,
        the shares of each group, each row of the confusion. Each is accepted or rejected given those before it. All at
        once, hardly any would be accepted where labels have many patterns.
        """
        tau, rho, pi, phi = self.tau, self.rho, self.pi, self.phi
        self.tau, self.rho, self.pi, self.phi = (each.copy() for each in before)
        heights = self._heights(self.tau, self.rho, self.phi).transpose(2, 0, 1).copy()
        self._keep_block(heights, slice(None), _change(self.tau, tau).T[:, :, None], (self.tau, tau))
        said = self.said.reshape(len(self.said), len(self.density.raters), -1)
        for rater, row in np.argwhere(np.isnan(self.density.known).any(axis=2)):
            block = self.rho[:, rater, row], rho[:, rater, row]
            self._keep_block(heights, row, _change(*block) @ said[:, rater].T, block)
        gain = self._gain(pi, self.phi)
        self.pi = np.where((np.log(self.rng.random(gain.shape)) < gain)[:, :, None], pi, self.pi)
        for row in range(phi.shape[1]):
            block, rows = (self.phi[:, row], phi[:, row]), self.phi.copy()
            rows[:, row] = phi[:, row]
            gain = self._gain(self.pi, rows).sum(axis=1)
            self._keep_block(heights, row, _change(*block) @ self.of_output.T, block, gain)

    def _keep_block(
        self,
        heights: FloatArray,
        row: int | slice,
        change: FloatArray,
        block: tuple[FloatArray, FloatArray],
        gain: FloatArray | float = 0.0,
    ) -> None:
        """Accept a block in some chains; heights, shape (classes, chains, cells), change in a row, or in all."""
        changed = heights.copy()
        changed[row] += change
        accepted = (
            np.log(self.rng.random(CHAINS))
            < (log_sum(changed, axis=0) - log_sum(heights, axis=0))[0] @ self.rest + gain
        )
        heights[:, accepted] = changed[:, accepted]
        block[0][accepted] = block[1][accepted]

    def _gain(self, shares: FloatArray, rows: FloatArray) -> FloatArray:
        """Shape (chains, groups): what the unlabelled items that are not imputed gain in log-likelihood."""
        return np.asarray((self.unlabeled_rest * _change(self.pi @ self.phi, shares @ rows)).sum(axis=2))

    def _log_rest(self, tau: FloatArray, rho: FloatArray, phi: FloatArray) -> FloatArray:
        """Shape (chains,): log-likelihood of the parts of labelled items that are not imputed."""
        return np.asarray(log_sum(self._heights(tau, rho, phi).transpose(2, 0, 1), axis=0)[0] @ self.rest)

    def _move_along_summary(self) -> Move:
        """Propose a confusion from what labelled items say, with shares that keep the summary of the outputs.

        The shares of each group, and their centre, go through a linear map that keeps their sum: its determinant is
        that of the summaries.
        """
        proposal = self._refreshed(self.phi, self._rows(), self._part(0))
        before, after = self.phi @ self.summary, proposal @ self.summary
        is_regular = np.linalg.cond(np.stack([before, after])).max(axis=0) < WORST_CONDITION
        after = np.where(is_regular[:, None, None], after, np.eye(len(self.density.rows)))
        old = self.pi if self.common is None else np.concatenate([self.pi, self.common.centre[:, None]], axis=1)
        new = old @ before @ np.linalg.inv(after)
        is_inside: BoolArray = is_regular & (new > 0).all(axis=(1, 2))
        new = np.where(is_inside[:, None, None], new, old)
        ratio = old.shape[1] * (np.linalg.slogdet(before)[1] - np.linalg.slogdet(after)[1])
        ratio += self._log_prior(new) - self._log_prior(old)
        shares = new[:, : len(self.unlabeled)]
        ratio += self._log_likelihood(shares, proposal) - self._log_likelihood(self.pi, self.phi)
        return np.where(is_inside, ratio, -np.inf), new, proposal

    def _log_prior(self, shares: FloatArray) -> FloatArray:
        """Return the log-density of the groups' shares and, behind them, their centre where they have one."""
        if self.common is None:
            return np.asarray(((self.density.prevalence - 1) * np.log(shares)).sum(axis=(1, 2)))
        centre, groups = shares[:, -1], shares[:, :-1]
        own = ((self.density.prevalence - 1) * np.log(centre)).sum(axis=1)
        return np.asarray(own + self.common.log_density(groups, centre) - np.log(groups).sum(axis=(1, 2)))

    def _move_rows(self) -> Move:
        """Propose all rows but one; that one takes what keeps the outputs of the population exactly as they are."""
        proposal = self._refreshed(self.phi, self._rows(), self._part(1))
        return self._with_rest(self.pi, proposal)

    def _move_shares(self) -> Move:
        """Propose shares; one row takes what keeps the outputs of the population exactly as they are."""
        prior = np.broadcast_to(self.density.prevalence, self.pi.shape)
        return self._with_rest(self._refreshed(self.pi, prior, self._part(2)), self.phi.copy())

    def _with_rest(self, shares: FloatArray, proposal: FloatArray) -> Move:
        """Let a row chosen by chance keep the outputs: it is shifted, and stretched by its old share over the new."""
        n_classes, n_outputs = self.density.rows.shape
        rest, row = int(self.rng.integers(n_classes)), self._rows()
        others = np.delete(np.arange(n_classes), rest)
        outputs = (self.pi @ self.phi)[:, 0]
        by_others = np.einsum("cl,clk->ck", shares[:, 0, others], proposal[:, others])
        left = np.maximum(shares[:, 0, rest], SMALLEST)
        proposal[:, rest] = (outputs - by_others) / left[:, None]
        is_inside: BoolArray = np.asarray((proposal[:, rest] > 0).all(axis=1))
        proposal = np.where(is_inside[:, None, None], proposal, self.phi)
        change = np.log(proposal[:, rest]) - np.log(self.phi[:, rest])
        ratio = ((row[:, rest] - 1) * change).sum(axis=1)
        ratio += (n_outputs - 1) * (np.log(self.pi[:, 0, rest]) - np.log(left))
        return np.where(is_inside, ratio, -np.inf), shares, proposal

    def _take(self, kind: int, move: Move, is_tuning: bool) -> None:
        ratio, shares, proposal = move
        if self.has_rest:
            ratio = ratio + self._log_rest(self.tau, self.rho, proposal) - self._log_rest(self.tau, self.rho, self.phi)
        accepted = np.log(self.rng.random(CHAINS)) < ratio
        self.phi = np.where(accepted[:, None, None], proposal, self.phi)
        self.pi = np.where(accepted[:, None, None], shares[:, : len(self.unlabeled)], self.pi)
        if self.common is not None:
            self.common.centre = np.where(accepted[:, None], shares[:, -1], self.common.centre)
        if is_tuning:
            self.log_step[kind] += 0.1 * (accepted - WANTED_ACCEPTANCE)
        else:
            self.moved, self.moves = self.moved + accepted.mean(), self.moves + 1

    def _part(self, kind: int) -> FloatArray:
        step = np.exp(self.log_step[kind])
        return np.asarray((step / (1 + step))[:, None, None])

    def _refreshed(self, shares: FloatArray, concentrations: FloatArray, part: FloatArray) -> FloatArray:
        """Replace a part of Dirichlet shares, in a way that leaves their distribution as it is.

        A gamma variable is thinned by a beta one and filled up by another gamma (Lewis, McKenzie & Hugus 1989).
        Shares of which either sum is too small for a number stay what they are.
        """
        rng = self.rng
        new = np.maximum(part * concentrations, 1e-12)
        old = np.maximum(concentrations - new, 1e-12)
        total = rng.standard_gamma(concentrations.sum(axis=2, keepdims=True))
        kept = shares * total * rng.beta(old, new) + rng.standard_gamma(new)
        new_total = kept.sum(axis=2, keepdims=True)
        is_seen = np.minimum(total, new_total) > SMALLEST
        return np.maximum(np.where(is_seen, kept, shares) / np.where(is_seen, new_total, 1.0), SMALLEST)

    def _log_likelihood(self, shares: FloatArray, rows: FloatArray) -> FloatArray:
        return np.asarray((self.unlabeled * finite_log(shares @ rows)).sum(axis=(1, 2)))


def _change(old: FloatArray, new: FloatArray) -> FloatArray:
    """Return by how much logarithms differ."""
    return np.asarray(finite_log(new) - finite_log(old))


class _Kept:
    """Draws that were kept; when confusions and raters weigh too much, every second one is let go."""

    def __init__(self, stride: int) -> None:
        self.stride, self.shares = stride, list[FloatArray]()
        self.more: list[tuple[FloatArray, ...]] = []
        self.labeled: FloatArray | float = 0.0

    def add(self, chains: _Chains, sweep: int) -> None:
        """Keep where the chains stand."""
        self.shares.append(chains.pi)
        self.labeled = self.labeled + chains.of_class_output.mean(axis=0)
        if sweep % self.stride == 0:
            common, ratios = chains.common, chains.tau.shape[1] - 1
            centre = np.zeros((CHAINS, 0, ratios)) if common is None else common.ratios()[:, None]
            spread = np.zeros((CHAINS, 0)) if common is None else common.spread[:, None]
            self.more.append((chains.phi, chains.rho, chains.tau, centre, spread))
            if len(self.more) * (chains.phi.size + chains.rho.size) * 8 > CONFUSION_BYTES:
                self.more, self.stride = self.more[::2], 2 * self.stride

    def prevalence(self) -> FloatArray:
        """Shape (draws, groups, classes), chain after chain."""
        return chain_after_chain(self.shares)

    def draws(self, chains: _Chains, effective: FloatArray, rhat: FloatArray) -> RatedDraws:
        """Return everything, judged, and cut so that each chain holds a whole number of strides."""
        number = len(self.shares) // self.stride * self.stride
        confusion, raters, shares, centre, spread = (
            chain_after_chain(list(each)) for each in zip(*self.more[: number // self.stride], strict=True)
        )
        complaint = convergence.complaint(effective, rhat)
        run = ChainRun(
            engine="Gibbs with raters", chains=CHAINS, warmup=WARMUP, acceptance=chains.moved / max(chains.moves, 1)
        )
        return RatedDraws(
            prevalence=chain_after_chain(self.shares[:number]),
            confusion=confusion,
            raters=raters,
            labeled_prevalence=shares,
            labeled=np.asarray(self.labeled / len(self.shares)),
            centre=centre,
            spread=spread,
            stride=self.stride,
            effective=effective,
            rhat=rhat,
            run=replace(run, not_converged=complaint, status=status_of(complaint, rhat)),
        )
