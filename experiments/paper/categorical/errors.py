"""The table of errors, and what is asked of it again and again."""

import numpy as np
import pandas as pd
from experiments.paper.claim import Measured, mean

OTHERS = ("BBSE", "IR", "MAP-1", "MAP-2")
"""The methods that correct for the confusion, as the paper plots them."""
INVERTING = ("BBSE", "IR")


class Errors:
    """The table of errors, asked by panel, value and method."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.cells = dict(list(table.groupby(["panel", "value"])))

    def values(self, panel: str) -> list[float]:
        """The values of a panel that were run."""
        return [value for name, value in self.cells if name == panel]

    def of(self, panel: str, value: float, method: str, metric: str = "linf") -> np.ndarray:
        """Shape (repetitions,)."""
        return self.cells[panel, value][f"{method} {metric}"].to_numpy(float)

    def mean(self, panel: str, value: float, method: str, metric: str = "linf") -> Measured:
        """The mean error."""
        return mean(self.of(panel, value, method, metric))

    def means(self, panel: str, method: str, metric: str = "linf") -> list[tuple[object, float]]:
        """The mean error at each value."""
        return [(f"{value:g}", self.mean(panel, value, method, metric).value) for value in self.values(panel)]

    def ranked(self, panel: str, value: float) -> list[str]:
        """The methods that correct for the confusion, from best to worst."""
        return sorted(OTHERS, key=lambda method: self.of(panel, value, method).mean())

    def spread(self, panel: str, value: float) -> Measured:
        """How much the worst of them is worse than the best."""
        best, *_, worst = self.ranked(panel, value)
        return mean(self.of(panel, value, worst) - self.of(panel, value, best))

    def gap(self, panel: str, value: float) -> Measured:
        """How much CC is worse than the worst of them."""
        return mean(self.of(panel, value, "CC") - self.of(panel, value, self.ranked(panel, value)[-1]))

    def margin(self, panel: str, value: float) -> Measured:
        """How much larger that gap is than the spread."""
        best, *_, worst = (self.of(panel, value, method) for method in self.ranked(panel, value))
        return mean((self.of(panel, value, "CC") - worst) - (worst - best))
