"""How many of each class are really there? Counts of a black box, corrected, with honest uncertainty."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truecount import counts as counts
    from truecount import errors as errors
    from truecount import estimators as estimators
    from truecount import plots as plots
    from truecount import simulate as simulate
    from truecount import sklearn as sklearn
    from truecount.api.bayesian import infer as infer
    from truecount.api.bayesian import infer_many as infer_many
    from truecount.api.bayesian import mode as mode
    from truecount.api.cells import choose_partition as choose_partition
    from truecount.api.points import compare as compare
    from truecount.api.points import estimate as estimate
    from truecount.api.trust import calibration as calibration
    from truecount.api.trust import check as check
    from truecount.api.trust import coverage as coverage
    from truecount.api.trust import sensitivity as sensitivity
    from truecount.counts import Counter as Counter
    from truecount.counts import Counts as Counts
    from truecount.counts import Scores as Scores
    from truecount.counts import count as count
    from truecount.counts import count_table as count_table
    from truecount.errors import InputError as InputError
    from truecount.inference import NUTS as NUTS
    from truecount.inference import Auto as Auto
    from truecount.inference import Exact as Exact
    from truecount.inference import Gibbs as Gibbs
    from truecount.inference import Hamiltonian as Hamiltonian
    from truecount.models import Prior as Prior
    from truecount.page import report as report
    from truecount.results import Finding as Finding
    from truecount.results import PointEstimate as PointEstimate
    from truecount.results import Posterior as Posterior
    from truecount.results.check import Check as Check
    from truecount.results.recalibrate import recalibrate as recalibrate

_HOMES = {
    "Auto": "truecount.inference",
    "Check": "truecount.results.check",
    "Counter": "truecount.counts",
    "Counts": "truecount.counts",
    "Exact": "truecount.inference",
    "Finding": "truecount.results",
    "Gibbs": "truecount.inference",
    "Hamiltonian": "truecount.inference",
    "InputError": "truecount.errors",
    "NUTS": "truecount.inference",
    "PointEstimate": "truecount.results",
    "Posterior": "truecount.results",
    "Prior": "truecount.models",
    "Scores": "truecount.counts",
    "calibration": "truecount.api.trust",
    "check": "truecount.api.trust",
    "choose_partition": "truecount.api.cells",
    "compare": "truecount.api.points",
    "count": "truecount.counts",
    "count_table": "truecount.counts",
    "estimate": "truecount.api.points",
    "coverage": "truecount.api.trust",
    "infer": "truecount.api.bayesian",
    "infer_many": "truecount.api.bayesian",
    "mode": "truecount.api.bayesian",
    "sensitivity": "truecount.api.trust",
    "recalibrate": "truecount.results.recalibrate",
    "report": "truecount.page",
}

_SUBMODULES = ("counts", "errors", "estimators", "plots", "simulate", "sklearn")

__all__ = sorted((*_HOMES, *_SUBMODULES))


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"truecount.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'truecount' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
