"""How a result was made, as plain values for export."""

from dataclasses import dataclass
from typing import Any

from truecount.inference.run import Run
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
        **run.details(),
        "modes": [list(mode) for mode in run.modes] or None,
        "chosen_by": None if run.reason is None else "Auto",
        "reason": run.reason,
        "shares_labels": run.groups_sharing_labels or None,
        "common_seed": origin.common_seed,
        "asked": origin.engine,
    }
    known = {name: value for name, value in told.items() if value is not None}
    complaint = {"not_converged": run.not_converged} if run.has_chains or run.not_converged else {}
    return {**known, **complaint, "seed": origin.seed, "version": origin.version}
