"""Every engine that accepts a problem gives its posterior; every other one refuses it by name."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import truecount as tc
from agreement import ENGINES, REFERENCE, Target, assert_agrees, by_oracle, target_for
from problems import PROBLEMS
from truecount import inference
from truecount.cli import options
from truecount.errors import UnsuitableEngineError
from truecount.inference import Exact
from truecount.inference.draws import Draws, Engine
from truecount.models import Density

PAIRS = [
    (engine, name)
    for name, problem in PROBLEMS.items()
    for engine in ENGINES
    if engine not in problem.refused_by and (problem.has_oracle or engine != REFERENCE)
]
LONG = (
    *("two classes, sparse shares", "two classes, all outputs alike", "five classes, three outputs"),
    *("three classes, six outputs, sparse rows", "three classes, two outputs, a million unlabelled"),
    *("three classes, nearly singular", "three classes, useless box"),
    *("five classes, none of four", "five classes, nine outputs"),
)
"""Problems that take a second or several an engine."""
REFUSALS = [(engine, name) for name, problem in PROBLEMS.items() for engine in problem.refused_by]


@cache
def target_of(name: str) -> Target:
    return target_for(PROBLEMS[name])


@pytest.mark.parametrize(
    ("engine", "name"), [pytest.param(*pair, marks=pytest.mark.slow) if pair[1] in LONG else pair for pair in PAIRS]
)
def test_engines_agree(engine, name):
    assert_agrees(ENGINES[engine], PROBLEMS[name].density, target_of(name))


@pytest.mark.parametrize(("engine", "name"), REFUSALS)
def test_what_an_engine_cannot_do_it_refuses_by_name(engine, name):
    with pytest.raises(UnsuitableEngineError, match=f"is {engine}:"):
        ENGINES[engine].sample(PROBLEMS[name].density, 0)


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if not problem.has_oracle])
def test_where_there_is_no_oracle_two_different_engines_answer(name):
    independent = {"Exact", "Gibbs", "Hamiltonian"} - set(PROBLEMS[name].refused_by)
    assert REFERENCE in independent
    assert len(independent) >= 2


@dataclass(frozen=True)
class Bug:
    """An engine that draws rightly from the wrong density."""

    kind: str

    def sample(self, density: Density, seed: int) -> Draws:
        return Exact(500).sample(self.mistaken(density), seed)

    def mistaken(self, density: Density) -> Density:
        match self.kind:
            case "confusion transposed":
                return replace(density, rows=density.rows.T)
            case "unlabelled ignored":
                return replace(density, unlabeled=np.zeros_like(density.unlabeled))
            case "prevalence prior ignored":
                return replace(density, prevalence=np.ones_like(density.prevalence))
            case _:
                return replace(density, rows=density.rows - 0.5)


@dataclass(frozen=True)
class WeightsDropped:
    """Solve for the prevalence, keep what lies inside the simplex, and forget the weights."""

    def sample(self, density: Density, seed: int) -> Draws:
        rng = np.random.default_rng(seed)
        confusion = np.stack([rng.dirichlet(row, 2000) for row in density.rows], axis=1)
        outputs = rng.dirichlet(density.unlabeled + 1, 2000)
        solution = np.linalg.solve(confusion.transpose(0, 2, 1), outputs[..., None])[..., 0]
        inside = (solution >= 0).all(axis=1)
        return Draws(prevalence=solution[inside], confusion=confusion[inside], effective=np.array([np.nan, np.nan]))


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        (Bug("confusion transposed"), "two classes"),
        (Bug("unlabelled ignored"), "two classes"),
        (Bug("prevalence prior ignored"), "two classes, asymmetric priors"),
        (Bug("half a label too few"), "two classes, zero cells"),
        (WeightsDropped(), "two classes, asymmetric priors"),
        (WeightsDropped(), "two classes, few of everything"),
        (WeightsDropped(), "two classes, useless box"),
    ],
    ids=str,
)
def test_that_check_fails_on_a_bug(engine: Engine, name):
    problem = PROBLEMS[name]
    with pytest.raises(AssertionError, match="off by"):
        assert_agrees(engine, problem.density, by_oracle(problem.density))


def test_every_engine_is_registered_everywhere():
    """NUTS needs an extra package, and has agreement tests of its own."""
    exported = {name for name in inference.__all__ if Engine in getattr(getattr(inference, name), "__mro__", ())}
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "engines.md").read_text(encoding="utf-8")
    places = {
        "src/truecount/cli/options.py": set(options.ENGINES.values()),
        "src/truecount/__init__.py": {name for name in exported if hasattr(tc, name)},
        "tests/agreement.py": {*ENGINES, "NUTS"},
        "docs/explanation/engines.md": {name for name in exported if f"`{name}" in page},
    }
    places["src/truecount/inference/__init__.py"] = exported
    every = set().union(*places.values())
    missing = {place: sorted(every - names) for place, names in places.items() if every != names}
    assert not missing, f"engines that a place lacks: {missing}"
