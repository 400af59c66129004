"""`Counts`: what it refuses, how it merges, that it cannot be changed, and that it survives a file."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truecount import Counts
from truecount.errors import InputError

LABELED, UNLABELED = [[140, 60], [20, 180]], [600, 400]


def test_names_left_out_are_numbers_and_outputs_follow_the_classes():
    assert Counts(LABELED, UNLABELED).outputs == (0, 1)
    assert Counts(LABELED, UNLABELED, classes=["fail", "pass"]).outputs == ("fail", "pass")
    assert Counts([[1, 2, 3], [4, 5, 6]], [7, 8, 9], classes=["fail", "pass"]).outputs == (0, 1, 2)
    assert [type(name) for name in Counts(LABELED, UNLABELED, classes=np.array([3, 4])).classes] == [int, int]


def test_whole_floats_and_every_integer_type_become_exact_int64():
    largest = 2**53 + 1
    for labeled in (
        [[1.0, 2.0], [3.0, 4.0]],
        np.array([[1, 2], [3, 4]], np.uint8),
        np.array([[1, 2], [3, 4]], np.float32),
    ):
        counts = Counts(labeled, np.array([largest, 0], np.uint64))
        assert counts.labeled.dtype == counts.unlabeled.dtype == np.int64
        assert counts.labeled.tolist() == [[1, 2], [3, 4]]
        assert counts.unlabeled.tolist() == [largest, 0]


def test_nothing_can_be_changed_from_outside_or_inside():
    labeled = np.array(LABELED)
    counts = Counts(labeled, UNLABELED)
    labeled[0, 0] = 0
    assert counts.labeled[0, 0] == 140
    for twin in (counts, pickle.loads(pickle.dumps(counts)), copy.deepcopy(counts)):  # noqa: S301
        with pytest.raises(ValueError, match="read-only"):
            twin.labeled[0, 0] = 1
        with pytest.raises(ValueError, match="read-only"):
            twin.unlabeled[0] = 1
        assert twin == counts
    with pytest.raises(FrozenInstanceError):
        counts.classes = ("a", "b")


def test_equality_sees_numbers_names_and_their_types():
    counts = Counts(LABELED, UNLABELED, classes=[0, 1])
    assert counts == Counts(LABELED, UNLABELED)
    assert counts != Counts(LABELED, [600, 401])
    assert counts != Counts(LABELED, UNLABELED, classes=[False, True])
    assert counts != Counts(LABELED, UNLABELED, labeled_squares=LABELED, unlabeled_squares=UNLABELED)
    assert counts != LABELED
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


def test_counted_follows_names_and_is_none_where_outputs_are_not_classes():
    assert Counts(LABELED, UNLABELED, ["a", "b"], ["b", "a"]).counted.tolist() == [0.4, 0.6]
    assert Counts(LABELED, UNLABELED, ["a", "b"], ["a", "c"]).counted is None
    assert Counts([[1, 2, 3], [4, 5, 6]], [7, 8, 9]).counted is None
    assert Counts(LABELED, [0, 0]).counted is None


def test_adding_aligns_by_name():
    first = Counts([[1, 2], [3, 4]], [5, 6], ["a", "b"], ["x", "y"])
    second = Counts([[40, 30], [20, 10]], [60, 50], ["b", "a"], ["y", "x"])
    expected = Counts([[11, 22], [33, 44]], [55, 66], ["a", "b"], ["x", "y"])
    assert first + second == expected
    assert (second + first).labeled.tolist() == [[44, 33], [22, 11]]


@given(st.permutations(range(3)), st.permutations(range(4)), st.lists(st.integers(0, 9), min_size=16, max_size=16))
def test_a_permuted_table_adds_like_the_table_itself(rows, columns, numbers):
    labeled, unlabeled = np.reshape(numbers[:12], (3, 4)), np.array(numbers[12:])
    counts = Counts(labeled, unlabeled, list("abc"), list("wxyz"))
    permuted = Counts(
        labeled[np.ix_(rows, columns)], unlabeled[columns], ["abc"[i] for i in rows], ["wxyz"[i] for i in columns]
    )
    assert counts + permuted == counts + counts


@pytest.mark.parametrize(("classes", "outputs", "wrong"), [("ac", "xy", "classes"), ("ab", "xz", "outputs")])
def test_adding_other_names_is_refused(classes, outputs, wrong):
    counts = Counts(LABELED, UNLABELED, list("ab"), list("xy"))
    with pytest.raises(InputError) as caught:
        counts + Counts(LABELED, UNLABELED, list(classes), list(outputs))
    odd = {"classes": "b", "outputs": "y"}[wrong]
    assert str(caught.value) == (
        f"{wrong} differ: only one side has {odd!r}: counts add when both have the same {wrong}. "
        f"Name every one with count(..., {wrong}=[...])."
    )


def test_adding_anything_else_is_a_type_error():
    with pytest.raises(TypeError):
        Counts(LABELED, UNLABELED) + 1


@given(
    st.lists(st.one_of(st.text(), st.integers(), st.booleans()), min_size=2, max_size=4, unique=True),
    st.integers(1, 4),
    st.data(),
)
def test_json_gives_back_what_it_took(classes, n_outputs, data):
    row = st.lists(st.integers(0, 2**55), min_size=n_outputs, max_size=n_outputs)
    labeled = [data.draw(row) for _ in classes]
    counts = Counts(labeled, data.draw(row), classes, range(n_outputs))
    text = counts.to_json()
    assert "\n" not in text
    back = Counts.from_json(text)
    assert back == counts
    assert [type(name) for name in back.classes] == [type(name) for name in counts.classes]
    assert json.loads(text)["schema"] == "truecount.counts/1"


def test_a_small_table_prints_and_a_large_one_says_its_size():
    assert str(Counts(LABELED, UNLABELED, ["fail", "pass"])).splitlines() == [
        "Counts: 400 labelled and 1000 unlabelled items, 2 classes, 2 outputs",
        "class\\output  fail  pass",
        "fail           140    60",
        "pass            20   180",
        "unlabelled     600   400",
    ]
    large = Counts(np.zeros((50, 50)), np.ones(50))
    assert str(large) == "Counts: 0 labelled and 50 unlabelled items, 50 classes, 50 outputs"
