"""How much the answer depends on the prior of the spread between studies."""

from dataclasses import dataclass
from typing import Any

from truecount._types import FloatArray, Name
from truecount._wording import visible
from truecount.reading.names import group_name
from truecount.results.groups.table import MOST_SHOWN, decimals_of
from truecount.results.summary import Table, interval_name


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SpreadSensitivity:
    """The share of one class in every group, under several priors of the spread between studies.

    Parameters
    ----------
    groups, of, level
        Names of the groups, the class, and the level of the intervals.
    scales
        Of the half-normal prior of the spread, `Varying.spread`.
    mean
        Shape (scales, groups).
    interval
        Shape (scales, groups, 2).
    converged
        Whether all answers have converged.
    """

    groups: tuple[Any, ...]
    of: Name
    level: float
    scales: tuple[float, ...]
    mean: FloatArray
    interval: FloatArray
    converged: bool

    def table(self) -> Table:
        """Return a row for each group, and for each scale the share with its interval."""
        decimals = decimals_of(self.interval[:, :, None])
        cells = [
            [
                f"{100 * self.mean[at, group]:.{decimals}f} % ({100 * low:.{decimals}f} \N{EN DASH} "
                f"{100 * high:.{decimals}f} %)"
                for at, (low, high) in enumerate(self.interval[:, group])
            ]
            for group in range(min(len(self.groups), MOST_SHOWN))
        ]
        rows = [[visible(group_name(group)), *each] for group, each in zip(self.groups, cells, strict=False)]
        note = f"True share of {visible(self.of)}, with its {interval_name(self.level, 'equal-tailed')}."
        if not self.converged:
            note += " Some of these answers have not converged."
        return Table(["group", *(f"scale {scale:g}" for scale in self.scales)], rows, (), note=note)

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()
