import numpy as np
import pytest

from truecount import Counts, Prior
from truecount.diagnostics.calibration import Calibration, calibrate
from truecount.errors import InputError
from truecount.inference.draws import Draws

SHAPE = {"labeled": [5, 5], "unlabeled": 20, "outputs": 3, "data_sets": 30}


def constant(prevalence, confusion, *, size: int = 40, stride: int = 1):
    """A sampler that always draws the same point."""

    def draw(counts: Counts, prior: Prior, seed: int) -> Draws:
        return Draws(
            prevalence=np.tile(prevalence, (size, 1)),
            confusion=np.tile(confusion, (size // stride, 1, 1)),
            stride=stride,
            effective=np.array([30.0, 20.0]),
        )

    return draw


EVEN = constant([0.5, 0.5], np.full((2, 3), 1 / 3))


def test_there_is_a_rank_for_each_share_the_likelihood_and_the_joint():
    result = calibrate(EVEN, Prior(), **SHAPE, draws=9)
    assert result.ranks.shape == (30, 4)
    assert set(np.unique(result.ranks[:, 0])) == {0, 9}
    assert (result.ranks[:, 0] + result.ranks[:, 1] == 9).all()
    assert result.least_effective == 20


def test_ties_are_broken_at_random():
    known = Prior.known_confusion(np.full((2, 3), 1 / 3))
    result = calibrate(EVEN, known, **SHAPE, draws=4)
    assert set(np.unique(result.ranks[:, 2])) == {0, 1, 2, 3, 4}


def test_prevalence_and_confusion_are_ranked_in_step():
    """A thinned confusion belongs to every so many-th prevalence."""
    result = calibrate(constant([0.5, 0.5], np.full((2, 3), 1 / 3), stride=4), Prior(), **SHAPE, draws=9)
    assert result.ranks.shape == (30, 4)


def test_the_same_seed_gives_the_same_ranks():
    one, same, other = (calibrate(EVEN, Prior(), **SHAPE, seed=seed).ranks for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_data_come_from_the_shape_asked_for():
    seen = []

    def draw(counts: Counts, prior: Prior, seed: int) -> Draws:
        seen.append((counts.labeled.sum(axis=1).tolist(), int(counts.unlabeled.sum()), seed))
        return EVEN(counts, prior, seed)

    calibrate(draw, Prior(), **SHAPE)
    labeled, unlabeled, seeds = zip(*seen, strict=True)
    assert all(sizes == [5, 5] for sizes in labeled)
    assert set(unlabeled) == {20}
    assert len(set(seeds)) == 30


def test_data_have_the_names_asked_for_and_so_have_the_rows():
    seen = set()

    def draw(counts: Counts, prior: Prior, seed: int) -> Draws:
        seen.add((counts.classes, counts.outputs))
        return EVEN(counts, prior, seed)

    names = {"classes": ("a", "b"), "outputs": ("b", "a", "c")}
    result = calibrate(draw, Prior({"a": 2, "b": 1}), **{**SHAPE, **names})
    assert seen == {(("a", "b"), ("b", "a", "c"))}
    assert [row["quantity"] for row in result.rows()][:2] == ["share of a", "share of b"]
    assert [row["quantity"] for row in calibrate(EVEN, Prior(), **SHAPE).rows()][1] == "share of 1"


def test_even_ranks_pass_and_uneven_ones_fail():
    even = np.tile(np.arange(10), 60)[:, None]
    skewed = np.minimum(even, 8)
    result = Calibration(ranks=np.hstack([even, skewed]), draws=9, least_effective=100.0, classes=())
    assert result.p_values[0] == 1
    assert result.p_values[1] < 1e-6
    assert result.p_value == pytest.approx(2 * result.p_values[1])
    assert Calibration(ranks=even, draws=9, least_effective=100.0, classes=()).p_value == 1


def test_p_values_of_random_ranks_are_uniform():
    rng = np.random.default_rng(0)
    result = Calibration(ranks=rng.integers(20, size=(500, 2000)), draws=19, least_effective=100.0, classes=())
    assert np.mean(result.p_values < 0.1) == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 2000))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"draws": 0}, "draws is 0"), ({"data_sets": 0}, "data_sets is 0"), ({"outputs": 0}, "outputs is 0")],
)
def test_bad_input_is_named(changes, words):
    with pytest.raises(InputError, match=words):
        calibrate(EVEN, Prior(), **{**SHAPE, **changes})


def test_too_few_draws_are_refused():
    with pytest.raises(InputError, match="gave 40 draws: ranks need 41"):
        calibrate(EVEN, Prior(), **SHAPE, draws=41)
