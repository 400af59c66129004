"""Gibbs sampling with the class of every unlabelled item imputed: the plainest engine, and a check on the others."""

from dataclasses import dataclass, field

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws, dirichlet, draw_rows
from truecount.inference.history import History
from truecount.inference.learning import Concentrations
from truecount.inference.run import ChainRun
from truecount.models import Density

MOST_IMPUTED = 20.0
"""Imputed items for each labelled one, beyond which the confusion hardly moves."""


@dataclass(frozen=True, slots=True)
class Gibbs:
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
        refuse_crawling(density)
        rng = np.random.default_rng(seed)
        unlabeled = np.rint(density.unlabeled).astype(np.int64)
        confusion = draw_rows(rng, density, 0.0, (self.chains,))
        prevalence = dirichlet(rng, density.prevalence, (self.chains,))
        history, concentrations = History(self.chains, density), Concentrations(density, self.chains, rng)
        for sweep in range(self.warmup + -(-self.draws // self.chains)):
            items = _impute(unlabeled, prevalence, confusion, rng)
            concentrations.update(items, rng)
            prevalence = dirichlet(rng, concentrations.prevalence + items.sum(axis=2), ())
            confusion = draw_rows(rng, density, items + concentrations.beyond, ())
            if sweep >= self.warmup:
                history.append(prevalence, confusion)
        return history.draws(ChainRun(engine="Gibbs", chains=self.chains, warmup=self.warmup))


def _impute(
    unlabeled: np.ndarray, prevalence: FloatArray, confusion: FloatArray, rng: np.random.Generator
) -> np.ndarray:
    """Shape (chains, classes, outputs): how many items of each output belong to each class."""
    joint = prevalence[:, :, None] * confusion + 1e-300
    given_output = (joint / joint.sum(axis=1, keepdims=True)).transpose(0, 2, 1)
    return rng.multinomial(unlabeled, given_output).transpose(0, 2, 1)


def refuse_crawling(density: Density) -> None:
    """Refuse problems in which the chains would hardly move."""
    learned = density.rows[~density.is_known].sum()
    if learned and density.unlabeled.sum() > MOST_IMPUTED * learned:
        reason = "so many unlabelled items for each labelled one would hold the confusion still"
    elif density.n_outputs < density.n_classes and density.unlabeled.any() and density.n_outputs > 1:
        reason = "with fewer outputs than classes its chains crawl"
    else:
        return
    raise UnsuitableEngineError("engine", "is Gibbs", reason, "Use Auto() or Hamiltonian()")
