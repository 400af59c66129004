"""Independent draws from the exact posterior: no chains, no warm-up, nothing to converge.

Proposals are weighted (`proposal` says how), and a pool of them is resampled to equally weighted draws. A pilot tells
whether enough of them count. If not, or if labels, prior and unlabelled counts contradict each other so that a mode may
be out of the proposals' reach (`conflict`), proposals are made that reach every mode (`defensive`); if too few of those
count either, the engine refuses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truecount import _check
from truecount.errors import UnsuitableEngineError
from truecount.inference import convergence
from truecount.inference.draws import (
    Draws,
    Engine,
    confusion_stride,
    prior_prevalence,
    rows_by_labels,
    within_digits,
)
from truecount.inference.importance.conflict import conflict
from truecount.inference.importance.defensive import DefensiveProposal
from truecount.inference.importance.driver import grow, refusal, resampled, tail
from truecount.inference.importance.joint import exact_jointly
from truecount.inference.importance.proposal import Pool, Proposal
from truecount.inference.modes.landscape import Landscape, survey
from truecount.inference.run import ImportanceRun
from truecount.models import Density

SUSPICIOUS = 8.0
"""A pilot's largest weight, in means, from which on smaller systems are tried."""
FEW_EQUATIONS = 4
"""Up to so many a proposal of which nothing fell inside may be widened; more fail for classes near zero."""
NO_CONFLICT, SOME_CONFLICT = 2.0, 8.0
"""Nats: up to the first, what is high for the posterior is not rare among the usual proposals; up to the second they
are used where only one mode was found."""
MOST_CELLS = 12
"""Of the confusion: in larger problems that the usual proposals cannot do, chains are surer than proposals by mode."""
LEAST_BY_MODE = 0.02
"""Share of the proposals by mode that must count: where it is smaller, the weights seen tell little of those unseen."""
FITTINGS, ROUND_SIZE, ROUNDS = 5, 4000, 3
"""How often proposals that reach every mode are fitted to the posterior, by so many draws; and how many pools they may
fill before they are given up."""


@dataclass(frozen=True, slots=True)
class Exact(Engine):
    """Independent draws from the exact posterior.

    Parameters
    ----------
    draws
        How many to return.
    effective_draws
        Return more where needed, so that so many are effective for every class.

    Notes
    -----
    It refuses problems of more than a few classes and outputs where too few proposals would count: many classes near
    zero, many more unlabelled than labelled items with more outputs than classes, or a prevalence prior below 1.
    """

    draws: int = 4000
    effective_draws: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=2)
        if self.effective_draws is not None:
            _check.whole_number("effective_draws", self.effective_draws, least=1)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        rng, size = np.random.default_rng(seed), max(self.draws, self.effective_draws or 0)
        density = within_digits(density)
        if not density.unlabeled.any() or density.n_outputs == 1:
            return _prior_draws(density, size, rng)
        pool, landscape = _fill_pool(density, size, rng)
        draws = resampled(pool, size, self.effective_draws or 0, rng)
        if landscape is None:
            return draws
        if landscape.is_missed_by(draws.prevalence):
            raise refusal("no draw lies near a mode that was found")
        return replace(draws, run=replace(draws.run, modes=landscape.prevalence_of_modes))

    def sample_jointly(self, densities: Sequence[Density], seed: int) -> list[Draws]:
        """Draw together, or refuse by name."""
        return exact_jointly(densities, self.draws, self.effective_draws or 0, seed)


def _prior_draws(density: Density, size: int, rng: np.random.Generator) -> Draws:
    """Without unlabelled items, or other outputs, the prevalence keeps its prior and the rows what the labels say."""
    stride = confusion_stride(size, density.rows.size)
    confusion = rows_by_labels(rng, density, len(range(0, size, stride)))
    return Draws(
        prevalence=prior_prevalence(rng, density, size),
        confusion=confusion,
        stride=stride,
        effective=np.full(density.n_classes, float(size)),
        run=ImportanceRun(proposed=size, share_inside=1.0, share_effective=1.0),
    )


def _fill_pool(density: Density, size: int, rng: np.random.Generator) -> tuple[Pool, Landscape | None]:
    """Fill a pool with the usual proposals, or, where they might miss a mode, with such as reach every mode.

    The modes are returned too, where they were looked for.
    """
    try:
        pool = _usual_pool(density, size, rng)
    except UnsuitableEngineError:
        if density.rows.size > MOST_CELLS or density.is_learning:
            raise
        landscape = survey(density)
        return _defensive_pool(landscape, size, rng), landscape
    nats = nats_of_conflict(density, pool)
    if nats <= NO_CONFLICT:
        return pool, None
    landscape = survey(density)
    is_plain = len(landscape.modes) == 1 if density.is_learning else landscape.is_plain and nats <= SOME_CONFLICT
    if is_plain and not landscape.is_missed_by(pool.prevalence):
        return pool, landscape
    if density.is_learning:
        raise refusal("the posterior has several modes, and the prior is learned")
    return _defensive_pool(landscape, size, rng), landscape


def nats_of_conflict(density: Density, pool: Pool) -> float:
    """Return the conflict; zero where proposals differ from the posterior by |det φ| alone, and hardly by that."""
    is_by_determinant = density.n_outputs <= density.n_classes and (density.prevalence == 1).all()
    if is_by_determinant and pool.largest * pool.proposed <= np.exp(NO_CONFLICT) * len(pool.log_weights):
        return 0.0
    return conflict(density, pool)


def _defensive_pool(landscape: Landscape, size: int, rng: np.random.Generator) -> Pool:
    """Propose from everywhere that a mode may be, in the measure that earlier rounds found worthwhile."""
    proposal = DefensiveProposal.around(landscape, Proposal.first(landscape.density))
    for _ in range(FITTINGS):
        proposal = proposal.fitted(proposal.draw(ROUND_SIZE, rng))
    pool = proposal.draw(ROUND_SIZE, rng)
    for _ in range(ROUNDS):
        pool = grow(pool, proposal, size, rng)
        k, share = tail(pool), pool.effective / pool.proposed
        if k <= convergence.PARETO_K_LIMIT and share >= LEAST_BY_MODE:
            return pool
        proposal = proposal.fitted(pool)
        pool = proposal.draw(ROUND_SIZE, rng)
    raise refusal(f"the weights are too uneven (Pareto k {k:.2f}, {share:.1%} of the proposals would count)")


def _usual_pool(density: Density, size: int, rng: np.random.Generator) -> Pool:
    """Propose until the pool is worth `size` draws; where its weights have a long tail, propose more widely."""
    if density.learned_prevalence is not None or (density.prevalence < 1).any():
        raise refusal("a prevalence prior below 1 makes the weights' tail too heavy")
    proposal, pool = _pilot(Proposal.first(density), density, rng)
    while True:
        pool = grow(pool, proposal, size, rng)
        k = tail(pool)
        if k <= convergence.PARETO_K_LIMIT:
            return pool
        if (wider := proposal.widened()) is proposal:
            raise refusal(f"the weights' tail is too heavy (Pareto k {k:.2f})")
        proposal = wider.fitted(pool)
        pool = proposal.draw(_pilot_size(density), rng)


def _pilot(proposal: Proposal, density: Density, rng: np.random.Generator) -> tuple[Proposal, Pool]:
    """Draw a first pool, and mix in smaller systems while that makes more of it count."""
    pool = proposal.draw(_pilot_size(density), rng)
    while pool.largest > SUSPICIOUS and (wider := _wider(proposal, pool)) is not proposal:
        wider_pool = wider.draw(_pilot_size(density), rng)
        if wider_pool.effective < pool.effective:
            break
        proposal, pool = wider, wider_pool
    if proposal.is_learning and len(pool.log_weights) > 1:
        proposal = proposal.fitted(pool)
        pool = proposal.draw(_pilot_size(density), rng)
    return proposal, pool


def _wider(proposal: Proposal, pool: Pool) -> Proposal:
    """Mix in a smaller system; where nothing fell inside, only if equations are few: many fail for other reasons."""
    if len(pool.log_weights) <= 1 and proposal.sources[0].system.size > FEW_EQUATIONS:
        return proposal
    wider = proposal.widened()
    return wider if wider is proposal or len(pool.log_weights) <= 1 else wider.fitted(pool)


def _pilot_size(density: Density) -> int:
    return max(512, 20_000 // density.rows.size)
