"""What every model knows of itself: what it assumes of the labels, and how to say so."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from truecount._advice import Action


class Assumption(NamedTuple):
    """A claim in one sentence, and what follows if it is wrong."""

    claim: str
    meaning: str


RIGHT_LABELS = Assumption(
    "The labels are right.",
    "If some are wrong, the misclassification rates learned from them are wrong too, and the more so the rarer a class "
    "is. To see how much, ask truecount check --label-error 5%.",
)
ALIKE = "The classifier treats each class alike in both populations."
AT_RANDOM = "Labelled items are a random sample of their class, and were not chosen by their {}."
INDEPENDENT = Assumption(
    "Items are independent of each other, given their class.",
    "Copies and repeated measurements count as one item.",
)


@dataclass(frozen=True, slots=True)
class Model:
    """A sampling design of the labels, and the prior that goes with it.

    `name` is what files call it, `carries_over` the probabilities that are the same for labelled and unlabelled items,
    `sampling` where labelled items come from, in a phrase; `assumptions` and `method` are sentences for a reader.
    """

    name: ClassVar[str]
    carries_over: ClassVar[str]
    sampling: ClassVar[str]
    assumptions: ClassVar[tuple[Assumption, ...]]
    method: ClassVar[str]

    @classmethod
    def option(cls) -> str:
        """Return what the model is called on the command line."""
        return cls.name.replace("_", "-")

    @classmethod
    def choice(cls) -> Action:
        """Return the action of choosing this model."""
        return Action(f"model={cls.__name__}()", f"--design {cls.option()}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        raise NotImplementedError
