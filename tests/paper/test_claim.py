"""Verdicts: what counts as measured, and what breaks the quick run."""

import pytest

pytest.importorskip("pandas")
from experiments.paper.claim import Claim, Measured, difference, mean, share


def test_a_mean_comes_with_its_standard_error():
    found = mean([1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert found.error == pytest.approx((5 / 3 / 4) ** 0.5)
    assert str(Measured(0.03146, 0.0012)) == "0.0315 ± 0.0012"


def test_only_more_than_three_errors_count():
    found = Measured(1.0, 0.1)
    assert found.is_above(0.69)
    assert not found.is_above(0.71)
    assert found.is_below(1.31)
    assert not found.is_below(1.29)
    assert found.agrees(1.29)
    assert not found.agrees(1.31)
    assert found.agrees(1.31, spare=0.02)


def test_a_share_that_never_failed_still_has_an_error():
    assert share([True] * 20).error == pytest.approx(1 / 20)
    assert share([True] * 20, 0.95).error == pytest.approx((0.95 * 0.05 / 20) ** 0.5)


def test_independent_means_add_their_errors():
    found = difference([1.0, 3.0], [0.0, 2.0])
    assert found.value == 1.0
    assert found.error == pytest.approx(2**0.5)


@pytest.mark.parametrize(
    ("holds", "expected", "is_main", "is_broken"),
    [(True, True, True, False), (False, True, True, True), (True, False, True, True), (False, True, False, False)],
)
def test_a_main_claim_breaks_where_its_verdict_is_not_the_one_on_record(holds, expected, is_main, is_broken):
    assert Claim("", "", "", holds, expected, is_main).is_broken is is_broken
