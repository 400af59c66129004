"""Many groups at once: joint draws of all of them."""

from dataclasses import replace

import numpy as np

from truecount.counts import Groups
from truecount.diagnostics.hierarchy import group_findings
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.inference.hierarchical import GroupDraws, sample_pooled
from truecount.models import Independent, LabelShift, Pooled
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
    if isinstance(variation, Independent):
        draws = _independent(groups, model, wanted, origin.seed)
    else:
        density = group_density(groups, model.prior, variation)
        draws = sample_pooled(density, effective_draws=wanted, seed=origin.seed)
    return GroupPosterior(
        draws=draws,
        data=groups,
        model=replace(model, groups=variation),
        findings=group_findings(groups, model.prior, draws),
        origin=origin,
    )


def _independent(groups: Groups, model: LabelShift, wanted: int, seed: int) -> GroupDraws:
    """Draw groups that have only the confusion in common."""
    each = Auto(wanted).sample_jointly([model.density(counts) for _, counts in groups.items()], seed)
    size = len(each[0].prevalence)
    return GroupDraws(
        prevalence=np.stack([draws.prevalence for draws in each], axis=1),
        confusion=np.repeat(each[0].confusion, each[0].stride, axis=0)[:size],
        centre=np.empty((size, 0, 0)),
        spread=np.empty((size, 0)),
        chains=each[0].chains or 1,
        iterations=size,
        gradients=0,
        acceptance=1.0,
    )
