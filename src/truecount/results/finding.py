"""What a result says about itself that a reader should know."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["info", "caution", "serious"]
ORDER: Mapping[Severity, int] = {"serious": 0, "caution": 1, "info": 2}
"""The gravest first."""
OF_METHOD = "method"
"""Code of what is true of a method whatever the data."""
CODES: Mapping[str, str] = {
    "label-shift-violated": "no mix of the labelled rows explains the unlabelled outputs",
    "label-shift-untestable": "these counts cannot show whether the box still treats each class as it did",
    "confusion-drifted": "labels of several populations show that the box treats a class differently (audit, groups)",
    "not-identified": "classes that the outputs cannot tell apart, and what is known of them together",
    "barely-identified": "classes that the labels tell apart so faintly that shares are known to 20 points at best",
    "hardly-learned": "a share almost as uncertain after the data as before",
    "worse-than-chance": "outputs called like the classes are wrong more often than a coin",
    "few-labels": "a class whose row prior weighs more than its labels",
    "unlabeled-class": "a class without a single label",
    "unseen-output": "unlabelled items with an output that no labelled item has",
    "no-unlabeled": "no unlabelled items, so the answer is the prior",
    "weighted-counts": "sums of weights, and how many items they are worth",
    "shared-labels": "a group that shares its labels with others and was drawn by itself: not to be compared",
    "labels-outweighed": "groups drawn together move the confusion away from what its labels say",
    "few-groups": "so few groups that the prior of their spread has a say",
    "group-without-items": "a group without unlabelled items, which is predicted from the others",
    "labels-by-output": "labels that look as if so many of each output had been chosen",
    "labels-may-err": "what wrong labels would do to a share (asked for with `label_error`)",
    "designs-disagree": "label shift and a random sample of one population give different answers",
    "not-a-random-sample": "labels said to be a random sample whose outputs differ from the population's",
    "prior-against-labels": "labels unlike what the prior of the rows expects; another prior explains them far better",
    "learned-prior": "what the labels decided about the prior of the rows",
    "prior-against-data": "the prior holds the answer away from all that fits the counts",
    "prior-sensitive": "another prior (half, double, or one labels prefer) moves a share by 0.3 standard deviations",
    "edge-not-excluded": "a class may be absent, though its equal-tailed interval begins well above zero",
    "several-answers": "different answers that the counts allow, and what each says",
    "not-converged": "draws that have not converged, or a mode that was not reached",
    "mode-not-unique": "a mode that is one of many as high",
    "mode-has-rival": "a mode far from this one that is nearly as high",
    "scores-off-average": "corrected probabilities whose average is not the share that was inferred",
    "outside-simplex": "an unrestricted estimate below 0 or above 1",
    OF_METHOD: "what is true of a method whatever the data",
}
"""Every code a finding may have, and what it tells; `docs/findings.md` says more."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know before leaning on a result.

    Parameters
    ----------
    code
        Stable name, one of `CODES`, such as ``"not-converged"``.
    severity
        ``"info"``, ``"caution"``, or ``"serious"``: do not use the answer without acting on it.
    message
        One sentence that needs no statistics to read.
    numbers
        The figures behind it.
    advice
        What to do about it.
    """

    code: str
    severity: Severity
    message: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "advice": self.advice,
            "numbers": dict(self.numbers),
        }


def gravest_first(findings: Iterable[Finding | None]) -> tuple[Finding, ...]:
    """Leave out what was not found, and put the serious ones first."""
    return tuple(sorted((each for each in findings if each is not None), key=lambda each: ORDER[each.severity]))


class Awaited(Sequence[Finding]):
    """Findings that are looked for when someone first looks at them: they take as long as the draws of a small problem.

    Parameters
    ----------
    find
        What looks for them.
    """

    def __init__(self, find: Callable[[], tuple[Finding, ...]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> tuple[Finding, ...]:
        return self._find()

    def __getitem__(self, position: Any) -> Any:
        return self._found[position]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._found == tuple(other)

    def __hash__(self) -> int:
        return hash(self._found)

    def __repr__(self) -> str:
        return repr(self._found)
