"""What tests of pictures share: problems that are hard to draw, and a look at where the words ended up."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.text import Text

from made_posterior import made_posterior
from truecount import Counts, Posterior
from truecount.diagnostics.calibration import Coverage
from truecount.inference.draws import Draws
from truecount.models import LabelShift
from truecount.results.comparison import Comparison, Row
from truecount.results.export.provenance import Origin

LONG_NAMES = ["<script>alert(1)</script>", "x" * 200, "y" * 100 + "1" + "y" * 99, "y" * 100 + "2" + "y" * 99, "$a_b$"]


def posterior_of(classes: list[Any], *, chains: int | None = None) -> Posterior:
    """A posterior of made draws, with as many outputs as classes."""
    labeled = np.full((len(classes), len(classes)), 3) + 40 * np.eye(len(classes), dtype=int)
    unlabeled = np.arange(len(classes)) * 7 + 20
    return made_posterior(counts=Counts(labeled, unlabeled, classes=classes), chains=chains)


def at_the_edge() -> Posterior:
    """Every draw says that all items are of the first class and that the box is never wrong."""
    counts = Counts([[50, 0], [0, 50]], [80, 0], classes=["all", "none"])
    draws = Draws(
        prevalence=np.tile([1.0, 0.0], (40, 1)), confusion=np.tile(np.eye(2), (40, 1, 1)), effective=np.full(2, 40.0)
    )
    return Posterior(draws=draws, counts=counts, model=LabelShift(), findings=(), origin=Origin(seed=3))


HARD = {
    "two": lambda: posterior_of(["fail", "pass"]),
    "five": lambda: posterior_of(["a", "b", "c", "d", "e"]),
    "long": lambda: posterior_of(LONG_NAMES),
    "sixty": lambda: posterior_of([f"class {number}" for number in range(60)]),
    "edge": at_the_edge,
}


def compared(posterior: Posterior) -> Comparison:
    """The posterior beside a method with an interval, one without, and one that does not apply."""
    rows = (
        Row(method="cc", prevalence=posterior.mean, interval=posterior.interval(0.5), kind="bootstrap"),
        Row(method="map", prevalence=posterior.median),
        Row(method="pacc", reason="needs scores"),
    )
    return Comparison(rows=rows, posterior=posterior, level=0.9, provenance={"seed": 0, "version": "0"})


def covered(posterior: Posterior) -> Coverage:
    """Made-up coverage: the first class keeps its promise at two levels, others hold less with every place."""
    held = np.clip(np.array([[0.9], [0.5]]) - 0.01 * np.arange(len(posterior.classes)), 0, 1)
    return Coverage(
        levels=np.array([0.9, 0.5]),
        held=held,
        width=held,
        data_sets=100,
        truth=posterior.mean,
        classes=posterior.classes,
    )


def clashes(*axes: Any) -> Iterator[str]:
    """Words that leave the figure, and words that lie on each other."""
    axes[0].figure.draw_without_rendering()
    shown = [
        text
        for ax in axes
        for text in ax.findobj(Text)
        if text.get_visible() and text.get_text().strip() and _is_drawn(ax, text)
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown]
    frame = axes[0].figure.bbox
    for words, box in boxes:
        if box.x0 < frame.x0 - 1 or box.x1 > frame.x1 + 1 or box.y0 < frame.y0 - 1 or box.y1 > frame.y1 + 1:
            yield f"{words!r} leaves the figure"
    for (words, box), (others, other) in combinations(boxes, 2):
        wide = min(box.x1, other.x1) - max(box.x0, other.x0)
        high = min(box.y1, other.y1) - max(box.y0, other.y0)
        if wide > 1 and high > 1:
            yield f"{words!r} lies on {others!r}"


def _is_drawn(ax: Any, text: Text) -> bool:
    """Labels of ticks beyond the limits are kept but not drawn."""
    for axis, place, limits in ((ax.xaxis, 0, ax.get_xlim()), (ax.yaxis, 1, ax.get_ylim())):
        for tick in axis.get_major_ticks():
            if text in (tick.label1, tick.label2):
                low, high = sorted(limits)
                return bool(low <= text.get_position()[place] <= high) and text is tick.label1
    return True
