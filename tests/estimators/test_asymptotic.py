import numpy as np
import pytest
from scipy.stats import binom

from made_scores import shifted_scores
from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import ACC, BBSE, CC, EM, PACC, RLLS, InvariantRatio, asymptotic
from truecount.estimators.asymptotic import _slopes
from truecount.estimators.rates import Rates

JUDGE = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
CONFUSION = {
    "square": np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]]),
    "wide": np.array([[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.1, 0.2, 0.6]]),
}
TRUTH = np.array([0.2, 0.3, 0.5])


def test_two_classes_by_hand() -> None:
    """(p(1−p)/N′ + π²Se(1−Se)/N₁ + (1−π)²Sp(1−Sp)/N₀) / (Se+Sp−1)², the delta method of Rogan and Gladen."""
    share = 1 / 6
    variance = (0.24 / 1000 + share**2 * 0.09 / 200 + (1 - share) ** 2 * 0.21 / 200) / 0.6**2
    found = asymptotic(JUDGE, ACC())
    np.testing.assert_allclose(found.prevalence, [1 - share, share])
    np.testing.assert_allclose(found.covariance, variance * np.array([[1, -1], [-1, 1]]))
    np.testing.assert_allclose(np.diff(found.interval(0.95))[:, 0], 2 * 1.959964 * np.sqrt(variance), rtol=1e-6)


@pytest.mark.parametrize("method", [ACC(restricted=False), InvariantRatio(restricted=False), BBSE()])
@pytest.mark.parametrize("confusion", CONFUSION.values(), ids=CONFUSION.keys())
def test_estimates_from_large_samples_vary_as_it_says(method, confusion: np.ndarray, seed: int) -> None:
    rng, repeats, items = np.random.default_rng(seed), 4000, np.array([20_000, 40_000, 30_000])
    rows = rng.multinomial(items, confusion, size=(repeats, 3)) / items[:, None]
    observed = rng.multinomial(50_000, TRUTH @ confusion, size=repeats) / 50_000
    estimates = method.solve(Rates(rows, observed, items))
    expected = Counts(np.rint(items[:, None] * confusion), np.rint(50_000 * TRUTH @ confusion))
    variances = asymptotic(expected, method).covariance.diagonal()
    np.testing.assert_allclose(estimates.var(axis=0), variances, rtol=5 * np.sqrt(2 / repeats))


@pytest.mark.parametrize("method", [PACC(restricted=False), InvariantRatio(restricted=False, soft=True)])
def test_estimates_from_scores_vary_as_it_says(method, seed: int) -> None:
    repeats, shares = 400, {"labeled_prevalence": [0.5, 0.3, 0.2], "prevalence": [0.3, 0.3, 0.4]}
    data = [shifted_scores(np.random.default_rng([seed, i]), **shares, items=2000, distance=2) for i in range(repeats)]
    variances = np.mean([asymptotic(scores, method).covariance.diagonal() for scores in data[:40]], axis=0)
    estimates = np.array([method.prevalence(scores) for scores in data])
    np.testing.assert_allclose(estimates.var(axis=0), variances, rtol=5 * np.sqrt(2 / repeats))


@pytest.mark.parametrize("method", [ACC(restricted=False), InvariantRatio(restricted=False), BBSE()])
def test_slopes_are_those_of_differences_where_label_shift_fails(method) -> None:
    """Change one cell of the confusion by 1e-6: the outputs are no mixture of the rows, so the inverse counts too."""
    confusion, observed = CONFUSION["wide"], np.array([0.1, 0.2, 0.6, 0.1])
    rates = Rates(confusion, observed, np.array([10, 20, 30]))
    inverse = method.inverse(rates)
    slopes = _slopes(rates, method.rows(4), inverse, inverse @ observed)
    for row, column in np.ndindex(confusion.shape):
        moved = [confusion + sign * 1e-6 * np.outer(np.eye(3)[row], np.eye(4)[column]) for sign in (1, -1)]
        up, down = (method.solve(Rates(each, observed, rates.items)) for each in moved)
        np.testing.assert_allclose(slopes[row, :, column], (down - up) / 2e-6, atol=1e-6)


def coverage(items: int, trials: int, seed: int) -> int:
    """How often the interval of class 0 holds the truth; 500 unlabelled items, 85 % right outputs."""
    rng, confusion, truth = np.random.default_rng(seed), np.array([[0.85, 0.15], [0.15, 0.85]]), np.array([0.7, 0.3])
    hits = 0
    for _ in range(trials):
        rows = [rng.multinomial(items, row) for row in confusion]
        found = asymptotic(Counts(rows, rng.multinomial(500, truth @ confusion)), ACC())
        low, high = found.interval(0.95)[0]
        hits += low <= truth[0] <= high
    return hits


def test_it_covers_with_many_labels_and_fails_with_few(seed: int) -> None:
    """The bounds that the paper calls far off for small samples: five labels a class, and 95 % is not what it is."""
    low, high = binom.ppf([5e-5, 1 - 5e-5], 600, 0.95)
    assert low <= coverage(1000, 600, seed) <= high
    assert coverage(5, 600, seed) < low


def test_whether_it_is_restricted_makes_no_difference() -> None:
    outside = Counts([[90, 10], [20, 80]], [95, 5])
    free, bound = (asymptotic(outside, ACC(restricted=restricted)) for restricted in (False, True))
    np.testing.assert_array_equal(free.interval(), bound.interval())
    assert free.prevalence[1] < 0


def test_weights_enter_at_their_effective_size() -> None:
    squares = {"labeled_squares": JUDGE.labeled * 4.0, "unlabeled_squares": JUDGE.unlabeled * 9.0}
    heavy = Counts(2 * JUDGE.labeled, 3 * JUDGE.unlabeled, JUDGE.classes, **squares)
    np.testing.assert_allclose(asymptotic(heavy, ACC()).covariance, asymptotic(JUDGE, ACC()).covariance)


@pytest.mark.parametrize("method", [CC(), RLLS(), EM()])
def test_methods_without_an_inverse_are_refused(method) -> None:
    with pytest.raises(InputError, match=rf"method is '{method.name}': .*bootstrap\(\)"):
        asymptotic(JUDGE, method)
