"""One simulation of the outputs, wherever it is shown."""

import numpy as np
import pytest

import truecount as tc
from truecount.page.answer import fit_table
from truecount.plots.classifier import predictive_data

COUNTS = tc.Counts([[30, 5, 3], [4, 40, 6], [2, 5, 50]], [200, 100, 50])


@pytest.mark.parametrize("own_seed", [0, 7])
def test_page_picture_and_check_show_the_same_ranges(own_seed):
    """The seed of a check is that of its tests; what the posterior predicts is the posterior's."""
    posterior = tc.infer(COUNTS, seed=3)
    ends = predictive_data(posterior).interval
    rows = tc.check(posterior, seed=own_seed, replicates=19).tables["outputs"]
    np.testing.assert_allclose([[350 * row["predicted_lower"], 350 * row["predicted_upper"]] for row in rows], ends)
    said = [f"{low:,.0f} \N{EN DASH} {high:,.0f}" for low, high in ends]
    assert [expected for _, _, expected, _ in fit_table(posterior, 0.95)] == said


def test_there_are_as_many_items_as_were_seen_and_about_as_many_of_each_output():
    """A mean over 4000 draws; its standard error holds the sampling of the items and the posterior's width."""
    posterior = tc.infer(COUNTS, seed=1)
    simulated = posterior.predicted
    assert simulated.shape == (len(posterior.confusion), 3)
    assert (simulated.sum(axis=1) == 350).all()
    shares = np.einsum("dl,dlk->dk", posterior.prevalence, posterior.confusion)
    error = simulated.std(axis=0) / np.sqrt(len(simulated))
    assert (np.abs(simulated.mean(axis=0) - 350 * shares.mean(axis=0)) < 5 * error).all()
