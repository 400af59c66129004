"""Of many classes the largest have a row each, and the others one together: nothing is left out of the sum."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from truecount._types import FloatArray
from truecount.results.summary import Kind, Summary, Target, interval_of

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

MOST_ROWS, SHOWN = 40, 30
"""Classes up to which each has a row in a table or a picture, and how many of more have."""


def folded_summary(
    posterior: "Posterior", *, level: float, kind: Kind, target: Target
) -> tuple[Summary, tuple[int, ...]]:
    """Return the summary with the classes that are shown, and where each stands; of many, the largest and the others.

    The last row of a summary that was folded is of all other classes together, whose draws are added up.
    """
    summary = posterior.summary(level, kind=kind, target=target)
    number = len(summary.classes)
    if number <= MOST_ROWS or not posterior.has_answer:
        return summary, tuple(range(number))
    order = np.argsort(-summary.mean, kind="stable")
    shown, others = order[:SHOWN], order[SHOWN:]
    together = posterior.shares(target)[:, others].sum(axis=1)

    def rows(values: FloatArray | None, last: FloatArray | float) -> FloatArray | None:
        return None if values is None else np.concatenate([values[shown], np.atleast_1d(last)])

    sd, effective = float(together.std(ddof=1)), float(summary.effective_draws[others].min())
    interval = np.clip(interval_of(together[:, None], level, kind), 0.0, 1.0)
    folded = {
        "counted": rows(summary.counted, 0.0 if summary.counted is None else float(summary.counted[others].sum())),
        "mean": rows(summary.mean, float(together.mean())),
        "median": rows(summary.median, float(np.median(together))),
        "sd": rows(summary.sd, sd),
        "interval": np.vstack([summary.interval[shown], interval]),
        "effective_draws": rows(summary.effective_draws, effective),
        "mcse": rows(summary.mcse, sd / np.sqrt(effective)),
        "rhat": rows(summary.rhat, np.nan if summary.rhat is None else float(np.max(summary.rhat[others]))),
    }
    names = (*(summary.classes[place] for place in shown), f"{len(others)} others")
    return replace(summary, classes=names, **folded), (*map(int, shown), number)  # type: ignore[arg-type]


def fold_note(number: int, shown: int) -> str:
    """Say below a table that not every class has a row, and where all of them are; nothing where each has.

    >>> fold_note(200, 31)
    'The 30 largest of 200 classes are shown, and the others together; JSON, CSV and to_frame() have all.'
    """
    if shown >= number:
        return ""
    largest = f"The {shown - 1} largest of {number} classes are shown, and the others together"
    return f"{largest}; JSON, CSV and to_frame() have all."
