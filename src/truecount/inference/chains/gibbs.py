"""Gibbs sampling with the class of every unlabelled item imputed: the plainest engine, and a check on the others."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truecount import _check
from truecount._advice import AUTO, HAMILTONIAN, Advice
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.chains.history import History
from truecount.inference.chains.learning import Concentrations
from truecount.inference.draws import Draws, Engine, dirichlet, draw_rows, groups_apart
from truecount.inference.run import ChainRun, JointRun
from truecount.models import Density

MOST_IMPUTED = 20.0
"""Imputed items for each labelled one, beyond which the confusion hardly moves."""


@dataclass(frozen=True, slots=True)
class Gibbs(Engine):
    """Impute the unlabelled items' classes, then draw prevalence and confusion given them, in turns.

    Parameters
    ----------
    draws
        How many to return, all chains together (rounded up to a multiple of the chains).
    chains, warmup
        How many chains, and how many sweeps of each are thrown away.

    Notes
    -----
    It refuses problems in which its chains would crawl: many more unlabelled than labelled items, because so many
    imputed labels hold the confusion still, and fewer outputs than classes. Weighted counts are rounded to whole items.
    """

    draws: int = 16_000
    chains: int = field(default=8, kw_only=True)
    warmup: int = field(default=500, kw_only=True)

    def __post_init__(self) -> None:
        for argument, least in (("draws", 2), ("chains", 1), ("warmup", 0)):
            _check.whole_number(argument, getattr(self, argument), least=least)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        return self._drawn([density], seed)

    def sample_jointly(self, densities: Sequence[Density], seed: int) -> list[Draws]:
        """Draw together, or refuse by name."""
        return groups_apart(self._drawn(densities, seed), JointRun(groups=len(densities)))

    def _drawn(self, densities: Sequence[Density], seed: int) -> Draws:
        """Impute the items of all groups; then draw each group's prevalence, and the confusion given them all."""
        shared, unlabeled = (
            densities[0],
            np.stack([np.rint(density.unlabeled).astype(np.int64) for density in densities]),
        )
        _refuse_crawling(replace(shared, unlabeled=np.sum([density.unlabeled for density in densities], axis=0)))
        rng = np.random.default_rng(seed)
        confusion = draw_rows(rng, shared, 0.0, (self.chains,))
        prevalence = dirichlet(rng, shared.prevalence, (self.chains, len(densities)))
        history, concentrations = History(self.chains, shared), Concentrations(shared, self.chains, rng)
        for sweep in range(self.warmup + -(-self.draws // self.chains)):
            items = _impute(unlabeled, prevalence, confusion, rng)
            of_class, of_row = items.sum(axis=2), items.sum(axis=1).transpose(0, 2, 1)
            concentrations.update(of_class, of_row, rng)
            prevalence = dirichlet(rng, concentrations.prevalence + of_class, ())
            confusion = draw_rows(rng, shared, of_row + concentrations.beyond, ())
            if sweep >= self.warmup:
                history.append(prevalence.reshape(self.chains, -1), confusion)
        return history.draws(ChainRun(engine="Gibbs", chains=self.chains, warmup=self.warmup))


def _impute(
    unlabeled: np.ndarray, prevalence: FloatArray, confusion: FloatArray, rng: np.random.Generator
) -> np.ndarray:
    """Shape (chains, groups, outputs, classes): how many items of each output belong to each class."""
    joint = prevalence[:, :, None, :] * confusion.transpose(0, 2, 1)[:, None] + 1e-300
    return rng.multinomial(unlabeled, joint / joint.sum(axis=3, keepdims=True))


def _refuse_crawling(density: Density) -> None:
    """Refuse problems in which the chains would hardly move."""
    learned = density.rows[~density.is_known].sum()
    if learned and density.unlabeled.sum() > MOST_IMPUTED * learned:
        reason = "so many unlabelled items for each labelled one would hold the confusion still"
    elif density.n_outputs < density.n_classes and density.unlabeled.any() and density.n_outputs > 1:
        reason = "with fewer outputs than classes its chains crawl"
    else:
        return
    raise UnsuitableEngineError("engine", "is Gibbs", reason, Advice("Use {} or {}", AUTO, HAMILTONIAN))
