"""Stage 3a: counts or scores become a point, the share of every class, with no uncertainty of its own."""

from truecount.estimators.adjusted import ACC, BBSE, PACC, Adjusted, InvariantRatio
from truecount.estimators.asymptotic import Asymptotic, asymptotic
from truecount.estimators.binary import RoganGladen, lang_reiczigel, read_test, rogan_gladen
from truecount.estimators.bootstrap import Resampled, bootstrap
from truecount.estimators.calibrate import calibrate
from truecount.estimators.counting import CC, PCC, CDEIterate
from truecount.estimators.kernel import KMM
from truecount.estimators.likelihood import EM, MAP
from truecount.estimators.matching import DyS, HDy
from truecount.estimators.register import METHODS, Method
from truecount.estimators.regularized import RLLS

__all__ = [
    "ACC",
    "BBSE",
    "CC",
    "EM",
    "KMM",
    "MAP",
    "METHODS",
    "PACC",
    "PCC",
    "RLLS",
    "Adjusted",
    "Asymptotic",
    "CDEIterate",
    "DyS",
    "HDy",
    "InvariantRatio",
    "Method",
    "Resampled",
    "RoganGladen",
    "asymptotic",
    "bootstrap",
    "calibrate",
    "lang_reiczigel",
    "read_test",
    "rogan_gladen",
]
