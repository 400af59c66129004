"""Simulation-based calibration of engines by themselves; `Auto` would ask some of them only where others refuse."""

import numpy as np
import pytest

from calibrated import DATA_SETS, SHAPES, Shape
from truecount import Counts, Gibbs, Hamiltonian, Prior, Quadrature
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws
from truecount.models import density

FALSE_ALARMS = 1e-4
"""A sound engine fails a test of this file so often."""

ENGINES = {
    "Hamiltonian by class": Hamiltonian(160, chains=20, warmup=50, coordinates="class"),
    "Hamiltonian by output": Hamiltonian(160, chains=20, warmup=50, coordinates="output"),
    "Gibbs": Gibbs(2400, warmup=100),
    "Quadrature": Quadrature(200),
}
"""Of the Hamiltonian draws, each of the 19 that a truth is ranked among comes from another chain."""
REFUSED = {
    ("Hamiltonian by output", "one known row"),
    ("Gibbs", "fewer outputs"),
    ("Gibbs", "a million unlabelled"),
    *(("Quadrature", name) for name in SHAPES if name not in ("two classes", "one known row")),
}
NEVER_CHOSEN = {
    ("Hamiltonian by class", "a million unlabelled"),
    *(("Hamiltonian by output", name) for name in ("as many outputs", "two classes", "fewer outputs")),
}
"""What `coordinates="auto"` never does: the class's with so many unlabelled items, the outputs' with so few. One shape
with few is calibrated in the outputs' coordinates all the same."""
CASES = [(engine, name) for engine in ENGINES for name in SHAPES if (engine, name) not in NEVER_CHOSEN]


MINUTES = [
    ("Hamiltonian by class", "as many outputs"),
    ("Hamiltonian by class", "more outputs"),
    ("Hamiltonian by output", "more outputs"),
]
"""What takes minutes with all data sets, and is calibrated with few of them too."""
FEW = 60
"""So many show bugs that change the answer much, and rows taken for flat where they are learned, but not labels that
count twice."""


def draws_of(engine):
    """Return how the engine draws, given counts, a prior and a seed."""

    def draw(counts: Counts, prior: Prior, own_seed: int) -> Draws:
        return ENGINES[engine].sample(density(counts, prior), own_seed)

    return draw


def assert_calibrated(engine, name, seed, data_sets, ranked=19):
    result = SHAPES[name].calibrate(draws_of(engine), seed=seed, data_sets=data_sets, draws=ranked)
    assert len(result.ranks) >= data_sets
    assert np.isfinite(result.p_values).all()
    assert result.p_value > FALSE_ALARMS, result.p_values


def has_chains_of_learned_rows(engine, name):
    """Such chains take a second for each data set; Gibbs has all of them, and others agree with it."""
    return engine.startswith("Hamiltonian") and name == "learned rows"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "name"), [case for case in CASES if case not in MINUTES and not has_chains_of_learned_rows(*case)]
)
def test_engines_are_calibrated(engine, name, seed):
    if (engine, name) in REFUSED:
        with pytest.raises(UnsuitableEngineError):
            SHAPES[name].calibrate(draws_of(engine), seed=seed)
        return
    assert_calibrated(engine, name, seed, DATA_SETS)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "name"), [*MINUTES, *(case for case in CASES if has_chains_of_learned_rows(*case))])
def test_engines_that_take_long_are_calibrated_with_few_data_sets(engine, name, seed):
    assert_calibrated(engine, name, seed, FEW, ranked=9)


@pytest.mark.slowest
@pytest.mark.parametrize(("engine", "name"), MINUTES)
def test_they_are_with_all_of_them(engine, name, seed):
    assert_calibrated(engine, name, seed, DATA_SETS)


@pytest.mark.slowest
@pytest.mark.parametrize(("classes", "data_sets"), [(20, 120), (50, 60)])
def test_gibbs_chains_of_many_classes_are_calibrated(classes, data_sets, seed):
    """With the priors that are the default there: rows and the concentration of the prevalence are learned."""
    shape = Shape(Prior("learned", "learned"), [12] * classes, 10 * classes, classes)

    def draw(counts: Counts, prior: Prior, own_seed: int) -> Draws:
        return Gibbs(20 * 30, chains=20, warmup=90).sample(density(counts, prior), own_seed)

    result = shape.calibrate(draw, seed=seed, data_sets=data_sets)
    assert np.isfinite(result.p_values).all()
    assert result.p_value > FALSE_ALARMS, result.p_values
