"""How often raters are right, and how far they agree: what is learned of labels that may be wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import fixed, percent
from truecount.counts import Ratings
from truecount.results.summary import Table, interval_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far raters agree on the items that they both labelled.

    Parameters
    ----------
    pairs
        Of every two raters with items in common: their number, the share on which they agree, and Cohen's kappa.
    share, fleiss
        Of all pairs of labels of one item, the share that agrees, and Fleiss' kappa: agreement beyond chance, over the
        most there can be. NaN where no item has two labels.
    items
        How many items have two labels or more.
    """

    pairs: Mapping[tuple[str, str], tuple[float, float, float]]
    share: float
    fleiss: float
    items: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        names = ("items", "share", "kappa")
        pairs = [{"raters": list(pair), **dict(zip(names, told, strict=True))} for pair, told in self.pairs.items()]
        return {"items": self.items, "share": self.share, "fleiss": self.fleiss, "pairs": pairs}


@dataclass(frozen=True, eq=False, kw_only=True)
class RaterRates:
    """Draws of every rater's P(label | class), and how far the raters agree.

    Parameters
    ----------
    data
        What the raters said, by pattern and output.
    raters
        Their names; one may have labelled items again in another column of the data.
    draws
        Shape (kept, raters, classes, labels): belongs to the draws of the confusion.
    labeled_prevalence
        Shape (kept, classes): class shares behind the labelled items.
    items
        Shape (raters,): how many labels each rater gave.
    """

    data: Ratings
    raters: tuple[str, ...]
    draws: FloatArray
    labeled_prevalence: FloatArray
    items: FloatArray

    @property
    def classes(self) -> tuple[Name, ...]:
        """Names of the classes, which the labels have too."""
        return self.data.classes

    @cached_property
    def agreement(self) -> Agreement:
        """How far the labels agree as they are, without any model."""
        return agreement_of(self.data.raters, self.data.positions, self.data.items, len(self.classes))

    @cached_property
    def mean(self) -> FloatArray:
        """Shape (raters, classes, labels): posterior means of P(label | class)."""
        mean: FloatArray = self.draws.mean(axis=0)
        return mean

    def interval(self, level: float = 0.95) -> FloatArray:
        """Shape (raters, classes, labels, 2): central intervals."""
        return interval_of(self.draws, level, "equal-tailed")

    def error_rate(self, level: float = 0.95) -> FloatArray:
        """Shape (raters, 3): probability of a wrong label of a labelled item, and the ends of its interval."""
        right = np.einsum("drll,dl->dr", self.draws, self.labeled_prevalence)
        ends = np.quantile(1 - right, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return np.column_stack([(1 - right).mean(axis=0), *ends])

    def table(self, level: float = 0.95) -> Table:
        """Return a row for each rater and class: how often the label is right, with its interval."""
        mean, ends = self.mean, self.interval(level)
        rows = [
            [
                rater,
                str(name),
                f"{self.items[place]:,.0f}" if at == 0 else "",
                f"{100 * mean[place, at, at]:.1f} %",
                f"{100 * ends[place, at, at, 0]:.1f} \N{EN DASH} {100 * ends[place, at, at, 1]:.1f} %",
            ]
            for place, rater in enumerate(self.raters)
            for at, name in enumerate(self.classes)
        ]
        header = ["rater", "class", "labels", "labelled so", f"{100 * level:.6g} % interval"]
        return Table(header, rows, (), note=self._note(), on_left=(0, 1))

    def _note(self) -> str:
        if not self.agreement.items:
            return "No item has two labels: error rates are those that were known or validated."
        agree = percent(self.agreement.share)
        return (
            f"{self.agreement.items:,.0f} items have two labels or more; {agree} of their pairs of labels agree "
            f"(Fleiss' kappa {fixed(self.agreement.fleiss, 2)})."
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        ends, errors = self.interval(level), self.error_rate(level)
        return {
            "classes": list(self.classes),
            "raters": [
                {
                    "name": rater,
                    "items": float(self.items[place]),
                    "error_rate": float(errors[place, 0]),
                    "error_rate_interval": errors[place, 1:].tolist(),
                    "mean": self.mean[place].tolist(),
                    "lower": ends[place, :, :, 0].tolist(),
                    "upper": ends[place, :, :, 1].tolist(),
                }
                for place, rater in enumerate(self.raters)
            ],
            "labeled_prevalence": self.labeled_prevalence.mean(axis=0).tolist(),
            "agreement": self.agreement.to_dict(),
        }

    def __repr__(self) -> str:
        return self.table().to_text()


def agreement_of(raters: tuple[str, ...], labels: IntArray, items: FloatArray, classes: int) -> Agreement:
    """Return raw agreement, Cohen's kappa of pairs and Fleiss' kappa.

    Parameters
    ----------
    raters
        Their names.
    labels
        Shape (patterns, raters): positions among the classes, −1 where there is no label.
    items
        Shape (patterns,): how many items have each pattern.
    classes
        How many there are.

    Examples
    --------
    Ten items, of which two raters agree on eight:

    >>> found = agreement_of(("a", "b"), np.array([[0, 0], [1, 1], [0, 1]]), np.array([4.0, 4.0, 2.0]), 2)
    >>> round(found.share, 2), round(found.pairs["a", "b"][2], 2), round(found.fleiss, 2)
    (0.8, 0.62, 0.6)
    """
    pairs = {}
    for one, two in combinations(range(len(raters)), 2):
        both = (labels[:, one] >= 0) & (labels[:, two] >= 0)
        number = float(items[both].sum())
        if number:
            table = np.zeros((classes, classes))
            np.add.at(table, (labels[both, one], labels[both, two]), items[both] / number)
            agree, chance = float(np.trace(table)), float(table.sum(axis=0) @ table.sum(axis=1))
            pairs[raters[one], raters[two]] = (number, agree, _beyond(agree, chance))
    each = np.stack([(labels == name).sum(axis=1) for name in range(classes)], axis=1)
    size = each.sum(axis=1)
    twice = size > 1
    number = float(items[twice].sum())
    if not number:
        return Agreement(pairs=pairs, share=float("nan"), fleiss=float("nan"), items=0.0)
    by_item = (each * (each - 1)).sum(axis=1)[twice] / (size * (size - 1))[twice]
    share = float(items[twice] @ by_item / number)
    used = (items[twice, None] * each[twice]).sum(axis=0)
    chance = float(((used / used.sum()) ** 2).sum())
    return Agreement(pairs=pairs, share=share, fleiss=_beyond(share, chance), items=number)


def _beyond(share: float, chance: float) -> float:
    """Return agreement beyond chance, over the most there can be."""
    return (share - chance) / (1 - chance) if chance < 1 else float("nan")
