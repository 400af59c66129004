"""Gibbs sampling with the class of every unlabelled item imputed."""

from dataclasses import dataclass

import numpy as np

from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class Gibbs:
    """Chains that impute the unlabelled items' classes; any number of outputs."""

    draws: int = 4000
    chains: int = 8
    warmup: int = 500

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw."""
        rng = np.random.default_rng(seed)
        counts = density.unlabeled.astype(np.int64)
        known = density.is_known
        prevalence = dirichlet(rng, density.prevalence, (self.chains,))
        confusion = dirichlet(rng, density.rows, (self.chains,))
        confusion[:, known] = density.known[known]
        each = -(-self.draws // self.chains)
        kept_prevalence = np.empty((self.chains, each, density.n_classes))
        kept_confusion = np.empty((self.chains, each, *density.rows.shape))
        for sweep in range(-self.warmup, each):
            joint = prevalence[:, :, None] * confusion
            given = (joint / joint.sum(axis=1, keepdims=True)).transpose(0, 2, 1)
            items = rng.multinomial(counts, given).transpose(0, 2, 1)
            prevalence = dirichlet_of(rng, density.prevalence + items.sum(axis=2))
            confusion = dirichlet_of(rng, density.rows + items)
            confusion[:, known] = density.known[known]
            if sweep >= 0:
                kept_prevalence[:, sweep], kept_confusion[:, sweep] = prevalence, confusion
        stride = confusion_stride(each * self.chains, density)
        return Draws(
            prevalence=kept_prevalence.reshape(-1, density.n_classes),
            confusion=kept_confusion.reshape(-1, *density.rows.shape)[::stride],
            stride=stride,
            chains=self.chains,
            record={"engine": "Gibbs", "chains": self.chains, "draws": self.draws, "warmup": self.warmup},
        )


def dirichlet_of(rng: np.random.Generator, concentration: np.ndarray) -> np.ndarray:
    """One draw for each concentration."""
    return dirichlet(rng, concentration, ())
