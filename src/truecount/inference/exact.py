"""Independent draws from the exact posterior, where there are as many outputs as classes."""

from dataclasses import dataclass

import numpy as np

from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class Exact:
    """Independent draws: no chains, no warm-up, nothing to converge."""

    draws: int = 4000

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse."""
        rng = np.random.default_rng(seed)
        if density.n_classes != density.n_outputs:
            raise UnsuitableEngineError("engine", "is Exact", "it needs as many outputs as classes", "Use Auto() or Gibbs()")
        pool = 8 * self.draws
        confusion = dirichlet(rng, density.rows, (pool,))
        known = density.is_known
        confusion[:, known] = density.known[known]
        outputs = dirichlet(rng, density.unlabeled + 1, (pool,))
        prevalence = np.linalg.solve(confusion.transpose(0, 2, 1), outputs[:, :, None])[:, :, 0]
        inside = (prevalence >= 0).all(axis=1)
        prevalence, confusion = prevalence[inside], confusion[inside]
        log_weight = ((density.prevalence - 1) * np.log(prevalence)).sum(axis=1) - np.linalg.slogdet(confusion)[1]
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        ticks = (np.arange(self.draws) + rng.random()) / self.draws
        chosen = np.minimum(np.searchsorted(np.cumsum(weight), ticks), len(weight) - 1)
        stride = confusion_stride(self.draws, density)
        return Draws(
            prevalence=prevalence[chosen],
            confusion=confusion[chosen][::stride],
            stride=stride,
            effective=np.full(density.n_classes, float(self.draws)),
            record={"engine": "Exact", "draws": self.draws},
        )
