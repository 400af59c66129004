"""What every model knows of itself: what it assumes of the labels, and how to say so."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from truecount._advice import Action


class Assumption(NamedTuple):
    """A claim in one sentence, and what follows if it is wrong."""

    claim: str
    meaning: str


ALIKE = "The classifier treats each class alike in both populations."
AT_RANDOM = "Labelled items are a random sample of their class, and were not chosen by their {}."
SAME_ROWS = Assumption(
    ALIKE,
    "Of the items of one class, the same share gets each output among the labelled and among the unlabelled "
    "ones; only the mix of classes differs. If the items of a class became harder, the answer is wrong, and "
    "mostly nothing in the counts shows it. To check, label a few items of the population itself.",
)
NOT_BY_OUTPUT = Assumption(
    AT_RANDOM.format("output"),
    "The misclassification rates learned from them are to be those of all items of the class: if easy items, "
    "or those with a certain output, were likelier to be labelled, the answer is wrong. Do not use it with "
    "labels stratified by output.",
)
RIGHT_LABELS = Assumption(
    "The labels are right.",
    "If some are wrong, the misclassification rates learned from them are wrong too, and the more so the rarer a class "
    "is. To see how much, ask truecount check --label-error 5%.",
)
INDEPENDENT = Assumption(
    "Items are independent of each other, given their class.",
    "Copies and repeated measurements count as one item.",
)
INDEPENDENT_CLUSTERS = Assumption(
    "Clusters are independent of each other.",
    "Items of one cluster may be alike: how much less they tell than independent items was learned from all clusters.",
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
