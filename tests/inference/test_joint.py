"""Groups drawn together have the differences that quadrature says; drawn apart they have not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import truecount as tc
from truecount._log_sum import softmax
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Engine
from truecount.inference.importance.joint import _first_proposals, _left_out, _propose
from truecount.inference.importance.proposal import Pool
from truecount.models import density
from truecount.results.export.provenance import Origin

LABELED = np.array([[140, 60], [20, 180]])
GROUPS = {"first": [600, 400], "second": [500, 500], "third": [30, 70]}
POINTS = 161
BLIND = 0.01
"""Probability of a classifier that treats all classes alike, from which on it matters that draws leave it out."""


def together(groups: Any, *, prior: tc.Prior | None = None, engine: Engine | None = None, seed: int = 0) -> dict:
    """Draw groups that share their labels and nothing else jointly, as planning with several groups does."""
    named = dict(groups.items() if isinstance(groups, tc.Groups) else enumerate(groups))
    model = tc.LabelShift(prior or tc.Prior())
    drawn = (engine or tc.Auto()).sample_jointly([model.density(counts) for counts in named.values()], seed)
    return {
        name: tc.Posterior(draws=draws, counts=counts, model=model, findings=(), origin=Origin(seed=seed))
        for (name, counts), draws in zip(named.items(), drawn, strict=True)
    }


def quadrature(labeled: np.ndarray, groups: list[list[int]], prior: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """Means of the first class's share in each group, and of all products of two, by integration.

    Given the two rates of the confusion, groups are independent: their moments are integrals over one share each.
    """
    share = (np.arange(POINTS) + 0.5) / POINTS
    rates = [_grid(row) for row in labeled]
    (first, first_weight), (second, second_weight) = rates
    outputs = share * first[:, None, None] + (1 - share) * second[None, :, None]
    weight = first_weight[:, None] * second_weight[None, :]
    moments = []
    for one, other in groups:
        log = one * np.log(outputs) + other * np.log1p(-outputs)
        log += (prior[0] - 1) * np.log(share) + (prior[1] - 1) * np.log1p(-share)
        likelihood = np.exp(log - log.max())
        total = likelihood.sum(axis=2)
        weight = weight * total
        moments.append([(likelihood * share**power).sum(axis=2) / total for power in (1, 2)])
    weight /= weight.sum()
    means = np.array([(weight * first_moment).sum() for first_moment, _ in moments])
    squares = np.array(
        [[(weight * moments[a][0] * moments[b][0]).sum() for b in range(len(groups))] for a in range(len(groups))]
    )
    squares[np.diag_indices(len(groups))] = [(weight * second_moment).sum() for _, second_moment in moments]
    return np.column_stack([means, squares - np.outer(means, means)])


def _grid(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points that cover a rate's posterior, and their weights."""
    from scipy.stats import beta

    rate = beta(row[0] + 1, row[1] + 1)
    points = np.linspace(*rate.ppf([1e-9, 1 - 1e-9]), POINTS)
    return points, rate.pdf(points)


def differences(posteriors: dict[str, tc.Posterior]) -> np.ndarray:
    """Shape (draws, 2): from the first group to the second, from the second to the third."""
    shares = np.column_stack([posterior.prevalence[:, 0] for posterior in posteriors.values()])
    return np.diff(shares, axis=1)


def assert_agree(posteriors: dict[str, tc.Posterior], oracle: np.ndarray) -> None:
    """Means and sds of shares and of differences, within five standard errors."""
    means, covariance = oracle[:, 0], oracle[:, 1:]
    effective = min(posterior.effective_draws.min() for posterior in posteriors.values())
    for position, posterior in enumerate(posteriors.values()):
        sd = np.sqrt(covariance[position, position])
        assert abs(posterior.mean[0] - means[position]) < 5 * sd / np.sqrt(effective)
        assert abs(posterior.sd[0] / sd - 1) < 5 * np.sqrt(1 / effective)
    found = differences(posteriors)
    for position in range(found.shape[1]):
        step = np.zeros(len(means))
        step[position : position + 2] = -1, 1
        sd = np.sqrt(step @ covariance @ step)
        assert abs(found[:, position].mean() - step @ means) < 5 * sd / np.sqrt(effective)
        assert abs(found[:, position].std() / sd - 1) < 5 * np.sqrt(1 / effective)


@pytest.fixture(scope="module")
def groups() -> dict[str, tc.Counts]:
    return tc.Groups(LABELED, GROUPS)


@pytest.fixture(scope="module")
def oracle() -> np.ndarray:
    return quadrature(LABELED, list(GROUPS.values()))


def test_exact_joint_draws_have_the_right_differences(groups, oracle, seed):
    posteriors = together(groups, seed=seed)
    assert_agree(posteriors, oracle)
    assert {posterior.run.engine for posterior in posteriors.values()} == {"Exact"}


def test_another_prior(groups, seed):
    oracle = quadrature(LABELED, list(GROUPS.values()), (3.0, 2.0))
    posteriors = together(groups, prior=tc.Prior([3.0, 2.0]), seed=seed)
    assert_agree(posteriors, oracle)


def test_separate_draws_have_wrong_differences(groups, oracle, seed):
    separate = tc.infer_many(groups, seed=seed)
    least = min(len(posterior.prevalence) for posterior in separate.values())
    shares = [posterior.prevalence[:least, 0] for posterior in separate.values()]
    step = np.array([-1, 1, 0])
    right = np.sqrt(step @ oracle[:, 1:] @ step)
    assert np.std(shares[1] - shares[0]) > 1.5 * right


def test_the_check_fails_where_one_group_is_shuffled(groups, oracle, seed):
    posteriors = together(groups, seed=seed)
    posteriors["second"].draws.prevalence[:] = posteriors["second"].draws.prevalence[::-1].copy()
    with pytest.raises(AssertionError):
        assert_agree(posteriors, oracle)


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
def test_imputed_joint_draws_have_the_right_differences(seed):
    few = {"first": [60, 40], "second": [50, 50], "third": [3, 7]}
    groups = tc.Groups(LABELED, few)
    posteriors = together(groups, engine=tc.Gibbs(40_000), seed=seed)
    assert_agree(posteriors, quadrature(LABELED, list(few.values())))


def test_one_group_is_what_infer_gives(seed):
    counts = tc.Counts([[90, 8, 2], [5, 70, 25]], [300, 200, 100])
    alone = tc.infer(counts, seed=seed)
    joint = together([counts], engine=tc.Gibbs(40_000), seed=seed)[0]
    error = alone.sd * np.sqrt(1 / alone.effective_draws + 1 / joint.effective_draws)
    assert (abs(alone.mean - joint.mean) < 5 * error).all()


def test_draws_belong_to_one_confusion(groups):
    posteriors = together(groups)
    first, second, _ = posteriors.values()
    assert first.draws.confusion is second.draws.confusion
    assert len(first.prevalence) == len(second.prevalence)
    assert {posterior.run.joint.groups for posterior in posteriors.values()} == {3}


def test_same_seed_same_draws(groups):
    one, two, other = (together(groups, seed=seed)["first"].prevalence for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one[:100], other[:100])


def test_a_group_without_items_keeps_its_prior(seed):
    groups = tc.Groups(LABELED, {"some": [600, 400], "none": [0, 0]})
    empty = together(groups, seed=seed)["none"]
    assert abs(empty.mean[0] - 0.5) < 5 * np.sqrt(1 / 12 / empty.effective_draws[0])
    assert abs(empty.sd[0] - np.sqrt(1 / 12)) < 0.02


def test_known_rows_stay_known(seed):
    groups = tc.Groups([[0, 0], [20, 180]], {"a": [600, 400], "b": [500, 500]})
    prior = tc.Prior(known=[[0.7, 0.3], [np.nan, np.nan]])
    posteriors = together(groups, prior=prior, seed=seed)
    assert np.allclose(posteriors["a"].draws.confusion[:, 0], [0.7, 0.3])


def test_what_cannot_be_drawn_is_refused_by_name():
    wide = tc.Groups([[9, 1, 0], [2, 8, 0]], {"a": [500, 400, 100], "b": [900, 100, 0]})
    with pytest.raises(UnsuitableEngineError, match=r"groups share their labels: exact draws are not possible"):
        together(wide)
    with pytest.raises(UnsuitableEngineError, match="joint draws are Exact's or Gibbs'"):
        together(wide, engine=tc.Hamiltonian())
    square = tc.Groups([[9, 1], [2, 8]], {"a": [50, 40]})
    models = [density(counts, tc.Prior(0.5)) for counts in square.values()]
    with pytest.raises(UnsuitableEngineError, match="prior below 1"):
        tc.Exact().sample_jointly(models, 0)


def test_a_few_proposals_that_outweigh_all_others_are_refused(groups, monkeypatch):
    """One in a thousand weighs 25 times as much, and alone has another share: that share is known by one draw."""
    shares = np.full((1000, 6), 0.5)
    shares[0] = 0.1, 0.9, 0.5, 0.5, 0.5, 0.5
    weights = np.log(np.append(25.0, np.ones(999)))
    made = Pool(shares, np.full((1000, 2, 2), 0.5), weights, 1000)
    models = [density(counts, tc.Prior()) for counts in groups.values()]
    monkeypatch.setattr("truecount.inference.importance.joint._pool", lambda *_: (made, [models[0].rows]))
    with pytest.raises(UnsuitableEngineError, match="a few proposals would outweigh all others"):
        tc.Exact(400, effective_draws=400).sample_jointly(models, 0)
    assert len(tc.Exact(400).sample_jointly(models, 0)) == 3


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
def test_where_no_proposal_is_possible_it_falls_back_on_imputing():
    """Both rows are alike, and of one group all items have the output that is rare in both."""
    useless = tc.Groups([[0, 90], [0, 90]], {"a": [60, 0], "b": [0, 60]})
    posterior = together(useless, engine=tc.Auto(100))["a"]
    assert posterior.run.engine == "Gibbs"
    assert "only 0.0% of the proposals would count" in posterior.run.reason


FEW_LABELS = np.array([[33, 7], [10, 110]])
MANY = {number: [100 + 5 * number, 300 - 5 * number] for number in range(20)}


@pytest.fixture(scope="module")
def oracle_of_many() -> np.ndarray:
    return quadrature(FEW_LABELS, list(MANY.values()))


def test_many_groups_are_drawn_exactly_too(oracle_of_many, seed):
    posteriors = together(tc.Groups(FEW_LABELS, MANY), seed=seed)
    assert_agree(posteriors, oracle_of_many)
    assert posteriors[0].run.engine == "Exact"


def test_the_check_of_many_groups_fails_where_weights_are_wrong(oracle_of_many, seed, monkeypatch):
    """What was wrongly counted are five labels of one class and output."""

    def wrong(*given):
        pool = _propose(*given)
        return replace(pool, log_weights=pool.log_weights + 5 * np.log(pool.confusion[:, 0, 0]))

    monkeypatch.setattr("truecount.inference.importance.joint._propose", wrong)
    posteriors = together(tc.Groups(FEW_LABELS, MANY), seed=seed)
    with pytest.raises(AssertionError):
        assert_agree(posteriors, oracle_of_many)


WEEKS = [1600, 1618, 1610, 1655, 1623, 1693, 1621, 1646, 1618, 1679, 1590, 1624, 1679, 1651, 1602, 1660]


@pytest.mark.parametrize(("number", "least", "most"), [(4, 0.0, BLIND), (14, BLIND, 0.5), (16, 0.5, 1.0)])
def test_how_probable_a_box_is_that_treats_all_classes_alike(number, least, most, seed):
    """Sixty labels a class, and steady weeks; by quadrature it is 0.199 with fourteen of them, and 0.991 with all.

    It need only be known well enough to speak or be silent, and on which side of a half it is.
    """
    groups = tc.Groups([[51, 9], [6, 54]], {week: [WEEKS[week], 5000 - WEEKS[week]] for week in range(number)})
    models, rng = [density(counts, tc.Prior()) for counts in groups.values()], np.random.default_rng(seed)
    pool, shapes = _first_proposals(models, rng)
    assert least <= _left_out(models, pool, shapes, rng) <= most


TWENTY = [101, 107, 83, 53, 143, 124, 128, 97, 65, 73, 134, 98, 51, 38, 116, 97, 49, 139, 151, 156]


def flipped_share(labels: list[list[int]], groups: dict[int, list[int]], points: int = 400) -> float:
    """How probable it is that the first class has the first output less often than the second, by integration."""
    from scipy.special import betainc, xlogy

    rate = (np.arange(points) + 0.5) / points
    first, second = np.meshgrid(rate, rate + 1e-6, indexing="ij")
    low, high = np.minimum(first, second), np.maximum(first, second)
    log = sum(xlogy(row[0], each) + xlogy(row[1], 1 - each) for row, each in zip(labels, (first, second), strict=True))
    for one, other in groups.values():
        mass = betainc(one + 1, other + 1, high) - betainc(one + 1, other + 1, low)
        log = log + np.log(np.maximum(mass, 1e-300)) - np.log(high - low)
    weight = np.exp(log - log.max())
    return float(weight[first < second].sum() / weight.sum())


def test_rows_the_other_way_round_are_proposed(seed):
    """Three labels a class allow them; proposals that forget them would count best."""
    labels, groups = [[2, 1], [1, 2]], {number: [count, 200 - count] for number, count in enumerate(TWENTY)}
    models = [density(counts, tc.Prior()) for counts in tc.Groups(labels, groups).values()]
    pool, shapes = _first_proposals(models, np.random.default_rng(seed))
    truth, is_flipped = flipped_share(labels, groups), pool.confusion[:, 0, 0] < pool.confusion[:, 1, 0]
    np.testing.assert_array_equal(shapes[0], models[0].rows)
    weights = softmax(pool.log_weights)
    error = np.sqrt((weights**2 * (is_flipped - truth) ** 2).sum())
    assert weights[is_flipped].sum() == pytest.approx(truth, abs=5 * error)


def test_separate_groups_carry_a_finding(groups):
    apart = tc.infer_many(groups)["first"]
    assert [f.advice for f in apart.findings if f.code == "shared-labels"] == [
        "Use infer(groups) before comparing groups."
    ]
    assert "shared-labels" not in {finding.code for finding in tc.infer(tc.Counts(LABELED, [600, 400])).findings}
