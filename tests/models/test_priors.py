import pickle
from math import nan

import numpy as np
import pytest

from truecount import Counts, Prior
from truecount.errors import InputError
from truecount.models.priors import Diagonal

COUNTS = Counts([[8, 1, 1], [2, 7, 1]], [30, 20, 10], classes=["fail", "pass"], outputs=["no", "yes", "unsure"])
SQUARE = Counts([[8, 1], [2, 7]], [30, 20], classes=["fail", "pass"], outputs=["pass", "fail"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2, [2, 2]),
        ([2, 1], [2, 1]),
        ((np.int64(2), np.float32(1)), [2, 1]),
        (np.array([2, 1]), [2, 1]),
        (np.float64(3), [3, 3]),
        ({"pass": 1, "fail": 2}, [2, 1]),
    ],
)
def test_prevalence_takes_a_number_one_for_each_class_or_names(given, expected):
    assert Prior(given).prevalence_for(COUNTS).tolist() == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2, [[2, 2, 2], [2, 2, 2]]),
        ("flat", [[1, 1, 1], [1, 1, 1]]),
        ("sparse", [[1 / 3] * 3, [1 / 3] * 3]),
        ([[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]),
        (np.array([[1, 2, 3], [4, 5, 6]]), [[1, 2, 3], [4, 5, 6]]),
        ({"pass": 2, "fail": [1, 2, 3]}, [[1, 2, 3], [2, 2, 2]]),
        ({"pass": {"unsure": 3, "yes": 2, "no": 1}, "fail": 1}, [[1, 1, 1], [1, 2, 3]]),
    ],
)
def test_confusion_takes_a_number_a_name_a_table_or_rows_by_name(given, expected):
    assert Prior(confusion=given).confusion_for(COUNTS).tolist() == expected


def test_diagonal_finds_the_output_called_like_the_class():
    assert Prior.diagonal(2).confusion_for(SQUARE).tolist() == [[0.5, 2.5], [2.5, 0.5]]


def test_diagonal_needs_outputs_that_are_the_classes():
    with pytest.raises(InputError, match="outputs called like the classes"):
        Prior.diagonal(2).confusion_for(COUNTS)


def test_known_rows_are_normalised_and_others_are_learned():
    prior = Prior.known_confusion([[0.5, 0.25, 0.2500001], [nan, nan, nan]])
    known = prior.known_for(COUNTS)
    assert known[0].sum() == pytest.approx(1, abs=1e-15)
    assert np.isnan(known[1]).all()
    assert np.isnan(Prior().known_for(COUNTS)).all()


def test_equal_priors_are_equal_even_where_rows_are_learned():
    rows = [[0.5, 0.5], [nan, nan]]
    assert Prior.known_confusion(rows) == Prior.known_confusion(np.array(rows))
    assert Prior.known_confusion(rows) != Prior.known_confusion(rows[::-1])
    assert Prior([1, 2]) == Prior((1.0, 2.0))


def test_a_prior_does_not_change_with_what_it_was_made_from():
    concentrations, rows = np.array([1.0, 2.0]), [[1.0, 2.0], [3.0, 4.0]]
    prior = Prior(concentrations, rows)
    concentrations[0] = rows[0][0] = 9
    assert prior == Prior([1, 2], [[1, 2], [3, 4]])


def test_a_prior_survives_pickling():
    prior = Prior({"fail": 2, "pass": 1}, "sparse")
    assert pickle.loads(pickle.dumps(prior)) == prior  # noqa: S301


@pytest.mark.parametrize("bad", [0, -1, nan, float("inf"), True, None, "one", "flat", ["a", 1], [1, [0]], {"fail": 0}])
def test_a_prevalence_that_is_no_positive_number_is_refused(bad):
    with pytest.raises(InputError, match=r"^prevalence holds .* above 0"):
        Prior(bad)


@pytest.mark.parametrize("bad", [0, nan, [[1, "x"]], {"fail": {"no": -1}}, None])
def test_a_confusion_that_holds_no_positive_number_is_refused(bad):
    with pytest.raises(InputError, match=r"^confusion holds"):
        Prior(confusion=bad)


def test_an_unknown_name_of_rows_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="'flat', 'sparse'"):
        Prior(confusion="wide")


@pytest.mark.parametrize("make", [Diagonal, Prior.diagonal])
@pytest.mark.parametrize("bad", [0, -1, nan, "flat", None])
def test_a_diagonal_needs_a_strength_above_0(make, bad):
    with pytest.raises(InputError, match=r"^strength holds"):
        make(bad)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (Prior([1, 2, 3]), r"prevalence has shape \(3,\): these counts need \(2,\)"),
        (Prior([[1, 2]]), r"prevalence has shape \(1, 2\)"),
        (Prior({"fail": 1}), "does not name 'pass'"),
        (Prior({"fail": 1, "pass": 1, "maybe": 1}), "names 'maybe', which is no class.*Name each one once"),
        (
            Prior({"fail": 1, "passs": 1}),
            "names 'passs', which is no class: .*'fail', 'pass'. Perhaps you meant 'pass'",
        ),
        (Prior([[1, 2], [3]]), "prevalence is no table"),
    ],
)
def test_a_prevalence_that_does_not_fit_the_counts_is_refused(prior, words):
    with pytest.raises(InputError, match=words):
        prior.prevalence_for(COUNTS)


@pytest.mark.parametrize(
    ("confusion", "words"),
    [
        ([[1, 2], [3, 4]], r"confusion has shape \(2, 2\): these counts need \(2, 3\)"),
        ([1, 2, 3], r"confusion has shape \(3,\)"),
        ([[1, 2, 3], [1]], "confusion is no table"),
        ({"fail": [1, 2], "pass": 1}, r"confusion has shape \(2,\)"),
        ({"fail": 1}, "does not name 'pass'"),
        ({"fail": {"no": 1}, "pass": 1}, "it must name every output"),
    ],
)
def test_rows_that_do_not_fit_the_counts_are_refused(confusion, words):
    with pytest.raises(InputError, match=words):
        Prior(confusion=confusion).confusion_for(COUNTS)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.5, 0.6]], "sum to 1"),
        ([[1.5, -0.5]], "sum to 1"),
        ([[0.5, nan]], "Use NaN throughout"),
        ([0.5, 0.5], "a row for each class"),
        ([[0.5, 0.5], [1]], "known is no table"),
        ([["a", "b"]], "known is no table"),
    ],
)
def test_known_rows_that_are_no_probabilities_are_refused(matrix, words):
    with pytest.raises(InputError, match=words):
        Prior.known_confusion(matrix)


def test_known_rows_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"known has shape \(2, 2\): these counts need \(2, 3\)"):
        Prior.known_confusion([[0.5, 0.5], [0.5, 0.5]]).known_for(COUNTS)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (Prior(), {"prevalence": "auto", "confusion": "auto", "known": None}),
        (Prior().fixed, {"prevalence": 1.0, "confusion": 1.0, "known": None}),
        (Prior.diagonal(2), {"prevalence": "auto", "confusion": {"diagonal": 2}, "known": None}),
        (
            Prior.known_confusion([[0.5, 0.5], [nan, nan]]),
            {"prevalence": "auto", "confusion": "auto", "known": [[0.5, 0.5], None]},
        ),
    ],
)
def test_to_dict_is_ready_for_json(prior, expected):
    assert prior.to_dict() == expected


def test_by_default_many_classes_learn_their_prior():
    def counts(classes: int) -> Counts:
        return Counts(np.eye(classes, dtype=int), np.ones(classes, int))

    assert Prior().resolved(counts(5)) == Prior(1.0, 1.0) == Prior().fixed
    assert Prior().resolved(counts(6)) == Prior(1.0, "learned")
    assert Prior().resolved(counts(19)) == Prior(1.0, "learned")
    assert Prior().resolved(counts(20)) == Prior("learned", "learned")
    assert Prior(2, "flat").resolved(counts(20)) == Prior(2, "flat")
    assert Prior(confusion="sparse").resolved(counts(20)) == Prior("learned", "sparse")
