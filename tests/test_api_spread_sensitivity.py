"""Answers under a narrower prior of the spread between studies: weighted draws agree with new ones."""

from dataclasses import replace

import numpy as np
import pytest

import truecount as tc
from made_groups import made_answer
from truecount.api import groups as api

ROWS = [[9, 1], [1, 9]]
DATA = tc.Groups(
    {name: [[40 + 4 * at, 20 - at], [5 + 2 * at, 45]] for at, name in enumerate("abc")},
    {name: [120 + 20 * at, 150] for at, name in enumerate("abc")},
)


@pytest.mark.slow
def test_weighted_draws_agree_with_new_ones_under_a_narrower_prior(seed: int) -> None:
    answer = tc.infer(DATA, tc.LabelShift(confusion=tc.Varying(spread=1.0)), seed=seed)
    found = tc.spread_sensitivity(answer, scales=[0.5])
    again = tc.infer(DATA, tc.LabelShift(confusion=tc.Varying(spread=0.5)), seed=seed + 100)
    place = answer.classes.index(found.of)
    error = again.sd[:, place] * np.sqrt(1 / 400 + 1 / again.effective_draws[:, place])
    assert (abs(found.mean[0] - again.mean[:, place]) < 5 * error).all()
    widths = [np.ptp(each, axis=1) for each in (found.interval[0], again.interval()[:, place])]
    np.testing.assert_allclose(*widths, rtol=5 * np.sqrt(2 / 400))


def test_a_narrower_prior_keeps_draws_of_small_spreads_and_a_wider_one_draws_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = tc.LabelShift(groups=tc.Independent(), confusion=tc.Varying())
    made = made_answer({"a": [0.5, 0.5]}, data=tc.Groups({"x": ROWS, "y": ROWS}, {"a": [5, 5]}), model=model)
    spreads = np.abs(np.random.default_rng(0).normal(0, 0.5, (len(made.prevalence), 2)))
    share = 0.5 + 0.1 * spreads.sum(axis=1)
    shares = np.stack([share, 1 - share], axis=1)[:, None]
    answer = replace(made, draws=replace(made.draws, row_spread=spreads, prevalence=shares))
    monkeypatch.setattr(api, "infer_groups", lambda *_: pytest.fail("drawn anew"))
    found = tc.spread_sensitivity(answer, scales=[0.25], of=answer.classes[0], engine=tc.Auto(100))
    assert found.mean[0, 0] == pytest.approx(0.5 + 0.2 * 0.25 * np.sqrt(2 / np.pi), abs=5 * 0.025 / np.sqrt(100))
    assert found.mean[0, 0] < share.mean() - 0.01, "where nothing is weighted"
    with pytest.raises(pytest.fail.Exception, match="drawn anew"):
        tc.spread_sensitivity(answer, scales=[1.0])
