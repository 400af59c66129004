import numpy as np
import pytest

from truecount import Counts, Prior, estimate
from truecount.diagnostics.points import of_point
from truecount.estimators import ACC, BBSE, CC, EM, MAP, METHODS, PACC, RLLS, InvariantRatio
from truecount.scores.scores import Scores

SOUND = Counts([[90, 10], [20, 80]], [55, 45])
OUTSIDE = Counts([[90, 10], [20, 80]], [95, 5], classes=["fail", "pass"])
ALIKE = Counts([[90, 10, 0], [20, 40, 40], [20, 40, 40]], [50, 30, 20], classes=["cat", "dog", "eel"])


def codes(data: Counts | Scores, method) -> list[str]:
    return [finding.code for finding in of_point(data, method, method.prevalence(data))]


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(restricted=False), BBSE(), RLLS()])
def test_a_sound_estimate_has_none(method) -> None:
    assert codes(SOUND, method) == []


@pytest.mark.parametrize("method", [ACC(restricted=False), InvariantRatio(restricted=False), BBSE()])
def test_an_estimate_outside_the_simplex_says_so(method) -> None:
    (finding,) = of_point(OUTSIDE, method, method.prevalence(OUTSIDE))
    assert (finding.code, finding.severity) == ("outside-simplex", "caution")
    assert "fail and pass below 0 or above 1" in finding.message


def test_names_that_are_numbers_are_said_to_be_classes() -> None:
    numbered = Counts(OUTSIDE.labeled, OUTSIDE.unlabeled)
    (finding,) = of_point(numbered, ACC(restricted=False), ACC(restricted=False).prevalence(numbered))
    assert "class 0 and class 1 below 0 or above 1" in finding.message


def test_a_restricted_one_does_not() -> None:
    assert codes(OUTSIDE, ACC()) == []


def test_shares_that_do_not_sum_to_one_say_so() -> None:
    """Normal equations with the matrix .46 .21 | .21 .46 and the side .39 .29: the shares sum to .68 / .67."""
    wide = Counts([[60, 30, 10], [10, 30, 60]], [50, 20, 30])
    (finding,) = of_point(wide, ACC(restricted=False), ACC(restricted=False).prevalence(wide))
    assert "shares that sum to 1.015" in finding.message


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(), BBSE(restricted=True), RLLS()])
def test_classes_that_cannot_be_told_apart_are_named(method) -> None:
    (finding,) = of_point(ALIKE, method, method.prevalence(ALIKE))
    assert (finding.code, finding.severity) == ("not-identified", "serious")
    assert "cannot tell dog and eel apart" in finding.message
    assert finding.numbers == {"classes": ["dog", "eel"]}


def test_one_point_that_fits_is_not_called_one_of_many() -> None:
    """Rows that differ have one solution, however few the labels."""
    few = Counts([[9, 1], [8, 2]], [60, 40], classes=["cat", "dog"])
    (finding,) = of_point(few, ACC(), ACC().prevalence(few))
    assert (finding.code, finding.severity) == ("not-identified", "serious")
    assert finding.message.startswith("The labels do not show that the classifier treats cat and dog differently: one")


def test_classes_too_rare_to_matter_are_not_named() -> None:
    rare = Counts([[900, 50, 50], [20, 9, 11], [20, 11, 9]], [880, 50, 50])
    assert codes(rare, ACC()) == []
    assert "not-identified" in codes(Counts(rare.labeled, [700, 140, 150]), ACC())


def test_scores_are_looked_at_softly() -> None:
    labeled = [[0.6, 0.4], [0.7, 0.3], [0.4, 0.6], [0.9, 0.1]] * 20
    scores = Scores(labeled, [0, 0, 1, 1] * 20, [[0.5, 0.5]])
    assert "not-identified" in codes(scores, PACC())
    assert "not-identified" not in codes(scores, ACC())


@pytest.mark.parametrize("method", [CC(), EM(), METHODS["cdeiterate"], METHODS["kmm"]])
def test_a_method_s_own_caution_is_passed_on(method) -> None:
    finding = of_point(SOUND, method, np.array([0.5, 0.5]))[0]
    assert finding.code == "method"
    assert method.caution in finding.message


FEW = Counts([[2, 1], [1, 2]], [60, 40], classes=["fail", "pass"])
FAINT = Counts([[15, 5], [7, 13]], [60, 40], classes=["fail", "pass"])
BEYOND = Counts([[140, 60], [20, 180]], [900, 100], classes=["fail", "pass"])
UNSEEN = Counts([[140, 60, 0], [20, 180, 0]], [600, 399, 1])
BY_OUTPUT = Counts([[66, 0, 1, 2], [0, 55, 0, 1], [5, 8, 153, 9], [4, 12, 11, 313]], [20, 15, 320, 645])


@pytest.mark.parametrize(
    ("counts", "code", "severity"),
    [
        (FEW, "not-identified", "serious"),
        (FAINT, "barely-identified", "caution"),
        (BEYOND, "label-shift-violated", "serious"),
        (UNSEEN, "unseen-output", "caution"),
        (BY_OUTPUT, "labels-by-output", "caution"),
    ],
)
@pytest.mark.parametrize("method", [ACC(), BBSE(restricted=True), MAP(Prior())], ids=["acc", "bbse", "map"])
@pytest.mark.filterwarnings("ignore::truecount.errors.IdentifiabilityWarning")
def test_a_point_says_of_its_counts_what_a_posterior_says(counts, code, severity, method) -> None:
    """A point has no width that would show it."""
    found = {finding.code: finding.severity for finding in estimate(counts, method).findings}
    assert found[code] == severity
    assert code not in [finding.code for finding in estimate(SOUND, method).findings]


def test_plain_counting_undoes_nothing_and_needs_no_such_words() -> None:
    assert codes(BEYOND, CC()) == ["method"]
