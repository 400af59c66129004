"""Every model, by name, and those that are more than label shift."""

from truecount.errors import InputError
from truecount.models.erring_labels import ErringLabels
from truecount.models.given_output import ByPrediction, OutputModel, SamePopulation
from truecount.models.independent_classifiers import IndependentClassifiers
from truecount.models.label_shift import LabelShift
from truecount.models.model import Model
from truecount.models.target_labels import TargetLabels

KINDS: tuple[type[LabelShift] | type[OutputModel], ...] = (LabelShift, SamePopulation, ByPrediction)
MODELS: dict[str, type[LabelShift] | type[OutputModel]] = {
    kind.name: kind for kind in (*KINDS, ErringLabels, IndependentClassifiers, TargetLabels)
}
"""By the name that files have."""
BEYOND: dict[type[LabelShift], str] = {
    ErringLabels: "says that labels may be wrong",
    IndependentClassifiers: "takes classifiers for independent",
    TargetLabels: "has labels of the population itself",
}
"""Models that are label shift and something more, which is lost wherever they are taken for it; what that is."""


def require_plain_label_shift(model: Model, asked: str) -> None:
    """Refuse a model that is more than label shift where that would be lost."""
    for kind, found in BEYOND.items():
        if isinstance(model, kind):
            audit = ", and labels of the population as audit= to check" if kind is TargetLabels else ""
            remedy = f"Pass LabelShift(){audit}, or use infer(counts, model)"
            raise InputError("model", f"is {kind.__name__}(), which {found}", f"{asked} would not use that", remedy)
