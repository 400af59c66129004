"""What each of several classifiers adds: the answer of each alone, without each, and of all together."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import signed
from truecount.results.by_class import unknown_class
from truecount.results.summary import Table

Kind = Literal["alone", "without", "all"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contribution:
    """The answer of some of the classifiers.

    `kind` says whether `classifier` is alone or left out; without one, all are used. `mean` has shape (classes,),
    `interval` (classes, 2).
    """

    kind: Kind
    classifier: str | None
    mean: FloatArray
    interval: FloatArray
    status: str

    @property
    def width(self) -> FloatArray:
        """Shape (classes,): widths of the intervals."""
        return np.asarray(self.interval[:, 1] - self.interval[:, 0])

    @property
    def label(self) -> str:
        """What to call it in a table."""
        return {"alone": f"{self.classifier} alone", "without": f"without {self.classifier}", "all": "all"}[self.kind]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EachClassifier:
    """What each classifier adds.

    Parameters
    ----------
    classes, level
        Names of the classes, and the level of the intervals.
    rows
        Each classifier alone, all but each, and all.
    """

    classes: tuple[Name, ...]
    level: float
    rows: tuple[Contribution, ...]

    def table(self, of: Name | None = None) -> Table:
        """Return a row for each set of classifiers, of one class: the last by default."""
        name = self.classes[-1] if of is None else of
        if name not in self.classes:
            raise unknown_class("of", f"is {name!r}", name, self.classes)
        place = self.classes.index(name)
        best = self.rows[-1].width[place]
        cells = [
            [
                row.label,
                f"{100 * row.mean[place]:.1f} %",
                f"{100 * row.interval[place, 0]:.1f} \N{EN DASH} {100 * row.interval[place, 1]:.1f} %",
                f"{100 * row.width[place]:.1f}",
                "" if row.kind == "all" else f"{signed(100 * (row.width[place] / best - 1), 0)} %",
            ]
            for row in self.rows
        ]
        header = ["classifiers", f"share of {name}", f"{100 * self.level:.6g} % interval", "width", "than all"]
        return Table(header, cells, (), note="Width in points, and how much wider it is than that of all together.")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        rows = [
            {
                "kind": row.kind,
                "classifier": row.classifier,
                "mean": row.mean.tolist(),
                "lower": row.interval[:, 0].tolist(),
                "upper": row.interval[:, 1].tolist(),
                "status": row.status,
            }
            for row in self.rows
        ]
        return {"classes": list(self.classes), "level": self.level, "rows": rows}

    def __repr__(self) -> str:
        return self.table().to_text()
