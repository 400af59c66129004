"""Where chains have been: every prevalence, and as much of the confusion as memory allows."""

from dataclasses import replace

import numpy as np

from truecount._progress import detail
from truecount._types import FloatArray
from truecount.inference import convergence
from truecount.inference.draws import CONFUSION_BYTES, Draws
from truecount.inference.run import ChainRun, status_of
from truecount.models import Density


class History:
    """The draws so far. When kept confusions weigh too much, every second one is let go."""

    def __init__(self, chains: int, density: Density) -> None:
        self.chains, self.stride = chains, 1
        self._most = max(2, CONFUSION_BYTES // (8 * chains * density.rows.size))
        self._prevalence: list[FloatArray] = []
        self._confusion: list[FloatArray] = []
        self._effective = self._rhat = (0, np.empty(0))

    @property
    def length(self) -> int:
        """Draws in each chain."""
        return len(self._prevalence)

    def append(self, prevalence: FloatArray, confusion: FloatArray) -> None:
        """Add one draw of every chain: shapes (chains, classes) and (chains, classes, outputs)."""
        if self.length % self.stride == 0:
            self._confusion.append(confusion)
            if len(self._confusion) > self._most:
                del self._confusion[1::2]
                self.stride *= 2
        self._prevalence.append(prevalence)

    def prevalence(self) -> FloatArray:
        """Shape (draws, classes), chain after chain."""
        stacked = np.stack(self._prevalence, axis=1)
        return stacked.reshape(-1, stacked.shape[-1])

    def effective(self) -> FloatArray:
        """Shape (classes,): effective number of draws so far; worked out once for each length."""
        if self._effective[0] != self.length:
            self._effective = self.length, convergence.effective_draws(self.prevalence(), self.chains)
        return self._effective[1]

    def rhat(self) -> FloatArray:
        """Shape (classes,): of the draws so far, likewise."""
        if self._rhat[0] != self.length:
            self._rhat = self.length, convergence.rhat(self.prevalence(), self.chains)
        return self._rhat[1]

    def missing(self, wanted: int, *, of_variance: bool = False) -> int:
        """How many more draws of each chain would bring every class to this effective sample size, and R-hat down.

        `of_variance` asks it of the variance too, most of which may come from a rare mode where there are several.
        """
        reached = float(np.nan_to_num(self.effective()).min())
        if of_variance:
            seen = self.prevalence()
            squares = (seen - seen.mean(axis=0)) ** 2
            kinds = convergence.effective_by_kind(squares, self.chains)
            reached = min(reached, float(np.nan_to_num(kinds["mean"]).min()))
        if reached < wanted:
            detail(f"effective sample size {reached:,.0f} of {wanted:,}")
            return int(np.clip(self.length * (1.1 * wanted / max(reached, 1.0) - 1), 10, 2 * self.length))
        rhat = float(self.rhat().max())
        converged = rhat <= convergence.RHAT_LIMIT
        detail("" if converged else f"R-hat {rhat:.3f}, {convergence.RHAT_LIMIT} is wanted")
        return 0 if converged else self.length // 2

    def draws(self, run: ChainRun) -> Draws:
        """Everything, judged, and cut so that each chain holds a whole number of strides."""
        kept = max(1, self.length // self.stride)
        del self._prevalence[kept * self.stride :]
        prevalence, confusion = self.prevalence(), np.stack(self._confusion[:kept], axis=1)
        effective, rhat = self.effective(), self.rhat()
        complaint = convergence.complaint(effective, rhat)
        return Draws(
            prevalence=prevalence,
            confusion=confusion.reshape(-1, *confusion.shape[2:]),
            stride=self.stride,
            chains=self.chains,
            effective=effective,
            rhat=rhat,
            run=replace(run, not_converged=complaint, status=status_of(complaint, rhat)),
        )
