"""Answers for groups made of draws at will, so that tests of what is shown need no engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import truecount as tc
from truecount.diagnostics.hierarchy import group_findings
from truecount.inference.group_draws import GroupDraws
from truecount.results.export.provenance import Origin
from truecount.results.finding import Finding

DRAWS, CHAINS = 400, 4


def made_answer(
    shares: Mapping[Any, Sequence[float]],
    *,
    classes: Sequence[Any] = ("fail", "pass"),
    outputs: Sequence[Any] | None = None,
    by: Sequence[str] = (),
    items: int = 200,
    strength: float = 200.0,
    model: tc.LabelShift | None = None,
    findings: Sequence[Finding] = (),
    data: tc.Groups | None = None,
) -> tc.GroupPosterior:
    """Return an answer whose groups have these shares on average, and Dirichlet draws of this strength."""
    rng, names = np.random.default_rng(7), list(outputs or classes)
    centre = np.array(list(shares.values()), dtype=float)
    rows = np.full((len(classes), len(names)), 0.1) + 2.0 * np.eye(len(classes), len(names))
    rows /= rows.sum(axis=1, keepdims=True)
    counts = {group: np.round(items * share @ rows) for group, share in zip(shares, centre, strict=True)}
    groups = data or tc.Groups(np.round(100 * rows), counts, classes, names, by=by)
    draws = np.stack([rng.dirichlet(strength * share + 1e-3, DRAWS) for share in centre], axis=1)
    return tc.GroupPosterior(
        draws=GroupDraws(
            prevalence=draws,
            confusion=np.broadcast_to(rows, (DRAWS, *rows.shape)) * 1.0,
            centre=rng.standard_normal((DRAWS, 1, len(classes) - 1)),
            spread=np.abs(rng.standard_normal((DRAWS, len(classes) - 1))),
            common_rows=None,
            row_spread=np.empty((DRAWS, 0)),
            chains=CHAINS,
            iterations=DRAWS,
            gradients=0,
            acceptance=0.8,
        ),
        data=groups,
        model=model or tc.LabelShift(groups=tc.Pooled()),
        findings=tuple(findings),
        origin=Origin(seed=3, engine="Auto(effective_draws=4000, budget=None)", version="0"),
    )


def findings_of(groups: tc.Groups, model: tc.LabelShift | None = None) -> dict[str, Finding]:
    """Return by their codes the findings of groups whose draws are made at will: those that the data decide."""
    model = model or tc.LabelShift()
    model = replace(model, groups=model.groups or tc.Pooled())
    shares = {group: [1 / len(groups.classes)] * len(groups.classes) for group in groups.groups}
    made = made_answer(shares, classes=groups.classes, outputs=groups.outputs, data=groups, model=model)
    return {finding.code: finding for finding in group_findings(groups, model, made.draws)}


def models(**options: Any) -> tc.GroupPosterior:
    """Return four models, of which D is best by far."""
    return made_answer(
        {"A": [0.5, 0.5], "B": [0.4, 0.6], "C": [0.38, 0.62], "D": [0.2, 0.8]},
        outputs=["fail", "pass", "unsure"],
        by=["model"],
        **options,
    )


def weeks(shares: Sequence[float] = (0.5, 0.5, 0.5, 0.5, 0.5, 0.7, 0.7), **options: Any) -> tc.GroupPosterior:
    """Return weeks in which the share of pass is as given."""
    days = [
        f"2024-01-{1 + 7 * week:02d}" if week < 5 else f"2024-02-{7 * week - 30:02d}" for week in range(len(shares))
    ]
    return made_answer(
        {day: [1 - share, share] for day, share in zip(days, shares, strict=True)}, by=["week"], **options
    )


def refused() -> tc.GroupPosterior:
    """Return models whose chains disagree so much that there is no answer."""
    answer = models()
    draws = answer.prevalence.copy()
    draws[: DRAWS // CHAINS] = [0.05, 0.95]
    return replace(answer, draws=replace(answer.draws, prevalence=draws))
