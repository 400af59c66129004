"""Every model, by name, and the rule for which one a call means."""

from truecount._advice import Advice
from truecount._wording import nearest
from truecount.errors import InputError
from truecount.models.erring_labels import ErringLabels
from truecount.models.given_output import ByPrediction, OutputModel, SamePopulation
from truecount.models.independent_classifiers import IndependentClassifiers
from truecount.models.label_shift import LabelShift
from truecount.models.model import Model
from truecount.models.priors import Prior, require_prior
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
EVERY = " or ".join(f"{kind.__name__}()" for kind in KINDS)


def chosen_model(model: Model, prior: Prior | None) -> LabelShift | OutputModel:
    """Return the model that a call means, where `prior` may stand for ``LabelShift(prior)``."""
    if not isinstance(model, (LabelShift, OutputModel)):
        raise InputError("model", f"is {model!r:.60}", "it must be a model", _meant(model))
    if prior is None:
        return model
    require_prior(prior)
    if model != LabelShift():
        raise InputError(
            "prior",
            f"is given beside model={model!r:.60}",
            "prior= stands for model=LabelShift(prior), and a model has a prior of its own",
            "Pass model=LabelShift(prior=...), or give SamePopulation() or ByPrediction() given_output=...",
        )
    return LabelShift(prior)


def _meant(value: object) -> str:
    """Say what to pass in place of what is no model."""
    if isinstance(value, Prior):
        return "Pass it as prior=..., or in LabelShift(...)"
    names = {kind.__name__.lower(): kind.__name__ for kind in KINDS}
    called = value.__name__ if isinstance(value, type) else str(value)
    meant = nearest(called.lower().replace("_", "").replace("-", ""), names)
    return f"Pass {names[meant]}()" if meant else f"Pass {EVERY}"


def label_shift_model(model: Model, prior: Prior | None, asked: str) -> LabelShift:
    """Return the model that a call means; refuse one for which what is asked does not exist."""
    chosen = chosen_model(model, prior)
    if not isinstance(chosen, LabelShift):
        raise InputError(
            "model",
            f"is {chosen!r:.60}, where {chosen.carries_over} carries over",
            f"{asked} exists only under label shift, where {LabelShift.carries_over} does",
            Advice("Pass {}", LabelShift.choice()),
        )
    require_plain_label_shift(chosen, asked)
    return chosen


def require_plain_label_shift(model: Model, asked: str) -> None:
    """Refuse a model that is more than label shift where that would be lost."""
    for kind, found in BEYOND.items():
        if isinstance(model, kind):
            audit = ", and labels of the population as audit= to check" if kind is TargetLabels else ""
            remedy = f"Pass LabelShift(){audit}, or use infer(counts, model)"
            raise InputError("model", f"is {kind.__name__}(), which {found}", f"{asked} would not use that", remedy)
