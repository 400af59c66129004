"""How much the answer depends on the prior of the spread between studies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import visible
from truecount.reading.names import group_name
from truecount.results.groups.table import MOST_SHOWN, decimals_of
from truecount.results.summary import Table, interval_name

SMALLEST_WIDTH = 1e-9
"""Of an interval, so that widths can be divided."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SpreadSensitivity:
    """The share of one class in every group, under several priors of the spread between studies.

    Parameters
    ----------
    groups, of, level
        Names of the groups, the class, and the level of the intervals.
    scales
        Of the half-normal prior of the spread, `Varying.spread`.
    used
        The scale of the answer itself.
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
    used: float
    mean: FloatArray
    interval: FloatArray
    converged: bool

    @property
    def sentence(self) -> str:
        """Say how much wider intervals are under the widest prior than under the narrowest."""
        narrow, wide = int(np.argmin(self.scales)), int(np.argmax(self.scales))
        widths = np.maximum(np.ptp(self.interval, axis=2), SMALLEST_WIDTH)
        times = widths[wide] / widths[narrow]
        least, most = (f"{number:.{0 if number >= 10 else 1}f}" for number in (times.min(), times.max()))
        name = visible(group_name(self.groups[int(times.argmax())]))
        between = f"under the prior of scale {self.scales[wide]:g} as under that of scale {self.scales[narrow]:g}"
        if len(self.groups) == 1:
            return f"The interval of {name} is {most} times as wide {between}."
        return f"Intervals are {least} to {most} times as wide {between}, most of all that of {name}."

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
        note = (
            f"True share of {visible(self.of)}, with its {interval_name(self.level, 'equal-tailed')}. The scale is "
            "that of the half-normal prior of how much error rates differ between studies, as a standard deviation on "
            "the log-odds scale."
        )
        if len(self.groups) > MOST_SHOWN:
            note += f" {len(self.groups) - MOST_SHOWN:,} more groups are not shown."
        if not self.converged:
            note += " Some of these answers have not converged."
        names = [f"scale {scale:g}" + (" (used)" if scale == self.used else "") for scale in self.scales]
        return Table(["group", *names], rows, (), note=note)

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()
