"""How draws were made: what each kind of engine did, and whether the draws are an answer."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

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
    share_effective
        What proposals are worth over their number; None where nothing was proposed.
    is_stacked
        Whether the problem was solved together with others of its shape.
    """

    is_of_scores: ClassVar[bool] = False
    """Whether scores were inferred from, of which counts are only a summary."""
    has_chains: ClassVar[bool] = False
    """Whether there are chains, which may fail to converge."""

    engine: str
    status: Status = "ok"
    not_converged: str | None = None
    reason: str | None = None
    modes: tuple[tuple[float, ...], ...] = ()
    joint: JointRun | None = None
    groups_sharing_labels: int | None = None
    share_effective: float | None = None
    is_stacked: bool = False

    def details(self) -> dict[str, Any]:
        """Return what only runs of this kind tell, by its name in exported files; what is None is left out there."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceRun(Run):
    """Importance sampling: how many were proposed, which share was possible, and the share that is effective."""

    engine: str = "Exact"
    proposed: int
    share_inside: float
    share_effective: float

    def details(self) -> dict[str, Any]:
        """Return what only importance sampling tells."""
        shares = {"share_inside": self.share_inside, "share_effective": self.share_effective}
        return {"proposed": self.proposed, **shares, "stacked": self.is_stacked or None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun(Run):
    """Markov chains: how many, the moves of each that tuned it, and what moving took; None where an engine has none."""

    has_chains: ClassVar[bool] = True

    chains: int
    warmup: int
    coordinates: str | None = None
    gradients: int | None = None
    acceptance: float | None = None
    steps: int | None = None
    divergences: int | None = None

    def details(self) -> dict[str, Any]:
        """Return what only chains tell."""
        names = ("chains", "warmup", "coordinates", "gradients", "acceptance", "steps", "divergences")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuadratureRun(Run):
    """Numerical integration: on how many nodes, and how much the posterior differs from that on half as many."""

    engine: str = "Quadrature"
    nodes: int
    error: float

    def details(self) -> dict[str, Any]:
        """Return what only quadrature tells."""
        return {"nodes": self.nodes, "quadrature_error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm(Run):
    """Draws from known distributions."""

    engine: str = "closed form"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRun(Run):
    """Scores by a calibration map: its draws, what proposals of shares are worth over their number, and its labels."""

    is_of_scores: ClassVar[bool] = True

    engine: str = "calibrated scores"
    maps: int
    share_effective: float
    labels: int

    def details(self) -> dict[str, Any]:
        """Return what only scores tell."""
        return {"maps": self.maps, "share_effective": self.share_effective, "map_labels": self.labels}


def status_of(not_converged: str | None, rhat: FloatArray | None) -> Status:
    """Judge draws by their R-hat, shape (classes,), and by what their engine complains of."""
    if rhat is not None and not (rhat <= RHAT_MOST).all():
        return "no-answer"
    return "not-converged" if not_converged else "ok"
