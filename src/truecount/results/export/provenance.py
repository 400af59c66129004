"""How a result was made, as plain values: the only place where a run gets keys."""

from dataclasses import dataclass
from typing import Any

from truecount.inference.run import ChainRun, ImportanceRun, QuadratureRun, Run, ScoreRun
from truecount.models import LabelShift, Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a result was asked for with; with counts and model, enough to get the same draws again.

    Parameters
    ----------
    seed
        Of these draws.
    engine
        The engine that was asked for, as Python, such as ``"Auto(effective_draws=4000, budget=None)"``.
    version
        Of truecount.
    common_seed
        The seed of `infer_many`, from which each problem has its own.
    """

    seed: int
    engine: str | None = None
    version: str | None = None
    common_seed: int | None = None


def provenance_of(origin: Origin, run: Run, model: Model) -> dict[str, Any]:
    """Return how draws were made by name, without what does not apply."""
    told = {
        "engine": run.engine,
        "design": model.name if model.name != LabelShift.name else None,
        **_of_kind(run),
        "modes": [list(mode) for mode in run.modes] or None,
        "chosen_by": None if run.reason is None else "Auto",
        "reason": run.reason,
        "shares_labels": run.groups_sharing_labels or None,
        "common_seed": origin.common_seed,
        "asked": origin.engine,
    }
    known = {name: value for name, value in told.items() if value is not None}
    complaint = {"not_converged": run.not_converged} if isinstance(run, ChainRun) or run.not_converged else {}
    return {**known, **complaint, "seed": origin.seed, "version": origin.version}


def _of_kind(run: Run) -> dict[str, Any]:
    """Return what only some engines tell."""
    if isinstance(run, ImportanceRun):
        shares = {"share_inside": run.share_inside, "share_effective": run.share_effective}
        return {"proposed": run.proposed, **shares, "stacked": run.is_stacked or None}
    if isinstance(run, ChainRun):
        names = ("chains", "warmup", "coordinates", "gradients", "acceptance", "steps", "divergences")
        return {name: getattr(run, name) for name in names}
    if isinstance(run, QuadratureRun):
        return {"nodes": run.nodes, "quadrature_error": run.error}
    if isinstance(run, ScoreRun):
        return {"maps": run.maps, "share_effective": run.share_effective, "map_labels": run.labels}
    return {}
