import numpy as np
import pytest

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import ACC, lang_reiczigel, read_test, rogan_gladen

JUDGE = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])

PUBLISHED = {
    "Lang & Reiczigel 2014, example 1": ((4060, 11284), (178, 179), (358, 359), (0.349, 0.372), 5e-4),
    "Lang & Reiczigel 2014, example 2": ((51, 2971), (32, 33), (20, 20), (0.0, 0.053), 5e-4),
    "Lee et al. 2025, judge report": ((400, 1000), (180, 200), (140, 200), (0.0564, 0.2627), 5e-5),
}


@pytest.mark.parametrize(
    ("positive", "sensitivity", "specificity", "interval", "rounding"), PUBLISHED.values(), ids=PUBLISHED
)
def test_published_intervals_come_out_to_their_last_digit(
    positive, sensitivity, specificity, interval, rounding
) -> None:
    found = lang_reiczigel(positive, sensitivity, specificity)
    np.testing.assert_allclose(found, interval, atol=rounding, rtol=0)


def test_the_corrected_share_is_the_published_one() -> None:
    assert rogan_gladen((400, 1000), (180, 200), (140, 200)) == pytest.approx(0.1667, abs=5e-5)
    assert rogan_gladen((45, 150), 0.96, 0.89) == pytest.approx(0.22, abs=5e-3)


def test_the_corrected_share_is_unrestricted_adjusted_counting() -> None:
    for counts in (JUDGE, Counts([[90, 10], [20, 80]], [95, 5], classes=["fail", "pass"])):
        expected = ACC(restricted=False).prevalence(counts)[1]
        assert rogan_gladen(*read_test(counts, positive="pass")) == pytest.approx(expected)


def test_counts_are_read_by_name() -> None:
    swapped = Counts([[60, 140], [180, 20]], [400, 600], classes=["fail", "pass"], outputs=["pass", "fail"])
    assert read_test(swapped, positive="pass") == read_test(JUDGE, positive="pass")
    assert read_test(JUDGE, positive="fail") == ((600, 1000), (140, 200), (180, 200))


def test_both_classes_have_mirrored_intervals() -> None:
    low, high = lang_reiczigel(*read_test(JUDGE, positive="pass"))
    np.testing.assert_allclose(lang_reiczigel(*read_test(JUDGE, positive="fail")), (1 - high, 1 - low))


def test_a_known_test_is_the_limit_of_many_trials() -> None:
    many = lang_reiczigel((45, 150), (96e8, 1e10), (89e8, 1e10))
    np.testing.assert_allclose(lang_reiczigel((45, 150), 0.96, 0.89), many, atol=1e-5)


def test_a_higher_level_is_wider_and_ends_stay_shares() -> None:
    narrow, wide = (lang_reiczigel((51, 2971), (32, 33), (20, 20), level=level) for level in (0.5, 0.999))
    assert wide[0] == 0
    assert wide[1] - wide[0] > narrow[1] - narrow[0]
    assert lang_reiczigel((99, 100), (9, 10), (9, 10))[1] == 1


@pytest.mark.parametrize("rates", [((5, 10), (1, 1), (10, 40)), ((50, 100), (1, 1), 1 / 3)])
def test_labels_too_few_to_tell_the_test_from_chance_leave_everything_open(rates) -> None:
    assert lang_reiczigel(*rates) == (0, 1)


def test_both_ends_stay_shares_where_fewer_are_positive_than_the_test_is_wrong_about() -> None:
    assert lang_reiczigel((0, 1000), 1.0, 0.5) == (0, 0)
    assert lang_reiczigel((1000, 1000), 0.5, 1.0) == (1, 1)


BAD = {
    "a useless test": ((5, 10), (5, 10), (5, 10)),
    "more hits than trials": ((11, 10), (9, 10), (9, 10)),
    "no trials": ((5, 10), (0, 0), (9, 10)),
    "a share of positives without its size": (0.5, (9, 10), (9, 10)),
    "a known share above one": ((5, 10), 1.1, (9, 10)),
    "not a number": ((5, 10), (float("nan"), 10), (9, 10)),
}


@pytest.mark.parametrize("rates", BAD.values(), ids=BAD)
@pytest.mark.parametrize("function", [rogan_gladen, lang_reiczigel])
def test_impossible_rates_are_refused(function, rates) -> None:
    with pytest.raises(InputError):
        function(*rates)


@pytest.mark.parametrize(
    ("counts", "positive"),
    [(Counts(np.ones((3, 3)), np.ones(3)), 0), (Counts(np.ones((2, 3)), np.ones(3)), 0), (JUDGE, "maybe")],
)
def test_what_is_not_a_test_is_refused(counts: Counts, positive) -> None:
    with pytest.raises(InputError):
        read_test(counts, positive=positive)
