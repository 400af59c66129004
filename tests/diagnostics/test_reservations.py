import numpy as np
import pytest

from truecount import Counts
from truecount.counts.scores import Scores
from truecount.diagnostics.reservations import of_point
from truecount.estimators import ACC, BBSE, CC, EM, METHODS, PACC, RLLS, InvariantRatio

SOUND = Counts([[90, 10], [20, 80]], [55, 45])
OUTSIDE = Counts([[90, 10], [20, 80]], [95, 5], classes=["fail", "pass"])
ALIKE = Counts([[9, 1, 0], [2, 4, 4], [2, 4, 4]], [5, 3, 2], classes=["cat", "dog", "eel"])


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


def test_a_restricted_one_does_not() -> None:
    assert codes(OUTSIDE, ACC()) == []


def test_shares_that_do_not_sum_to_one_say_so() -> None:
    """Normal equations with the matrix .46 .21 | .21 .46 and the side .39 .29: the shares sum to .68 / .67."""
    wide = Counts([[6, 3, 1], [1, 3, 6]], [50, 20, 30])
    (finding,) = of_point(wide, ACC(restricted=False), ACC(restricted=False).prevalence(wide))
    assert "shares that sum to 1.015" in finding.message


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(), BBSE(restricted=True), RLLS()])
def test_classes_that_cannot_be_told_apart_are_named(method) -> None:
    (finding,) = of_point(ALIKE, method, method.prevalence(ALIKE))
    assert (finding.code, finding.severity) == ("not-identified", "serious")
    assert "cannot tell dog and eel apart" in finding.message
    assert finding.numbers == {"classes": ["dog", "eel"]}


def test_scores_are_looked_at_softly() -> None:
    scores = Scores([[0.6, 0.4], [0.7, 0.3], [0.4, 0.6], [0.9, 0.1]], [0, 0, 1, 1], [[0.5, 0.5]])
    assert "not-identified" in codes(scores, PACC())
    assert "not-identified" not in codes(scores, ACC())


@pytest.mark.parametrize("method", [CC(), EM(), METHODS["cdeiterate"], METHODS["kmm"]])
def test_a_method_s_own_caution_is_passed_on(method) -> None:
    finding = of_point(SOUND, method, np.array([0.5, 0.5]))[0]
    assert finding.code == "method"
    assert method.caution in finding.message
