"""What holds whatever the counts are."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import truecount as tc
from truecount import Counts, Posterior, Prior
from truecount.errors import ConvergenceWarning
from truecount.inference import Auto

SHAPES = st.tuples(st.integers(2, 3), st.integers(1, 3))
FLAT = Prior()
SEEDS = st.integers(0, 10**6)
few = settings(max_examples=12, deadline=None, derandomize=True)
many = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def tables(draw, shapes=SHAPES) -> Counts:
    """Any small counts with at least one labelled item: zero cells, empty classes and empty outputs included."""
    shape = draw(shapes)
    labeled = draw(arrays(np.int64, shape, elements=st.integers(0, 30)).filter(lambda counts: counts.sum() > 0))
    return Counts(labeled, draw(arrays(np.int64, shape[1], elements=st.integers(0, 60))))


@st.composite
def shuffled(draw) -> tuple[Counts, Counts, list[int]]:
    """Counts, the same with classes and outputs in another order, and the order of the classes."""
    counts = draw(tables())
    rows, columns = (draw(st.permutations(range(size))) for size in counts.labeled.shape)
    return counts, Counts(counts.labeled[np.ix_(rows, columns)], counts.unlabeled[columns]), rows


def infer(counts: Counts, *, prior: Prior = FLAT, seed: int = 0) -> Posterior:
    """Draws enough for these checks; whether chains call themselves converged is not one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tc.infer(counts, prior=prior, engine=Auto(400), seed=seed)


@few
@given(shuffled(), SEEDS)
def test_another_order_of_classes_and_outputs_reorders_the_answer(pair, seed):
    counts, other, rows = pair
    one, two = infer(counts, seed=seed), infer(other, seed=seed + 1)
    errors = np.hypot(one.mcse[rows], two.mcse)
    assert (np.abs(one.mean[rows] - two.mean) <= 5 * errors).all()


@many
@given(shuffled())
def test_another_order_of_classes_and_outputs_reorders_the_mode(pair):
    counts, other, rows = pair
    prior = Prior(prevalence=1.5, confusion=1.5)
    one, two = tc.mode(counts, prior=prior), tc.mode(other, prior=prior)
    is_tie = any(each.numbers.get("gap", 1) < 1e-3 for each in one.findings)
    found, wanted = two.prevalence, one.prevalence[rows]
    if is_tie:  # classes that look alike: either may be the larger one
        found, wanted = np.sort(found), np.sort(wanted)
    assert found == pytest.approx(wanted, abs=1e-5)


@few
@given(tables(), SEEDS, st.sampled_from(["equal-tailed", "hdi"]))
def test_intervals_lie_between_0_and_1_and_widen_with_their_level(counts, seed, kind):
    posterior = infer(counts, seed=seed)
    intervals = np.array([posterior.interval(level, kind=kind) for level in (0.1, 0.5, 0.8, 0.95, 0.999)])
    assert ((intervals >= 0) & (intervals <= 1)).all()
    assert (np.diff(intervals[..., 1] - intervals[..., 0], axis=0) >= 0).all()
    if kind == "equal-tailed":
        assert (np.diff(intervals[..., 0], axis=0) <= 0).all()
        assert (np.diff(intervals[..., 1], axis=0) >= 0).all()


@few
@given(tables(), SEEDS)
def test_draws_are_shares(counts, seed):
    posterior = infer(counts, seed=seed)
    for shares in (posterior.prevalence, posterior.confusion):
        assert (shares >= 0).all()
        assert shares.sum(axis=-1) == pytest.approx(1)


@few
@given(tables(), SEEDS)
def test_the_same_seed_gives_the_same_draws_and_another_one_others(counts, seed):
    one, same, other = infer(counts, seed=seed), infer(counts, seed=seed), infer(counts, seed=seed + 1)
    assert np.array_equal(one.prevalence, same.prevalence)
    assert np.array_equal(one.confusion, same.confusion)
    assert not np.array_equal(one.prevalence[:50], other.prevalence[:50])


def assert_is_the_prior(posterior: Posterior, concentration: np.ndarray) -> None:
    total = concentration.sum()
    mean = concentration / total
    sd = np.sqrt(mean * (1 - mean) / (total + 1))
    errors = 1 / np.sqrt(posterior.effective_draws)
    assert (np.abs(posterior.mean - mean) <= 5 * sd * errors).all()
    squares = (posterior.prevalence - mean) ** 2
    assert (np.abs(squares.mean(axis=0) - sd**2) <= 5 * squares.std(axis=0) * errors).all()


concentrations = st.lists(st.floats(0.5, 5), min_size=2, max_size=4).map(np.array)


@few
@given(concentrations, st.integers(0, 1000), SEEDS)
def test_one_output_gives_the_prior_back(concentration, items, seed):
    counts = Counts(np.full((len(concentration), 1), 7), [items])
    assert_is_the_prior(infer(counts, prior=Prior(concentration), seed=seed), concentration)


@few
@given(concentrations, SEEDS)
def test_nothing_unlabelled_gives_the_prior_back(concentration, seed):
    counts = Counts(np.eye(len(concentration), dtype=int), np.zeros(len(concentration), int))
    assert_is_the_prior(infer(counts, prior=Prior(concentration), seed=seed), concentration)


labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=30)
outputs = st.lists(st.sampled_from("xyz"), max_size=30)
names = {"classes": list("abc"), "outputs": list("xyz")}


@many
@given(labels, outputs, labels, outputs)
def test_merged_counts_are_counts_of_merged_data(first, first_new, second, second_new):
    def counted(pairs: list[tuple[str, str]], new: list[str]) -> Counts:
        return tc.count([label for label, _ in pairs], [output for _, output in pairs], new, **names)

    assert counted(first, first_new) + counted(second, second_new) == counted(first + second, first_new + second_new)
