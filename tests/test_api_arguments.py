"""What comes in is checked where it enters, and what goes wrong can be caught by name."""

from collections.abc import Callable
from typing import Any

import pytest

import truecount as tc

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = {
    "infer": (tc.infer, ([[1, 2], [3, 4]],), {}, r"counts is of type list: it must be Counts. Pass Counts\("),
    "infer_many": (tc.infer_many, ([COUNTS, None],), {}, "counts is of type NoneType"),
    "mode": (tc.mode, ("counts.json",), {}, "counts is of type str"),
    "prior of infer": (tc.infer, (COUNTS,), {"prior": 0}, r"prior is of type int: it must be Prior. Pass Prior\("),
    "prior of infer_many": (tc.infer_many, ([COUNTS],), {"prior": "flat"}, "prior is of type str"),
    "prior of mode": (tc.mode, (COUNTS,), {"prior": [1, 1]}, "prior is of type list"),
    "estimate": (tc.estimate, ([[1, 2], [3, 4]], "acc"), {}, "data is of type list: it must be Counts or Scores"),
    "compare": (tc.compare, ([[1, 2], [3, 4]],), {}, "data is of type list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_argument_of_another_kind_is_refused_by_name(case: str) -> None:
    verb, arguments, options, words = WRONG[case]
    with pytest.raises(tc.InputError, match=words):
        verb(*arguments, **options)


def test_errors_are_found_from_the_top() -> None:
    assert tc.InputError is tc.errors.InputError
    assert issubclass(tc.errors.UnsuitableEngineError, ValueError)
    assert {"InputError", "errors"} <= set(dir(tc))


def test_of_many_problems_the_bad_one_is_named():
    good, bad = tc.Counts([[8, 2], [1, 9]], [5, 6]), tc.Counts([[0, 0], [0, 0]], [5, 6])
    with pytest.raises(tc.InputError, match=r"problems\['w2'\]\.labeled holds no labelled items"):
        tc.infer_many({"w1": good, "w2": bad})
    with pytest.raises(tc.InputError, match=r"problems\[1\]\.counts is of type list"):
        tc.infer_many([good, [1, 2]])


def test_a_near_choice_is_suggested() -> None:
    with pytest.raises(tc.InputError, match="Pass design='by_prediction'"):
        tc.infer(tc.Counts([[8, 2], [1, 9]], [30, 20]), design="by-prediction")  # type: ignore[arg-type]
