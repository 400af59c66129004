"""Truths that a pilot leaves open, with what it counted."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_by_output, effective_groups
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
        labeled, unlabeled = counts.effective
        rows, rng = _rows(counts, labeled, model, seed)
        return _given_rows(rng, counts, (labeled, unlabeled), model, rows)
    drawn = posterior_draws(counts, model, seed)
    return scenario_of(counts, effective_by_output(counts), model, drawn.prevalence[:: drawn.stride], drawn.confusion)


def shared_label_scenarios(groups: Groups, model: LabelShift, seed: int) -> dict[Any, Scenario]:
    """Return what may be true of groups that have the same labels: the same rows for all, then shares given rows.

    Labels have one effective size, that of `effective_groups`, whichever group comes first. By itself each group would
    have another, because its design effect is that of labels and items together.
    """
    labeled, unlabeled = effective_groups(groups)
    whole = labeled.sum(axis=0)
    rows, rng = _rows(groups.total, whole, model, seed)
    return {
        group: _given_rows(rng, counts, (whole, items), model, rows)
        for (group, counts), items in zip(groups.apart(), unlabeled, strict=True)
    }


def _rows(counts: Counts, labeled: FloatArray, model: LabelShift, seed: int) -> tuple[FloatArray, np.random.Generator]:
    """Draw the rows by the labels alone, and return the random numbers to go on with.

    In the posterior, items tell of the rows too: under a flat prior of the shares, rows get the more probable, the more
    alike they are, wherever the outputs lie between them, in proportion to ``1/|det φ|``. Rates of real classifiers are
    not drawn like that, so that what is believed of them would be too bad.
    """
    rng = np.random.default_rng((seed, ROWS_STREAM))
    return believed_rows(rng, model, counts, effort_of(len(counts.classes))[0], labeled), rng


def _given_rows(
    rng: np.random.Generator,
    counts: Counts,
    effective: tuple[FloatArray, FloatArray],
    model: LabelShift,
    rows: FloatArray,
) -> Scenario:
    """Draw the shares of one population given the rows."""
    density = replace(model.density(counts), unlabeled=effective[1])
    return scenario_of(counts, effective, model, shares_given_rows(rng, density, rows), rows)


def posterior_draws(counts: Counts, model: Model, seed: int, draws: int = TRUTHS) -> Draws:
    """Draw from the posterior of a pilot."""
    if isinstance(model, LabelShift):
        return Auto(draws).sample(model.density(counts), seed)
    return sample_closed_form(cast("OutputModel", model).closed_form(counts), draws=draws, seed=seed)


def scenario_of(
    counts: Counts,
    effective: tuple[FloatArray, FloatArray],
    model: Model,
    prevalence: FloatArray,
    confusion: FloatArray,
) -> Scenario:
    """Return draws of a posterior as truths, with what was counted: labels and items of effective size."""
    kept = np.linspace(0, len(prevalence) - 1, min(len(prevalence), TRUTHS)).astype(int)
    labeled, unlabeled = effective
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
