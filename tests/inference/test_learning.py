"""Learned priors: engines against each other, and against an oracle that knows neither of them."""

import numpy as np
import pytest

from truecount import Counts, Exact, Gibbs, Hamiltonian, LabelShift, Prior, Quadrature, infer, mode
from truecount.errors import InputError, UnsuitableEngineError
from truecount.inference.chains.hamiltonian import build_coordinates
from truecount.inference.draws import dirichlet
from truecount.models.learned import CONCENTRATIONS, PARTS, STRENGTHS

ROWS, BOTH, SHARES = Prior(confusion="learned"), Prior("learned", "learned"), Prior("learned")
SMALL = Counts([[4, 1, 0], [0, 3, 1], [0, 0, 3]], [5, 3, 4])
LARGER = Counts([[20, 3, 0], [1, 9, 2], [0, 2, 6]], [100, 80, 60])


def oracle(counts: Counts, prior: Prior, rng: np.random.Generator, size: int = 200_000) -> tuple[np.ndarray, ...]:
    """Draw everything from the prior, and weight it by how probable labelled and unlabelled counts are then."""
    shape = counts.labeled.shape
    chances = np.exp(-0.5 * (np.log(STRENGTHS / 5) / 1.5) ** 2)
    strength, part = rng.choice(STRENGTHS, size, p=chances / chances.sum()), rng.choice(PARTS, size)
    rows = np.repeat((strength * (1 - part))[:, None, None] / shape[1], shape[0], axis=1) + np.zeros(shape)
    rows += (strength * part)[:, None, None] * np.eye(*shape)
    shares = np.ones((size, shape[0]))
    if prior.prevalence == "learned":
        shares *= rng.choice(CONCENTRATIONS, size)[:, None]
    confusion = np.maximum(dirichlet(rng, rows, ()), 1e-300)
    prevalence = dirichlet(rng, shares, ())
    heights = np.einsum("slk,lk->s", np.log(confusion), counts.labeled)
    outputs = np.einsum("sl,slk->sk", prevalence, confusion)
    heights += np.log(np.maximum(outputs, 1e-300)) @ counts.unlabeled
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()
    mean = weights @ prevalence
    error = np.sqrt(weights**2 @ (prevalence - mean) ** 2)
    return mean, weights @ prevalence**2, error


@pytest.mark.parametrize(("prior", "engine"), [(ROWS, Exact(20_000)), (ROWS, Gibbs(16_000)), (BOTH, Gibbs(16_000))])
def test_an_engine_agrees_with_drawing_from_the_prior(prior, engine, seed):
    mean, square, error = oracle(SMALL, prior, np.random.default_rng(seed))
    draws = infer(SMALL, prior=prior, engine=engine, seed=seed).draws
    own = draws.prevalence.std(axis=0) / np.sqrt(draws.effective)
    assert (np.abs(draws.prevalence.mean(axis=0) - mean) < 5 * np.hypot(own, error)).all()
    squares = draws.prevalence**2
    own = squares.std(axis=0) / np.sqrt(draws.effective)
    assert (np.abs(squares.mean(axis=0) - square) < 5 * np.hypot(own, 2 * error)).all()


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("prior", "coordinates"),
    [
        (ROWS, "class"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((ROWS, "output"), (BOTH, "class"), (BOTH, "output"))
        ),
    ],
)
def test_chains_agree_with_gibbs(prior, coordinates, seed):
    one = infer(LARGER, prior=prior, engine=Gibbs(12_000), seed=seed).draws
    other = infer(LARGER, prior=prior, engine=Hamiltonian(3000, coordinates=coordinates), seed=seed).draws
    scale = one.prevalence.std(axis=0)
    error = scale * np.sqrt(1 / one.effective + 1 / other.effective)
    assert (np.abs(one.prevalence.mean(axis=0) - other.prevalence.mean(axis=0)) < 5 * error).all()


@pytest.mark.parametrize("prior", [ROWS, BOTH, SHARES])
@pytest.mark.parametrize("moving", ["class", "output"])
def test_the_gradient_is_that_of_the_density(prior, moving, seed):
    rng, coordinates = np.random.default_rng(seed), build_coordinates(LabelShift(prior).density(LARGER), moving)
    points = coordinates.point(rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (4, 3)))
    step = 1e-5 * np.eye(points.shape[1])
    slopes = [(coordinates.log_density(points + h) - coordinates.log_density(points - h)) / 2e-5 for h in step]
    assert np.allclose(coordinates.gradient(points), np.transpose(slopes), atol=1e-4)


def test_a_plug_in_is_not_the_learned_prior(seed):
    """The oracle tells the mixture from one of its points: that is the bug it would see."""
    mean, _, error = oracle(SMALL, ROWS, np.random.default_rng(seed))
    for factor in (0.02, 50.0):
        rows = factor * ROWS.confusion_for(SMALL)
        draws = infer(SMALL, prior=Prior(confusion=rows.tolist()), engine=Exact(20_000), seed=seed).draws
        own = draws.prevalence.std(axis=0) / np.sqrt(draws.effective)
        assert (np.abs(draws.prevalence.mean(axis=0) - mean) > 5 * np.hypot(own, error)).any()


def test_without_unlabelled_items_the_prior_of_the_prevalence_is_returned(seed):
    counts = Counts(LARGER.labeled, [0, 0, 0])
    draws = infer(counts, prior=BOTH, engine=Exact(20_000), seed=seed).draws
    expected = np.mean([(c + 1) / (3 * (3 * c + 1)) for c in CONCENTRATIONS])
    squares = draws.prevalence**2
    assert (np.abs(squares.mean(axis=0) - expected) < 5 * squares.std(axis=0) / np.sqrt(20_000)).all()


def test_quadrature_and_the_mode_refuse_what_is_learned():
    two = Counts([[8, 2], [1, 9]], [30, 20])
    with pytest.raises(UnsuitableEngineError, match="learned"):
        infer(two, prior=ROWS, engine=Quadrature())
    with pytest.raises(InputError, match="learned"):
        mode(two, prior=ROWS)
    assert infer(two, prior=ROWS).run.engine == "Exact"
