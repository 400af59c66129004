"""Gibbs sampling with the class of every unlabelled item imputed; transfers between classes make it fit for many."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from truecount import _check
from truecount._advice import AUTO, HAMILTONIAN, Advice
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.chains.history import History
from truecount.inference.chains.learning import Concentrations
from truecount.inference.chains.piles import Piles
from truecount.inference.chains.tilts import Tilts, has_many_outputs
from truecount.inference.chains.transfers import absorbing_chances, transfer
from truecount.inference.draws import Draws, Engine, dirichlet, draw_rows, groups_apart, sparse_dirichlet
from truecount.inference.modes.landscape import Landscape, survey
from truecount.inference.run import ChainRun, JointRun
from truecount.models import Density

MOST_IMPUTED = 20.0
"""Imputed items for each labelled one, beyond which the confusion hardly moves without tilts."""
MOST_ROUNDED = 1e-3
"""Part of the items by which rounding weighted ones may change them."""
SWEEPS_PER_TRANSFER = 3
FEWEST_SWEEPS = 2500
"""Sweeps of the usual budget, at least. Of 1,000 classes R-hat is then not yet below the strictest limit."""
WORTH_CUTTING = 30_000
"""Cells of all chains from which on two threads are faster than one, unless rows are sparse: piles and tilts are many
short steps, which threads take in turns."""


@dataclass(frozen=True, slots=True)
class Gibbs(Engine):
    """Impute the unlabelled items' classes, then draw prevalence and confusion given them, in turns.

    Parameters
    ----------
    draws
        How many to return, all chains together (rounded up to a multiple of the chains).
    effective_draws
        Go on until every class has this effective sample size, R-hat is at most 1.01, or the budget is spent.
    chains, warmup
        How many chains, and how many sweeps of each are thrown away.
    budget
        Sweeps that each chain may make; None takes a bound that falls with the size of the problem.

    Notes
    -----
    After every third sweep prevalence is moved between classes while the outputs keep their shares
    (`chains.transfers`), because imputed items hold the rows of large classes still. Where rows are sparse, piles of
    items move between classes (`chains.piles`) and the odds of whole classes are tilted (`chains.tilts`) instead.
    Groups that are drawn jointly go without all of these. Where not every draw of the confusion is kept, the realized
    shares are those of the imputed items.

    It refuses problems in which its chains would crawl: where rows are not sparse, many more unlabelled than labelled
    items, because so many imputed labels hold all of the confusion still; and fewer outputs than classes. Weighted
    counts are rounded to whole items, and refused where that would change them by more than one in a thousand.
    """

    draws: int = 16_000
    effective_draws: int | None = field(default=None, kw_only=True)
    chains: int = field(default=8, kw_only=True)
    warmup: int = field(default=500, kw_only=True)
    budget: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for argument, least in (("draws", 2), ("chains", 1), ("warmup", 0)):
            _check.whole_number(argument, getattr(self, argument), least=least)
        for argument in ("effective_draws", "budget"):
            if getattr(self, argument) is not None:
                _check.whole_number(argument, getattr(self, argument), least=2)

    @classmethod
    def for_many_classes(cls, effective_draws: int, cells: int) -> "Gibbs":
        """Return what `Auto` asks of a confusion with so many cells: fewer chains for more of them or for few draws."""
        chains = min(32 if cells <= 10_000 else 16 if cells <= 100_000 else 4, max(8, effective_draws // 100))
        return cls(effective_draws, effective_draws=effective_draws, chains=chains, warmup=100)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        refuse_crawling(density, is_tilted=_is_tilted(density))
        return self.sample_from(survey(density), seed)

    def sample_from(self, landscape: Landscape, seed: int) -> Draws:
        """Draw; chains begin where the landscape says, and must not miss its modes."""
        density = landscape.density
        budget = self.budget or int(np.clip(2e9 / (self.chains * density.rows.size), FEWEST_SWEEPS, 40_000))
        imputed: list[FloatArray] = []
        with _Chains(landscape, self.chains, seed) as chains:
            chains.warm_up(self.warmup)
            history = History(self.chains, density)
            more = -(-self.draws // self.chains)
            while more and history.length < budget:
                for _ in range(min(more, budget - history.length)):
                    chains.sweep(1)
                    history.append(*chains.where())
                    imputed.append(chains.imputed())
                more = 0 if self.effective_draws is None else history.missing(self.effective_draws)
        run = ChainRun(engine="Gibbs", chains=self.chains, warmup=self.warmup, modes=landscape.prevalence_of_modes)
        drawn = history.draws(run)
        if drawn.stride > 1 and density.unlabeled.any():
            of_class = np.stack(imputed[: len(drawn.prevalence) // self.chains], axis=1).reshape(drawn.prevalence.shape)
            drawn = replace(drawn, realized=of_class / of_class.sum(axis=1, keepdims=True))
        return landscape.judged(drawn)

    def sample_jointly(self, densities: Sequence[Density], seed: int) -> list[Draws]:
        """Draw together, or refuse by name: impute the items of all groups, then draw each group's prevalence."""
        shared = densities[0]
        refuse_crawling(replace(shared, unlabeled=np.sum([density.unlabeled for density in densities], axis=0)))
        unlabeled, rng = np.stack([_whole_items(density) for density in densities]), np.random.default_rng(seed)
        confusion = draw_rows(rng, shared, 0.0, (self.chains,))
        prevalence = dirichlet(rng, shared.prevalence, (self.chains, len(densities)))
        history, concentrations = History(self.chains, shared), Concentrations(shared, self.chains, rng)
        for sweep in range(self.warmup + -(-self.draws // self.chains)):
            items = _imputed(unlabeled, prevalence, confusion, rng)
            prevalence, confusion, _ = _drawn(shared, items, concentrations, rng)
            if sweep >= self.warmup:
                history.append(prevalence.reshape(self.chains, -1), confusion)
        run = ChainRun(engine="Gibbs", chains=self.chains, warmup=self.warmup)
        return groups_apart(history.draws(run), JointRun(groups=len(densities)))


class _Chains:
    """Chains of one population under way, large ones in two threads: by their size alone, whatever the machine."""

    def __init__(self, landscape: Landscape, chains: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        prevalence, confusion = landscape.starting_points(chains, rng)
        chances = absorbing_chances(landscape.density, landscape.modes[0, :, 0])
        is_large = chains > 1 and chains * landscape.density.rows.size >= WORTH_CUTTING
        size = 2 if is_large and not _is_tilted(landscape.density) else 1
        cuts, rngs = np.array_split(np.arange(chains), size), rng.spawn(size)
        self.parts = [
            _Part(landscape.density, prevalence[cut], confusion[cut], chances, own)
            for cut, own in zip(cuts, rngs, strict=True)
        ]
        self.threads = ThreadPoolExecutor(size)

    def __enter__(self) -> "_Chains":
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.shutdown()

    def warm_up(self, times: int) -> None:
        """Sweep without keeping draws; learn how wide tilts are."""
        for sweeps in (times // 4, times - times // 4):
            self.sweep(sweeps)
            for part in self.parts:
                part.adapt()

    def sweep(self, times: int) -> None:
        """Sweep all chains so many times."""
        if len(self.parts) == 1:
            self.parts[0].sweep(times)
        else:
            list(self.threads.map(lambda part: part.sweep(times), self.parts))

    def imputed(self) -> FloatArray:
        """Shape (chains, classes): the unlabelled items by class of the last sweep."""
        return np.concatenate([part.imputed for part in self.parts])

    def where(self) -> tuple[FloatArray, FloatArray]:
        """Shapes (chains, classes) and (chains, classes, outputs)."""
        prevalence = np.concatenate([part.prevalence for part in self.parts])
        return prevalence, np.concatenate([part.confusion for part in self.parts])


class _Part:
    """Chains that one thread moves."""

    def __init__(
        self,
        density: Density,
        prevalence: FloatArray,
        confusion: FloatArray,
        chances: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        self.density, self.chances, self.rng, self.sweeps = density, chances, rng, 0
        self.prevalence, self.confusion, self.unlabeled = prevalence, confusion, _whole_items(density)[None]
        self.concentrations, self.imputed = Concentrations(density, len(prevalence), rng), np.zeros_like(prevalence)
        self.piles = Piles(density) if Piles.suit(density) else None
        self.has_transfers = bool(chances.any()) and self.piles is None
        self.tilts = Tilts(density) if _is_tilted(density) else None

    def adapt(self) -> None:
        """Learn how wide tilts are."""
        if self.tilts is not None:
            self.tilts.adapt()

    def sweep(self, times: int) -> None:
        """Impute and draw so many times; where rows are sparse, with piles and tilts, else with a transfer at times."""
        for _ in range(times):
            items = _imputed(self.unlabeled, self.prevalence[:, None], self.confusion, self.rng)
            if self.piles is not None:
                items = self.piles.move(items[:, 0], *self._concentrations(), self.rng)[:, None]
            prevalence, self.confusion, of_class = _drawn(self.density, items, self.concentrations, self.rng)
            self.prevalence, self.imputed, self.sweeps = prevalence[:, 0], of_class[:, 0], self.sweeps + 1
            if self.tilts is not None:
                self.prevalence, self.confusion = self.tilts.move(
                    self.prevalence, self.confusion, *self._concentrations(), self.rng
                )
            if self.sweeps % SWEEPS_PER_TRANSFER == 0 and self.has_transfers:
                self._transfer()

    def _concentrations(self) -> tuple[FloatArray, FloatArray]:
        """Concentrations of the prevalence, (chains, classes), and of the rows, (chains, classes, outputs)."""
        rows = np.broadcast_to(self.density.rows + self.concentrations.beyond, self.confusion.shape)
        shape = (len(self.prevalence), 1, self.density.n_classes)
        return np.ascontiguousarray(np.broadcast_to(self.concentrations.prevalence, shape)[:, 0]), rows

    def _transfer(self) -> None:
        absorbing = int(self.rng.choice(len(self.chances), p=self.chances))
        alpha, rows = self._concentrations()
        transfer(
            self.prevalence,
            self.confusion,
            absorbing=absorbing,
            alpha=alpha,
            rows=rows[:, absorbing],
            rng=self.rng,
        )


def _whole_items(density: Density) -> np.ndarray:
    return np.rint(density.unlabeled).astype(np.int64)


def _imputed(
    unlabeled: np.ndarray, prevalence: FloatArray, confusion: FloatArray, rng: np.random.Generator
) -> np.ndarray:
    """Impute the class of every item: shape (chains, groups, outputs, classes)."""
    joint = prevalence[:, :, None, :] * confusion.transpose(0, 2, 1)[:, None] + 1e-300
    return rng.multinomial(unlabeled, joint / joint.sum(axis=3, keepdims=True))


def _drawn(
    density: Density, items: np.ndarray, concentrations: Concentrations, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw learned priors given the items of all groups, then prevalence and confusion given all these.

    Returned are these two, and the items of each class.
    """
    of_class, of_row = items.sum(axis=2), items.sum(axis=1).transpose(0, 2, 1)
    concentrations.update(of_class, of_row, rng)
    drawn, beyond = dirichlet(rng, concentrations.prevalence + of_class, ()), of_row + concentrations.beyond
    if has_empty_cells(density):
        return drawn, sparse_dirichlet(rng, density.rows + beyond), of_class
    return drawn, draw_rows(rng, density, beyond, ()), of_class


def has_empty_cells(density: Density) -> bool:
    """Whether rows are drawn with empty cells: where they are sparse and long, and weigh too much to be all empty."""
    return _is_tilted(density) and has_many_outputs(density) and bool(density.rows.sum(axis=1).min() >= 1)


def _is_tilted(density: Density) -> bool:
    """Whether chains move by piles and tilts, which no number of items holds still."""
    return Piles.suit(density) and Tilts.suit(density)


def refuse_crawling(density: Density, *, is_tilted: bool = False) -> None:
    """Refuse problems in which the chains would hardly move."""
    learned, items = density.rows[~density.is_known].sum(), density.unlabeled
    if np.abs(items - np.rint(items)).sum() > MOST_ROUNDED * items.sum():
        reason = "only whole items can be imputed, and rounding weighted ones would change them"
    elif learned and not is_tilted and density.unlabeled.sum() > MOST_IMPUTED * learned:
        reason = "so many unlabelled items for each labelled one would keep its chains from moving the confusion"
    elif density.n_outputs < density.n_classes and density.unlabeled.any() and density.n_outputs > 1:
        reason = "with fewer outputs than classes its chains mix slowly"
    else:
        return
    raise UnsuitableEngineError("engine", "is Gibbs", reason, Advice("Use {} or {}", AUTO, HAMILTONIAN))
