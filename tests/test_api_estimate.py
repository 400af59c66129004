import warnings
from typing import Any

import numpy as np
import pytest

import truecount as tc
from made_scores import shifted_scores
from truecount.errors import IdentifiabilityWarning, InputError, TruecountWarning
from truecount.estimators import ACC, BBSE, EM, MAP, METHODS

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])


@pytest.fixture(scope="module")
def scores() -> tc.Scores:
    shares = {"labeled_prevalence": [0.5, 0.5], "prevalence": [0.3, 0.7]}
    return shifted_scores(np.random.default_rng(0), **shares, items=200)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_is_the_method_of_that_name(name: str, scores: tc.Scores) -> None:
    found = tc.estimate(scores, name)
    np.testing.assert_array_equal(found.prevalence, METHODS[name].prevalence(scores))
    assert found.classes == scores.classes


def test_settings_reach_the_method_and_the_provenance(scores: tc.Scores) -> None:
    found = tc.estimate(scores, EM("temperature", tolerance=1e-6))
    assert found.provenance["method"] == "em"
    assert (found.provenance["calibration"], found.provenance["tolerance"]) == ("temperature", 1e-6)
    assert not np.array_equal(found.prevalence, tc.estimate(scores, "em").prevalence)


def test_an_estimate_outside_the_simplex_says_so() -> None:
    outside = tc.Counts([[90, 10], [20, 80]], [95, 5])
    assert [finding.code for finding in tc.estimate(outside, "bbse").findings] == ["outside-simplex"]
    assert tc.estimate(outside, BBSE(restricted=True)).findings == ()


def test_a_singular_table_is_answered_and_its_classes_named() -> None:
    with pytest.warns(IdentifiabilityWarning, match="cannot tell cat and dog apart"):
        found = tc.estimate(tc.Counts([[5, 5], [5, 5]], [6, 4], classes=["cat", "dog"]), "acc")
    assert np.isfinite(found.prevalence).all()
    assert "cat and dog apart" in found.findings[0].message


def test_the_mode_is_the_mode() -> None:
    prior = tc.Prior(2.0)
    np.testing.assert_array_equal(tc.estimate(COUNTS, MAP(prior)).prevalence, tc.mode(COUNTS, prior=prior).prevalence)


@pytest.mark.parametrize(("wrong", "meant"), [("bbes", "'bbse'"), ("ACC", "'acc'"), ("em ", "'em'")])
def test_a_misspelt_method_lists_all_and_suggests_one(wrong: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"the methods are cc, pcc, acc.*Perhaps you meant {meant}"):
        tc.estimate(COUNTS, wrong)


def test_a_name_like_no_other_lists_all() -> None:
    with pytest.raises(InputError, match=r"hdy, dys, rogan-gladen\. Choose one of them"):
        tc.estimate(COUNTS, "xxxxxxxxxx")


@pytest.mark.parametrize("wrong", [ACC, 42, None])
def test_what_is_no_method_is_refused(wrong: Any) -> None:
    for ask in (lambda: tc.estimate(COUNTS, wrong), lambda: tc.compare(COUNTS, [wrong])):
        with pytest.raises(InputError, match=r"method is .*: it must be a method or its name"):
            ask()


def test_data_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InputError, match="em needs the scores of every item"):
        tc.estimate(COUNTS, "em")


def test_a_comparison_holds_every_method_or_says_why_not() -> None:
    found = tc.compare(COUNTS, seed=1)
    assert [row.method for row in found.rows] == list(METHODS)
    assert all((row.prevalence is None) == bool(row.reason) for row in found.rows)
    applied = {row.method for row in found.rows if row.prevalence is not None}
    assert applied == {name for name, method in METHODS.items() if method.needs == "counts"}
    np.testing.assert_array_equal(found.posterior.mean, tc.infer(COUNTS, seed=1).mean)


def test_scores_let_every_method_apply(scores: tc.Scores) -> None:
    found = tc.compare(scores)
    assert all(not row.reason for row in found.rows)
    kinds = {row.method: row.kind for row in found.rows}
    assert (kinds["acc"], kinds["pacc"], kinds["em"]) == ("bootstrap", "asymptotic", "")
    np.testing.assert_array_equal(found.posterior.mean, tc.infer(scores.to_counts()).mean)


def test_counting_says_why_it_does_not_apply() -> None:
    (row,) = tc.compare(tc.Counts([[9, 1, 0], [2, 8, 1]], [5, 5, 5]), ["cc"]).rows
    assert row.reason == "CC needs outputs that are the classes"


def test_methods_are_those_asked_for_in_their_order() -> None:
    rows = tc.compare(COUNTS, [BBSE(), "cc", ACC(restricted=False)]).rows
    assert [row.method for row in rows] == ["bbse", "cc", "acc"]


def test_level_and_seed_change_the_intervals() -> None:
    def interval(**settings: float) -> np.ndarray:
        return tc.compare(COUNTS, ["acc"], **settings).rows[0].interval

    assert np.diff(interval(level=0.5))[0, 0] < np.diff(interval(level=0.95))[0, 0]
    np.testing.assert_array_equal(interval(seed=3), interval(seed=3))
    assert not np.array_equal(interval(seed=3), interval(seed=4))


@pytest.mark.parametrize("settings", [{"level": 95}, {"seed": -1}, {"methods": ["bbes"]}])
def test_bad_settings_are_refused(settings: dict) -> None:
    with pytest.raises(InputError):
        tc.compare(COUNTS, **settings)


@pytest.mark.parametrize("counts", [COUNTS, tc.Counts([[40, 10], [10, 40], [25, 25]], [50, 50])])
def test_a_method_has_the_same_findings_alone_and_beside_others(counts: tc.Counts) -> None:
    for name in ("map", "bbse"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruecountWarning)
            alone = tc.estimate(counts, name).findings
        assert tc.compare(counts, [name]).rows[0].findings == alone
