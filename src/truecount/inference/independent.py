"""Several classifiers that err independently: Gibbs sampling with the class of every unlabelled item imputed."""

import numpy as np

from truecount._types import FloatArray
from truecount.inference.chains.history import History
from truecount.inference.draws import Draws, dirichlet
from truecount.inference.run import ChainRun
from truecount.models import Density
from truecount.models.independent_classifiers import ClassifierDensity

CHAINS, WARMUP, FIRST, MOST_SWEEPS = 8, 500, 1000, 32_000


def sample_independent(density: ClassifierDensity, *, effective_draws: int, seed: int) -> Draws:
    """Draw until every share has this effective sample size, or the sweeps are spent."""
    rng = np.random.default_rng(seed)
    unlabeled = np.rint(density.unlabeled).astype(np.int64)
    of_value = [np.eye(rows.shape[1])[column] for rows, column in zip(density.rows, density.values.T, strict=True)]
    prevalence = dirichlet(rng, density.prevalence, (CHAINS,))
    rows = [dirichlet(rng, each, (CHAINS,)) for each in density.rows]
    n_classes, n_outputs = len(density.prevalence), len(unlabeled)
    blank = np.ones((n_classes, n_outputs))
    history = History(CHAINS, Density(density.prevalence, blank, density.unlabeled, np.full_like(blank, np.nan)))
    wanted = FIRST
    for sweep in range(WARMUP + MOST_SWEEPS):
        confusion = _products(rows, density)
        joint = prevalence[:, None, :] * confusion.transpose(0, 2, 1) + 1e-300
        items = rng.multinomial(unlabeled, joint / joint.sum(axis=2, keepdims=True)).transpose(0, 2, 1)
        prevalence = dirichlet(rng, density.prevalence + items.sum(axis=2), ())
        rows = [dirichlet(rng, each + items @ value, ()) for each, value in zip(density.rows, of_value, strict=True)]
        if sweep >= WARMUP:
            history.append(prevalence, _whole(_products(rows, density)))
        if sweep + 1 == WARMUP + wanted:
            draws = history.draws(ChainRun(engine="Gibbs by classifier", chains=CHAINS, warmup=WARMUP))
            if (draws.effective.min() >= effective_draws and draws.run.status == "ok") or wanted >= MOST_SWEEPS:
                return draws
            wanted = min(2 * wanted, MOST_SWEEPS)
    return draws


def _products(rows: list[FloatArray], density: ClassifierDensity) -> FloatArray:
    """Shape (chains, classes, outputs): P(combination | class)."""
    product = np.ones(1)
    for each, column in zip(rows, density.values.T, strict=True):
        product = product * each[:, :, column]
    return product


def _whole(confusion: FloatArray) -> FloatArray:
    """Return rows that add up to one, where the combination of all missing is left out."""
    return np.asarray(confusion / confusion.sum(axis=2, keepdims=True))
