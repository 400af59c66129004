"""Shares that classes are said to lie above or below, in one population, and how probable that is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from truecount._types import Name
from truecount._wording import called, percent, visible

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior
    from truecount.results.summary import Target

Side: TypeAlias = Literal["above", "below"]
SURE = 0.95
"""Probability from which on a claim holds, or does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareClaim:
    """A share that a class is said to lie above or below, and how probable that is; None without an answer."""

    name: Name
    side: Side
    threshold: float
    probability: float | None

    @property
    def is_improbable(self) -> bool:
        """Whether it does not hold: its probability is 5 % or less."""
        return self.probability is not None and is_improbable(self.probability)

    @property
    def alert(self) -> str:
        """Say that it does not hold."""
        return f"The share of {refuted(self.name, self.side, self.threshold, self.probability or 0.0)}"

    def __str__(self) -> str:
        about = f"P({visible(self.name)} {self.side} {100 * self.threshold:.6g} %)"
        if self.probability is None:
            return f"{about} is not known"
        if not 0.001 <= self.probability <= 0.999:  # draws tell no more
            return f"{about} {'< 0.001' if self.probability < 0.5 else '> 0.999'}"
        return f"{about} = {self.probability:.{2 if 0.1 <= self.probability <= 0.9 else 3}f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the alert in plain values."""
        kind, told = f"not-{self.side}", visible(self.alert)
        return {"kind": kind, "class": self.name, "probability": self.probability, "message": told}


def is_improbable(probability: float) -> bool:
    """Whether a claim of this probability does not hold."""
    return probability <= 1 - SURE


def refuted(name: Name, side: Side, threshold: float, probability: float) -> str:
    """Say that a share does not lie where it was claimed to lie.

    >>> refuted("pass", "above", 0.8, 0.0213)
    'pass does not lie above 80.0 %: the probability that it does is 2.1 %.'
    """
    told = "below 0.1 %" if probability < 0.001 else percent(round(probability, 3))  # draws tell no more
    return f"{called(name)} does not lie {side} {percent(threshold)}: the probability that it does is {told}."


def share_claims(
    posterior: "Posterior", thresholds: Mapping[Side, Mapping[Name, float]], target: "Target" = "population"
) -> tuple[ShareClaim, ...]:
    """Return each claim with its posterior probability, of the population or of the realized shares."""
    shares, found = posterior.shares(target), []
    for side, told in thresholds.items():
        for name, threshold in told.items():
            draws = shares[:, posterior.place(name)]
            holds = draws > threshold if side == "above" else draws < threshold
            probability = float(holds.mean()) if posterior.has_answer else None
            found.append(ShareClaim(name=name, side=side, threshold=threshold, probability=probability))
    return tuple(found)


def claim_columns(claims: Iterable[ShareClaim], name: Name) -> dict[str, float | None]:
    """Return thresholds of a class and how probable it is to lie beyond; all classes have the same columns."""
    values: dict[str, float | None] = {}
    for claim in claims:
        of_class = {f"threshold_{claim.side}": claim.threshold, f"probability_{claim.side}": claim.probability}
        values |= of_class if claim.name == name else {key: values.get(key) for key in of_class}
    return values
