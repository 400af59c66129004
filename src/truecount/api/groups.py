"""Many groups at once: joint draws of all of them."""

from dataclasses import replace

from truecount.counts import Groups
from truecount.diagnostics.hierarchy import group_findings
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.inference.hierarchical import sample_groups
from truecount.models import Cut, Independent, LabelShift, Pooled
from truecount.models.groups import group_density
from truecount.results.group_posterior import GroupPosterior
from truecount.results.provenance import Origin

EFFECTIVE_DRAWS = 1000
"""The least effective sample size that `Auto()` aims at for groups."""
FEWEST_POOLED = 3
"""Groups from which on they are pooled by default."""


def infer_groups(groups: Groups, model: LabelShift, engine: Engine, origin: Origin) -> GroupPosterior:
    """Infer the true share of every class in every group, jointly."""
    if (wanted := engine.open_choice) is None:
        needed = "groups have an engine of their own"
        raise InputError("engine", f"is {engine!r:.60}", needed, "Leave it out, or pass Auto(effective_draws=...)")
    wanted = EFFECTIVE_DRAWS if engine == Auto() else wanted
    variation = model.groups or (Pooled() if len(groups) >= FEWEST_POOLED else Independent())
    chosen = replace(model, groups=variation)
    density = group_density(groups, model.prior, variation, model.confusion)
    is_cut = isinstance(model.confusion, Cut)
    draws = sample_groups(density, effective_draws=wanted, seed=origin.seed, groups=len(groups), cut=is_cut)
    return GroupPosterior(
        draws=draws, data=groups, model=chosen, findings=group_findings(groups, chosen, draws), origin=origin
    )
