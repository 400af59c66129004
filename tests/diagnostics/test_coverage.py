"""Coverage at a fixed truth: right for the right posterior, short for one that is too narrow."""

import numpy as np
import pytest

import truecount as tc
from truecount import Counts
from truecount.diagnostics.calibration import coverage_at
from truecount.inference.draws import Draws

COUNTS = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
POSTERIOR = tc.infer(COUNTS, engine=tc.Auto(1000))


def test_intervals_of_an_ordinary_answer_hold(seed):
    found = tc.coverage(POSTERIOR, data_sets=200, seed=seed)
    assert found.held.shape == (4, 2)
    assert np.abs(found.held - found.levels[:, None]).max() < 5 * found.error.max()
    assert found.verdict.startswith("Intervals hold the truth as often")
    assert len(found.rows()) == 8
    header, *rows, verdict = str(found).splitlines()
    assert (header.split()[:4], len(rows), verdict) == (["level", "class", "truth", "held"], 8, found.verdict)
    assert found.rows()[0]["truth"] == pytest.approx(POSTERIOR.mean[0])


def test_intervals_that_are_too_narrow_are_called_so():
    def narrow(problems):
        answers = tc.infer_many(problems, engine=tc.Auto(500), progress=False)
        return [
            Draws(
                prevalence=each.mean + (each.prevalence - each.mean) / 3,
                confusion=each.confusion,
                effective=each.effective_draws,
            )
            for each in answers
        ]

    truth = POSTERIOR.mean, POSTERIOR.confusion.mean(axis=0)
    found = coverage_at(narrow, COUNTS, *truth, data_sets=100, seed=0)
    assert "fail, pass hold the truth less often" in found.verdict


def test_calibration_on_one_s_own_sizes():
    found = tc.calibration(COUNTS, data_sets=60, draws=4)
    assert found.ranks.shape == (60, 4)
    assert found.verdict == "The draws rank the truth as the right posterior does."
    assert [row["quantity"] for row in found.rows()][-1] == "log joint density"
    assert sum(found.rows()[0]["ranks"]) == 60
