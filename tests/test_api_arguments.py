"""What comes in is checked where it enters, and what goes wrong can be caught by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import truecount as tc
from truecount.estimators import ACC, MAP, METHODS, asymptotic, bootstrap

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
SCORES = tc.Scores([[0.9, 0.1], [0.3, 0.7]], [0, 1], [[0.6, 0.4]])
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = {
    "infer": (
        tc.infer,
        ([[1, 2], [3, 4]],),
        {},
        r"data is of type list: it must be Counts or Scores or Groups or Ratings. Pass Counts\(",
    ),
    "infer_many": (tc.infer_many, ([COUNTS, None],), {}, "counts is of type NoneType"),
    "mode": (tc.mode, ("counts.json",), {}, "counts is of type str"),
    "prior of infer": (tc.infer, (COUNTS,), {"prior": 0}, r"prior is of type int: it must be Prior. Pass Prior\("),
    "prior of infer_many": (tc.infer_many, ([COUNTS],), {"prior": "flat"}, "prior is of type str"),
    "prior of mode": (tc.mode, (COUNTS,), {"prior": [1, 1]}, "prior is of type list"),
    "estimate": (tc.estimate, ([[1, 2], [3, 4]], "acc"), {}, "data is of type list: it must be Counts or Scores"),
    "compare": (tc.compare, ([[1, 2], [3, 4]],), {}, "data is of type list"),
    "one method of compare": (tc.compare, (COUNTS, "acc"), {}, r"methods is 'acc': .*list.* Pass \['cc', 'acc'\]"),
    "an object to compare": (tc.compare, (COUNTS, ACC()), {}, "methods is Adjusted"),
    "bootstrap": (bootstrap, ([[1, 2], [3, 4]], "acc"), {}, "data is of type list: it must be Counts or Scores"),
    "method of bootstrap": (bootstrap, (COUNTS, "accc"), {}, "method is 'accc': .* Perhaps you meant 'acc'"),
    "class to bootstrap": (bootstrap, (COUNTS, ACC), {}, "it must be a method or its name"),
    "asymptotic": (asymptotic, ([[1, 2], [3, 4]], "acc"), {}, "data is of type list"),
    "method of asymptotic": (asymptotic, (COUNTS, 3), {}, "method is 3: it must be a method or its name"),
    "method without an inverse": (asymptotic, (COUNTS, "em"), {}, "method is 'em': the delta method"),
    "prior of calibration": (tc.calibration, (COUNTS,), {"prior": "sparse"}, r"Pass Prior\(confusion='sparse'\)"),
    "prior of a method": (MAP("sparse").prevalence, (COUNTS,), {}, "prior is of type str"),  # type: ignore[arg-type]
    "engine of coverage": (tc.coverage, (tc.infer(COUNTS),), {"engine": "exact"}, "engine is 'exact': it must be"),
    "cells": (SCORES.to_counts, ("argmax",), {}, "cells is 'argmax': it must be fitted cells"),
    "candidates": (
        tc.choose_partition,
        ([0.9, 0.3, 0.2, 0.8], [0, 1, 0, 1]),
        {"candidates": ["argmax"], "classes": [0, 1]},
        "candidates hold 'argmax': each must be a partition",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_argument_of_another_kind_is_refused_by_name(case: str) -> None:
    verb, arguments, options, words = WRONG[case]
    with pytest.raises(tc.InputError, match=words):
        verb(*arguments, **options)


@pytest.mark.parametrize("name", ["cc", "acc", "bbse", "invariantratio", "rlls", "map"])
def test_the_bootstrap_takes_the_names_that_the_command_takes(name: str) -> None:
    by_name, by_object = (bootstrap(COUNTS, each, resamples=5).prevalence for each in (name, METHODS[name]))
    np.testing.assert_array_equal(by_name, by_object)


@pytest.mark.parametrize("name", ["acc", "bbse", "invariantratio"])
def test_the_delta_method_takes_the_names_that_the_command_takes(name: str) -> None:
    np.testing.assert_array_equal(asymptotic(COUNTS, name).covariance, asymptotic(COUNTS, METHODS[name]).covariance)


def test_errors_are_found_from_the_top() -> None:
    assert tc.InputError is tc.errors.InputError
    assert issubclass(tc.errors.UnsuitableEngineError, ValueError)
    assert {"InputError", "errors"} <= set(dir(tc))


def test_of_many_problems_the_bad_one_is_named():
    good, bad = tc.Counts([[8, 2], [1, 9]], [5, 6]), tc.Counts([[0, 0], [0, 0]], [5, 6])
    with pytest.raises(tc.InputError, match=r"problems\['w2'\]\.labeled holds no labelled items"):
        tc.infer_many(tc.Groups.of({"w1": good, "w2": bad}))
    with pytest.raises(tc.InputError, match=r"problems is of type dict: .* Groups\.of\(\{group: counts, \.\.\.\}\)"):
        tc.infer_many({"w1": good})
    with pytest.raises(tc.InputError, match=r"problems\[1\]\.counts is of type list"):
        tc.infer_many([good, [1, 2]])


def test_a_near_choice_is_suggested() -> None:
    with pytest.raises(tc.InputError, match=r"model is 'by-prediction': it must be a model. Pass ByPrediction\(\)"):
        tc.infer(tc.Counts([[8, 2], [1, 9]], [30, 20]), "by-prediction")  # type: ignore[arg-type]
