"""How draws were made: what each kind of engine did, and whether the draws are an answer."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from truecount._types import FloatArray
from truecount.inference.convergence import RHAT_MOST

Status: TypeAlias = Literal["ok", "not-converged", "no-answer"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRun:
    """That groups were drawn together.

    Parameters
    ----------
    groups, group
        How many, and which of them these draws are, from 0.
    left_out
        Probability of confusions that importance sampling left out, because they treat all classes alike; None where
        chains reach them.
    """

    groups: int
    group: int = 0
    left_out: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What every run tells.

    Parameters
    ----------
    engine
        What drew.
    status
        ``"ok"``; ``"not-converged"``; or ``"no-answer"``, where R-hat of a class is above 1.1.
    not_converged
        Why the chains have not converged; None where they have, or where there are none.
    reason
        Why `Auto` chose this engine; None where it was asked for.
    modes
        Prevalence at each mode of the posterior, where several were found.
    joint
        The groups that were drawn together, if they were.
    groups_sharing_labels
        How many groups the labels served, where they served several; 0 where these were not counted.
    """

    engine: str
    status: Status = "ok"
    not_converged: str | None = None
    reason: str | None = None
    modes: tuple[tuple[float, ...], ...] = ()
    joint: JointRun | None = None
    groups_sharing_labels: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceRun(Run):
    """Importance sampling: how many were proposed, which share was possible, and the share that is effective.

    `is_stacked` says that the problem was solved together with others of its shape.
    """

    engine: str = "Exact"
    proposed: int
    share_inside: float
    share_effective: float
    is_stacked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun(Run):
    """Markov chains: how many, the moves of each that tuned it, and what moving took; None where an engine has none."""

    chains: int
    warmup: int
    coordinates: str | None = None
    gradients: int | None = None
    acceptance: float | None = None
    steps: int | None = None
    divergences: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuadratureRun(Run):
    """Numerical integration: on how many nodes, and how much the posterior differs from that on half as many."""

    engine: str = "Quadrature"
    nodes: int
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm(Run):
    """Draws from known distributions."""

    engine: str = "closed form"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRun(Run):
    """Scores by a calibration map: its draws, what proposals of shares are worth over their number, and its labels."""

    engine: str = "calibrated scores"
    maps: int
    acceptance: float
    labels: int


def status_of(not_converged: str | None, rhat: FloatArray | None) -> Status:
    """Judge draws by their R-hat, shape (classes,), and by what their engine complains of."""
    if rhat is not None and not (rhat <= RHAT_MOST).all():
        return "no-answer"
    return "not-converged" if not_converged else "ok"
