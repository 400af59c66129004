"""Truths that a pilot leaves open, with what it counted."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_counts
from truecount.inference.choose import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.draws import Draws
from truecount.inference.shares_given_rows import shares_given_rows
from truecount.models import LabelShift, Model
from truecount.models.given_output import OutputModel
from truecount.planning.forecast import effort_of
from truecount.planning.row_belief import believed_rows
from truecount.planning.scenario import Scenario

TRUTHS = 1024
"""Draws of the posterior of a pilot, at most."""
ROWS_STREAM = 2
"""Sets the random numbers that rows are drawn by apart from others of the same seed."""


def pilot_scenario(counts: Counts, model: Model, seed: int) -> Scenario:
    """Return what a pilot, which is part of the data in the end, says may be true."""
    if isinstance(model, LabelShift):
        return shift_scenarios({None: counts}, model, seed)[None]
    drawn = posterior_draws(counts, model, seed)
    return scenario_of(counts, model, drawn.prevalence[:: drawn.stride], drawn.confusion)


def shift_scenarios(populations: Mapping[Any, Counts], model: LabelShift, seed: int) -> dict[Any, Scenario]:
    """Return what may be true of populations that have the same labels: rows by these alone, then shares given rows.

    In the posterior, items tell of the rows too: under a flat prior of the shares, rows get the more probable, the more
    alike they are, wherever the outputs lie between them, in proportion to ``1/|det φ|``. Rates of real classifiers are
    not drawn like that, so that what is believed of them would be too bad.
    """
    first, rng = next(iter(populations.values())), np.random.default_rng((seed, ROWS_STREAM))
    rows = believed_rows(rng, model, first, effort_of(len(first.classes))[0])
    return {
        name: scenario_of(counts, model, shares_given_rows(rng, model.density(counts), rows), rows)
        for name, counts in populations.items()
    }


def posterior_draws(counts: Counts, model: Model, seed: int, draws: int = TRUTHS) -> Draws:
    """Draw from the posterior of a pilot."""
    if isinstance(model, LabelShift):
        return Auto(draws).sample(model.density(counts), seed)
    return sample_closed_form(cast("OutputModel", model).closed_form(counts), draws=draws, seed=seed)


def scenario_of(counts: Counts, model: Model, prevalence: FloatArray, confusion: FloatArray) -> Scenario:
    """Return draws of a posterior as truths, with what was counted."""
    kept = np.linspace(0, len(prevalence) - 1, min(len(prevalence), TRUTHS)).astype(int)
    labeled, unlabeled = effective_counts(counts) if isinstance(model, LabelShift) else effective_by_output(counts)
    return Scenario(
        prevalence=prevalence[kept],
        confusion=confusion[kept],
        labeled=labeled,
        unlabeled=unlabeled,
        classes=counts.classes,
        outputs=counts.outputs,
        model=model,
        is_assumed=False,
    )
