"""Simulation-based calibration of the reference engine: what the others are held against is right by itself."""

import numpy as np
import pytest

pytest.importorskip("nutpie")

from calibrated import SHAPES
from truecount import NUTS, Counts, Prior
from truecount.inference.draws import Draws
from truecount.models import density

FALSE_ALARMS = 1e-4
"""A sound engine fails a test of this file so often."""
DATA_SETS = 500
ENGINE = NUTS(60, chains=1, warmup=60)
RANKED = 4
"""Draws that truths are ranked among: far enough apart to be nearly independent."""
QUICK = ("two classes", "a million unlabelled")
"""The others take minutes, and are run with ``pytest -m slowest`` where the extra is installed."""


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slowest) for name in SHAPES if name not in QUICK)]
)
def test_the_reference_is_calibrated(name, seed):
    def draw(counts: Counts, prior: Prior, own_seed: int) -> Draws:
        return ENGINE.sample(density(counts, prior), own_seed)

    result = SHAPES[name].calibrate(draw, seed=seed, data_sets=DATA_SETS, draws=RANKED)
    assert len(result.ranks) >= DATA_SETS
    assert np.isfinite(result.p_values).all()
    assert result.p_value > FALSE_ALARMS, result.p_values
