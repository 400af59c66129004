"""A posterior whose draws were written by hand, so that tests of results need no engine."""

from typing import Any

import numpy as np

from truecount import Counts, Finding, LabelShift, Posterior, Prior
from truecount.inference.draws import Draws
from truecount.inference.run import ChainRun, Run
from truecount.results.export.provenance import Origin


def made_posterior(
    *,
    classes: list[Any] | None = None,
    n_draws: int = 400,
    chains: int | None = None,
    stride: int = 1,
    findings: tuple[Finding, ...] = (),
    prior: Prior | None = None,
    counts: Counts | None = None,
) -> Posterior:
    """Two classes by default; the draws are a fixed cloud around the shares (0.7, 0.3)."""
    if counts is None:
        counts = Counts([[140, 60], [20, 180]], [600, 400], classes=classes or ["fail", "pass"])
    n_classes, n_outputs = counts.labeled.shape
    rng = np.random.default_rng(3)
    mean = np.linspace(0.7, 0.3, n_classes) / np.linspace(0.7, 0.3, n_classes).sum()
    prevalence = rng.dirichlet(100 * mean, n_draws)
    confusion = rng.dirichlet(np.ones(n_outputs), (len(range(0, n_draws, stride)), n_classes))
    return Posterior(
        draws=Draws(
            prevalence=prevalence,
            confusion=confusion,
            stride=stride,
            chains=chains,
            effective=np.full(n_classes, n_draws / 4 if chains else n_draws),
            rhat=np.linspace(1.001, 1.007, n_classes) if chains else None,
            run=ChainRun(engine="Gibbs", chains=chains, warmup=500) if chains else Run(engine="Exact"),
        ),
        counts=counts,
        model=LabelShift(prior or Prior()),
        findings=findings,
        origin=Origin(seed=3, version="0.0"),
    )
