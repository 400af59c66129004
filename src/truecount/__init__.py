"""How many of each class are really there? Counts of a black box, corrected, with honest uncertainty."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand
from truecount._version import __version__ as __version__

if TYPE_CHECKING:
    from truecount import counts as counts
    from truecount import errors as errors
    from truecount import estimators as estimators
    from truecount import plots as plots
    from truecount import scores as scores
    from truecount import simulate as simulate
    from truecount import sklearn as sklearn
    from truecount.api.batches import may_stop as may_stop
    from truecount.api.batches import next_batch as next_batch
    from truecount.api.bayesian import infer as infer
    from truecount.api.bayesian import infer_many as infer_many
    from truecount.api.bayesian import mode as mode
    from truecount.api.cells import choose_partition as choose_partition
    from truecount.api.classifiers import each_classifier as each_classifier
    from truecount.api.groups import spread_sensitivity as spread_sensitivity
    from truecount.api.plan import plan as plan
    from truecount.api.points import compare as compare
    from truecount.api.points import estimate as estimate
    from truecount.api.recalibration import recalibrate as recalibrate
    from truecount.api.simulation import calibration as calibration
    from truecount.api.simulation import coverage as coverage
    from truecount.api.tables import infer_table as infer_table
    from truecount.api.trust import check as check
    from truecount.api.trust import sensitivity as sensitivity
    from truecount.counts import Counter as Counter
    from truecount.counts import Counts as Counts
    from truecount.counts import Groups as Groups
    from truecount.counts import Ratings as Ratings
    from truecount.counts import count as count
    from truecount.counts import count_table as count_table
    from truecount.counts.logs import count_log as count_log
    from truecount.counts.survey import survey as survey
    from truecount.errors import InputError as InputError
    from truecount.inference import NUTS as NUTS
    from truecount.inference import Auto as Auto
    from truecount.inference import Exact as Exact
    from truecount.inference import Gibbs as Gibbs
    from truecount.inference import Hamiltonian as Hamiltonian
    from truecount.inference import Quadrature as Quadrature
    from truecount.models import ByPrediction as ByPrediction
    from truecount.models import Cut as Cut
    from truecount.models import ErringLabels as ErringLabels
    from truecount.models import Independent as Independent
    from truecount.models import IndependentClassifiers as IndependentClassifiers
    from truecount.models import LabelShift as LabelShift
    from truecount.models import MeanInterval as MeanInterval
    from truecount.models import Pert as Pert
    from truecount.models import Pooled as Pooled
    from truecount.models import Prior as Prior
    from truecount.models import SamePopulation as SamePopulation
    from truecount.models import TargetLabels as TargetLabels
    from truecount.models import Varying as Varying
    from truecount.models import Walk as Walk
    from truecount.page import report as report
    from truecount.planning.goal import Costs as Costs
    from truecount.planning.goal import Goal as Goal
    from truecount.planning.mixed import with_target_labels as with_target_labels
    from truecount.planning.scenario import Assumed as Assumed
    from truecount.reading.logs.log import read_log as read_log
    from truecount.results import Finding as Finding
    from truecount.results import PointEstimate as PointEstimate
    from truecount.results import Posterior as Posterior
    from truecount.results.check import Check as Check
    from truecount.results.groups.posterior import GroupPosterior as GroupPosterior
    from truecount.results.groups.summary import Questions as Questions
    from truecount.results.plan import Plan as Plan
    from truecount.results.separate.answers import SeparateAnswers as SeparateAnswers
    from truecount.results.separate.row_files import Output as Output
    from truecount.scores import Scores as Scores

_HOMES = {
    "Assumed": "planning.scenario",
    "Auto": "inference",
    "ByPrediction": "models",
    "Check": "results.check",
    "Costs": "planning.goal",
    "Counter": "counts",
    "Counts": "counts",
    "Cut": "models",
    "ErringLabels": "models",
    "Exact": "inference",
    "Finding": "results",
    "Gibbs": "inference",
    "Goal": "planning.goal",
    "GroupPosterior": "results.groups.posterior",
    "Groups": "counts",
    "Hamiltonian": "inference",
    "Independent": "models",
    "IndependentClassifiers": "models",
    "InputError": "errors",
    "LabelShift": "models",
    "MeanInterval": "models",
    "NUTS": "inference",
    "Output": "results.separate.row_files",
    "Pert": "models",
    "Plan": "results.plan",
    "PointEstimate": "results",
    "Pooled": "models",
    "Posterior": "results",
    "Prior": "models",
    "Quadrature": "inference",
    "Questions": "results.groups.summary",
    "Ratings": "counts",
    "SamePopulation": "models",
    "Scores": "scores",
    "SeparateAnswers": "results.separate.answers",
    "TargetLabels": "models",
    "Varying": "models",
    "Walk": "models",
    "calibration": "api.simulation",
    "check": "api.trust",
    "choose_partition": "api.cells",
    "compare": "api.points",
    "count": "counts",
    "count_log": "counts.logs",
    "count_table": "counts",
    "each_classifier": "api.classifiers",
    "estimate": "api.points",
    "coverage": "api.simulation",
    "infer": "api.bayesian",
    "infer_many": "api.bayesian",
    "infer_table": "api.tables",
    "mode": "api.bayesian",
    "may_stop": "api.batches",
    "next_batch": "api.batches",
    "plan": "api.plan",
    "sensitivity": "api.trust",
    "spread_sensitivity": "api.groups",
    "survey": "counts.survey",
    "read_log": "reading.logs.log",
    "recalibrate": "api.recalibration",
    "report": "page",
    "with_target_labels": "planning.mixed",
}

_HOMES |= dict.fromkeys(("counts", "errors", "estimators", "plots", "scores", "simulate", "sklearn"), "")

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
