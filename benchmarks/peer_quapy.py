"""QuaPy's quantifiers fed with ready scores, as they come and with their solvers run to the end; for ``agreement.py``.

QuaPy finds many of its estimates by iterations that stop early: SLSQP when a step gains less than 1e-6, SCS at 1e-5, EM
when a step is shorter than 1e-4. Where its definition is ours, the difference is then QuaPy's distance from its own
optimum. A patient `Peer` asks the same method again with the solvers replaced.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import cvxpy
import numpy as np
from quapy import functional
from quapy.method import aggregative
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from truecount import Scores


class Echo(BaseEstimator):
    """A fitted classifier that takes scores for features and gives them back."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.classes_ = np.arange(classes)

    def fit(self, features: np.ndarray, labels: np.ndarray) -> "Echo":
        """Nothing to learn."""
        return self

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """The scores."""
        return features

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The most probable class."""
        return features.argmax(axis=1)


@dataclass(frozen=True)
class Peer:
    """One of QuaPy's methods; a `patient` one has its solvers replaced by ones that run to the end."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    patient: bool = False

    @property
    def label(self) -> str:
        """What a user of QuaPy would write."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.kind}({settings})" + (", solver run to the end" if self.patient else "")

    def __call__(self, scores: Scores) -> np.ndarray:
        """Estimate the prevalence; raises RuntimeError where QuaPy does."""
        with _patient_solvers() if self.patient else nullcontext(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            split = {} if self.kind in ("CC", "PCC") else {"val_split": (scores.labeled, scores.labels)}
            made = getattr(aggregative, self.kind)
            method = made(Echo(len(scores.classes)), fit_classifier=False, **split, **self.settings)
            method.fit(scores.labeled, scores.labels)
            return method.predict(scores.unlabeled)


@contextmanager
def _patient_solvers() -> Iterator[None]:
    solve = cvxpy.Problem.solve
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-13)

    def solve_by_clarabel(problem: cvxpy.Problem, **_: Any) -> float:
        return solve(problem, solver=cvxpy.CLARABEL, **tolerances)

    with (
        patch.object(functional, "optim_minimize", _search),
        patch.object(cvxpy.Problem, "solve", solve_by_clarabel),
        patch.object(aggregative.EMQ, "MAX_ITER", 1_000_000),
        patch.object(aggregative.EMQ.aggregate, "__defaults__", (1e-13,)),
    ):
        yield


def _search(loss: Callable[[np.ndarray], float], n_classes: int, **_: Any) -> np.ndarray:
    """Look for the least loss on the simplex, twice more from where the last search ended."""
    point = np.full(n_classes, 1 / n_classes)
    constraint = {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(n_classes)}
    bounds, options = [(0, 1)] * n_classes, {"ftol": 1e-16, "maxiter": 1000}
    for _ in range(3):
        found = minimize(
            loss, point, method="SLSQP", jac="3-point", bounds=bounds, constraints=constraint, options=options
        )
        point = np.clip(found.x, 0, 1)
    return point / point.sum()
