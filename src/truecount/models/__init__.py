"""Stage 2: counts and a model become a density, or a closed form."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.models.erring_labels import ErringLabels as ErringLabels
    from truecount.models.given_output import ByPrediction as ByPrediction
    from truecount.models.given_output import GivenOutput as GivenOutput
    from truecount.models.given_output import SamePopulation as SamePopulation
    from truecount.models.independent_classifiers import IndependentClassifiers as IndependentClassifiers
    from truecount.models.label_shift import Density as Density
    from truecount.models.label_shift import LabelShift as LabelShift
    from truecount.models.label_shift import density as density
    from truecount.models.model import Model as Model
    from truecount.models.priors import Prior as Prior
    from truecount.models.published import MeanInterval as MeanInterval
    from truecount.models.published import Pert as Pert
    from truecount.models.target_labels import TargetLabels as TargetLabels
    from truecount.models.variation import Cut as Cut
    from truecount.models.variation import Independent as Independent
    from truecount.models.variation import Pooled as Pooled
    from truecount.models.variation import Varying as Varying
    from truecount.models.variation import Walk as Walk

_HOMES = {
    "Cut": "variation",
    "Independent": "variation",
    "Pooled": "variation",
    "Varying": "variation",
    "Walk": "variation",
    "ByPrediction": "given_output",
    "Density": "label_shift",
    "ErringLabels": "erring_labels",
    "GivenOutput": "given_output",
    "IndependentClassifiers": "independent_classifiers",
    "LabelShift": "label_shift",
    "MeanInterval": "published",
    "Model": "model",
    "Pert": "published",
    "Prior": "priors",
    "SamePopulation": "given_output",
    "TargetLabels": "target_labels",
    "density": "label_shift",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
