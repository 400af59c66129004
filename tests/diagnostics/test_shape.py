"""Chains that converged on different answers are told from chains that did not settle."""

from dataclasses import replace

import numpy as np
import pytest

from truecount import Counts
from truecount.diagnostics.identify import several_answers
from truecount.inference.draws import Draws

COUNTS = Counts([[9, 1], [2, 8]], [5, 5], classes=["fail", "pass"])


def chains(means, *, sd=0.01, chains=None):
    rng = np.random.default_rng(0)
    first = np.concatenate([mean + sd * rng.standard_normal(200) for mean in means])
    return Draws(
        prevalence=np.column_stack([first, 1 - first]),
        confusion=np.full((1, 2, 2), 0.5),
        stride=len(first),
        chains=len(means) if chains is None else chains,
        effective=np.ones(2),
    )


def test_two_camps_are_named_with_what_each_says():
    finding = several_answers(COUNTS, chains([0.2, 0.21, 0.8, 0.2, 0.79]))
    assert finding.numbers["chains"] == [3, 2]
    assert finding.numbers["means"][0][0] == pytest.approx(0.203, abs=0.01)
    assert finding.message.startswith(
        f"The chains converged on 2 different answers. Of {finding.numbers['class']}, 3 of 5"
    )
    assert "and 2 of 5 say" in finding.message


@pytest.mark.parametrize(
    "draws",
    [
        chains([0.2, 0.21, 0.2, 0.22]),
        chains([0.2, 0.8, 0.21, 0.2]),
        chains([0.2, 0.24, 0.27, 0.3]),
        chains([0.2, 0.8], sd=0.3),
    ],
    ids=["one", "a straggler", "a crawl", "wide"],
)
def test_other_chains_are_no_camps(draws):
    assert several_answers(COUNTS, draws) is None


def test_independent_draws_have_no_chains():
    assert several_answers(COUNTS, replace(chains([0.2, 0.8]), chains=None)) is None
