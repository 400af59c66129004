"""Probabilities corrected for a new prevalence."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from truecount import Counts, Prior, infer, recalibrate
from truecount.errors import InputError
from truecount.results import Recalibration

SCORES = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
KNOWN = Prior.known_confusion([[1.0, 0.0], [0.0, 1.0]])


def posterior(first: int, second: int, **options):
    """The posterior under a classifier without faults: Beta(1 + first, 1 + second)."""
    return infer(Counts([[5, 0], [0, 5]], [first, second], ["a", "b"]), prior=KNOWN, **options)


def by_bayes(scores: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
    weighted = scores * np.asarray(new) / np.asarray(old)
    return weighted / weighted.sum(axis=1, keepdims=True)


def test_a_known_prevalence_gives_bayes_rule() -> None:
    sure = posterior(8_000_000, 2_000_000)
    corrected = recalibrate(SCORES, sure, trained_on=[0.5, 0.5])
    np.testing.assert_allclose(corrected.mean, by_bayes(SCORES, [0.8, 0.2], [0.5, 0.5]), atol=1e-3)


def test_no_shift_changes_nothing() -> None:
    sure = posterior(3_000_000, 7_000_000)
    np.testing.assert_allclose(recalibrate(SCORES, sure, trained_on=[0.3, 0.7]).mean, SCORES, atol=1e-3)


def test_mean_and_interval_agree_with_quadrature() -> None:
    """π′ ~ Beta(13, 29): the corrected probability is a rising function of π′, so its quantiles are that of π′'s."""
    unsure = beta(13, 29)
    corrected = recalibrate(SCORES[:3], posterior(12, 28), trained_on=[0.4, 0.6], draws=4000)
    for row, mean, ends in zip(SCORES[:3], corrected.mean[:, 0], corrected.interval(0.8)[:, 0], strict=True):
        exact, spread = moments(row, unsure)
        assert mean == pytest.approx(exact, abs=5 * spread / np.sqrt(4000))
        np.testing.assert_allclose(ends, first(row, unsure.ppf([0.1, 0.9])), atol=5 * 2 * spread / np.sqrt(4000))


def first(row: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The corrected probability of the first class, where its new share is this and its old one 0.4."""
    odds = row[0] / row[1] * (share / (1 - share)) / (0.4 / 0.6)
    return odds / (1 + odds)


def moments(row: np.ndarray, unsure) -> tuple[float, float]:
    """Its mean and standard deviation, by quadrature."""
    mean = quad(lambda share: first(row, share) * unsure.pdf(share), 0, 1)[0]
    square = quad(lambda share: first(row, share) ** 2 * unsure.pdf(share), 0, 1)[0]
    return mean, np.sqrt(square - mean**2)


def test_what_is_not_known_of_the_old_prevalence_widens_the_interval() -> None:
    sure = posterior(8_000_000, 2_000_000)
    known = recalibrate(SCORES[:3], sure, trained_on=[0.5, 0.5]).interval()
    carried = recalibrate(SCORES[:3], sure, draws=4000).interval()
    assert (np.diff(carried) > 20 * np.diff(known)).all()
    odds = carried[0, 0] / (1 - carried[0, 0]) * (0.3 * 0.2) / (0.7 * 0.8)
    old = 1 / (1 + odds)  # the share of the first class that the ends belong to, which is Beta(6, 6)
    np.testing.assert_allclose(beta(6, 6).cdf(old), [0.975, 0.025], atol=5 * np.sqrt(0.025 * 0.975 / 4000))


def test_draws_of_the_old_prevalence_are_taken_as_they_are() -> None:
    unsure = posterior(12, 28)
    drawn = recalibrate(SCORES, unsure, trained_on=unsure.labeled_prevalence)
    np.testing.assert_array_equal(drawn.mean, recalibrate(SCORES, unsure).mean)


def test_classes_that_are_permuted_permute_the_answer() -> None:
    corrected = recalibrate(SCORES, posterior(12, 28), trained_on={"b": 0.6, "a": 0.4})
    np.testing.assert_array_equal(corrected.mean, recalibrate(SCORES, posterior(12, 28), trained_on=[0.4, 0.6]).mean)
    turned = infer(Counts([[0, 5], [5, 0]], [12, 28], ["b", "a"]), prior=Prior.known_confusion([[0, 1], [1, 0]]))
    twin = recalibrate(SCORES[:, ::-1], turned, trained_on={"b": 0.6, "a": 0.4}, draws=4000)
    np.testing.assert_allclose(twin.mean[:, ::-1], corrected.mean, atol=0.02)


def test_rows_sum_to_one_and_ends_enclose_the_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 50, (4, 4)) + 100 * np.eye(4, dtype=int)
    corrected = recalibrate(rng.dirichlet([0.3] * 4, 5000), infer(Counts(table, [90, 5, 60, 45]), seed=seed))
    np.testing.assert_allclose(corrected.mean.sum(axis=1), 1, rtol=1e-12)
    assert corrected.mean.min() >= 0
    assert corrected.mean.max() <= 1
    ends = corrected.interval(0.95)
    assert ends.shape == (5000, 4, 2)
    assert ((ends >= 0) & (ends <= 1)).all()
    assert ((ends[..., 0] <= corrected.mean) & (corrected.mean <= ends[..., 1])).mean() > 0.99


def test_blocks_do_not_show(monkeypatch) -> None:
    whole = recalibrate(SCORES, posterior(12, 28))
    expected = whole.mean, whole.interval(0.5)
    monkeypatch.setattr("truecount.results.recalibration._BLOCK_BYTES", 1)
    alone = recalibrate(SCORES, posterior(12, 28))
    np.testing.assert_allclose(alone.mean, expected[0], rtol=1e-12)
    np.testing.assert_allclose(alone.interval(0.5), expected[1], rtol=1e-12)


def test_an_item_that_can_be_of_one_class_alone_stays_there_though_its_share_is_drawn_as_zero() -> None:
    found = posterior(12, 28)
    shares = np.tile([0.0, 1.0], (len(found.prevalence), 1))
    gone = replace(found, draws=replace(found.draws, prevalence=shares))
    corrected = recalibrate([[1.0, 0.0], [0.5, 0.5]], gone)
    np.testing.assert_allclose(corrected.mean, [[1, 0], [0, 1]], atol=1e-150)


def test_no_items_no_rows() -> None:
    empty = recalibrate(np.empty((0, 2)), posterior(12, 28))
    assert empty.mean.shape == (0, 2)
    assert empty.interval().shape == (0, 2, 2)
    assert empty.decide().shape == (0,)


def test_shares_are_averages_over_the_items_draw_by_draw() -> None:
    corrected = recalibrate(SCORES[:4], posterior(12, 28), draws=50)
    by_hand = [by_bayes(corrected.scores, ratio, [1, 1]).mean(axis=0) for ratio in corrected.ratios]
    np.testing.assert_allclose(corrected.shares, by_hand)
    np.testing.assert_allclose(corrected.shares.mean(axis=0), corrected.mean.mean(axis=0))


def test_decisions_follow_expected_cost() -> None:
    corrected = Recalibration(scores=SCORES, ratios=np.ones((1, 2)), classes=("a", "b"))
    assert corrected.decide().tolist() == ["a", "b", "a", "a", "b"]
    assert corrected.decide([[0, 1], [4, 0]]).tolist() == ["b", "b", "b", "a", "b"]
    ask = [[0, 1, 0.2], [1, 0, 0.2]]
    named = corrected.decide(ask, decisions=["a", "b", "ask"])
    assert named.tolist() == ["ask", "b", "ask", "a", "b"]
    assert corrected.decide(ask).tolist() == [2, 1, 2, 0, 1]
    assert corrected.decide(ask, decisions=np.array(["a", "b", "ask"])).tolist() == named.tolist()


def test_decisions_keep_their_kind() -> None:
    mixed = Recalibration(scores=np.array([[0.7, 0.3], [0.2, 0.8]]), ratios=np.ones((1, 2)), classes=(1, "ill"))
    assert mixed.decide().tolist() == [1, "ill"]
    assert mixed.decide(decisions=[True, 2]).tolist() == [True, 2]
    assert mixed.decide(decisions=["a", "b"]).dtype.kind == "U"


BAD = {
    "three columns": (lambda: recalibrate([[0.2, 0.3, 0.5]], posterior(1, 1)), "the posterior has 2 classes"),
    "no posterior": (lambda: recalibrate(SCORES, [0.2, 0.8]), "Posterior"),
    "a share of zero": (lambda: recalibrate(SCORES, posterior(1, 1), trained_on=[0, 1]), "a share of 0"),
    "too few shares": (lambda: recalibrate(SCORES, posterior(1, 1), trained_on=[0.2, 0.3, 0.5]), "shape"),
    "other names": (lambda: recalibrate(SCORES, posterior(1, 1), trained_on={"a": 1.0}), "names 'a'"),
    "no draws": (lambda: recalibrate(SCORES, posterior(1, 1), draws=0), "1 or more"),
    "costs of other classes": (lambda: recalibrate(SCORES, posterior(1, 1)).decide([[0, 1]]), "Rows are true classes"),
    "names for other costs": (lambda: recalibrate(SCORES, posterior(1, 1)).decide(decisions=["x"]), "2 columns"),
    "no names": (lambda: recalibrate(SCORES, posterior(1, 1)).decide(decisions=[]), "names 0: costs has 2 columns"),
}


@pytest.mark.parametrize(("make", "told"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(make, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make()
