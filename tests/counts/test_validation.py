"""What `Counts` refuses, with all four parts of the message."""

import json

import numpy as np
import pytest

from truecount import Counts
from truecount.counts.table import unseen_remedy
from truecount.errors import InputError

LABELED, UNLABELED = [[140, 60], [20, 180]], [600, 400]


def refusal(*arguments, **options):
    with pytest.raises(InputError) as caught:
        Counts(*arguments, **options)
    return str(caught.value)


REFUSED = {
    "negative": (
        [[1, -2], [3, 4]],
        [1, 1],
        "labeled has -2 at (0, 1): it must not be negative. Check how it was counted.",
    ),
    "negative, unlabelled": (
        LABELED,
        [1, -1],
        "unlabeled has -1 at 1: it must not be negative. Check how it was counted.",
    ),
    "NaN": (
        [[1, np.nan], [3, 4]],
        [1, 1],
        "labeled has nan at (0, 1): it must hold finite numbers. Write 0 where nothing was seen.",
    ),
    "infinite": (
        LABELED,
        [1, np.inf],
        "unlabeled has inf at 1: it must hold finite numbers. Write 0 where nothing was seen.",
    ),
    "not whole": (
        [[1, 0.5], [3, 4]],
        [1, 1],
        "labeled has 0.5 at (0, 1): counts are whole numbers. "
        "Give the sums of squared weights too, if these are sums of weights.",
    ),
    "not whole, unlabelled": (
        LABELED,
        [0.5, 1],
        "unlabeled has 0.5 at 0: counts are whole numbers. "
        "Give the sums of squared weights too, if these are sums of weights.",
    ),
    "too large": (
        np.array([[1, 2], [3, 2**63]], np.uint64),
        [1, 1],
        "labeled adds up to 9.22e+18: counts must stay below 2**63. Check how it was counted.",
    ),
    "too large together": (
        LABELED,
        [2**62, 2**62],
        "unlabeled adds up to 9.22e+18: counts must stay below 2**63. Check how it was counted.",
    ),
    "strings": (
        [["1", "2"]],
        [1, 1],
        "labeled holds str32 values: it must hold numbers. Count first, with truecount.count().",
    ),
    "booleans": (
        [[True, False], [False, True]],
        [1, 1],
        "labeled holds bool values: it must hold numbers. Count first, with truecount.count().",
    ),
    "objects": (
        [[1, None], [3, 4]],
        [1, 1],
        "labeled holds object values: it must hold numbers. Count first, with truecount.count().",
    ),
    "ragged": (
        [[1, 2], [3]],
        [1, 1],
        "labeled has rows of different lengths: it must be rectangular. Fill the missing cells with 0.",
    ),
    "one row": (
        [1, 2],
        [1, 1],
        "labeled has shape (2,): it must be a table: a row for each class, a column for each output. Reshape it.",
    ),
    "a table of unlabelled": (
        LABELED,
        [[1, 1]],
        "unlabeled has shape (1, 2): it must be one row of numbers. Reshape it.",
    ),
    "widths": (
        [[1, 2, 3], [4, 5, 6]],
        [1, 2, 3, 4],
        "labeled has 3 output columns but unlabeled has shape (4,): both must count the same outputs. "
        "Name every output with count(..., outputs=[...]).",
    ),
    "one class": (
        [[1, 2]],
        [1, 1],
        "labeled has 1 class: a share needs at least two classes. Name every class with count(..., classes=[...]).",
    ),
    "no class": (
        np.zeros((0, 2)),
        [1, 1],
        "labeled has 0 classes: a share needs at least two classes. Name every class with count(..., classes=[...]).",
    ),
    "no output": (
        np.zeros((2, 0)),
        [],
        "labeled has no output columns: it must count at least one output. Check how it was counted.",
    ),
}


@pytest.mark.parametrize(("labeled", "unlabeled", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_numbers_are_refused(labeled, unlabeled, message):
    assert refusal(labeled, unlabeled) == message


BAD_NAMES = {
    "twice": (["a", "a"], "classes names 'a' twice: each name must stand for one thing. Rename or merge one of them."),
    "equal": ([1, True], "classes names True twice: each name must stand for one thing. Rename or merge one of them."),
    "too few": (["a"], "classes names 1: labeled counts 2 classes. Give each row a class and each column an output."),
    "a string": ("ab", "classes is 'ab': it must list a name for each. Pass classes=[...]."),
    "a set": ({"a", "b"}, "classes is a set: names stand in the order of the table. Pass classes=[...]."),
    "nothing": (
        [None, "a"],
        "classes holds None: names are strings, numbers or booleans. Rename it, for instance with str().",
    ),
    "NaN": (
        [float("nan"), 1],
        "classes holds nan: names are strings, numbers or booleans. Rename it, for instance with str().",
    ),
}


@pytest.mark.parametrize(("names", "message"), BAD_NAMES.values(), ids=BAD_NAMES.keys())
def test_bad_names_are_refused(names, message):
    assert refusal(LABELED, UNLABELED, names) == message
    assert refusal(np.transpose(LABELED), UNLABELED, None, names) == message.replace("classes", "outputs")


DOCUMENT = Counts(LABELED, UNLABELED).to_dict()
BAD_DOCUMENTS = {
    "another schema": (
        DOCUMENT | {"schema": "truecount.counts/9"},
        "schema is 'truecount.counts/9': this version reads",
    ),
    "no object": ([1, 2], "schema is None: this version reads 'truecount.counts/1'"),
    "an entry lacks": (
        {k: v for k, v in DOCUMENT.items() if k != "outputs"},
        "counts lack 'outputs': truecount.counts/1 has",
    ),
    "an entry too many": (DOCUMENT | {"colour": 1}, "counts hold 'colour': truecount.counts/1 has no such entry"),
    "bad numbers": (DOCUMENT | {"unlabeled": [1, -1]}, "unlabeled has -1 at 1"),
}


@pytest.mark.parametrize(("document", "message"), BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS.keys())
def test_bad_documents_are_refused(document, message):
    with pytest.raises(InputError) as caught:
        Counts.from_json(json.dumps(document))
    assert str(caught.value).startswith(message)


def test_what_is_not_json_is_refused():
    with pytest.raises(InputError, match=r"counts are not JSON .*: they must be one JSON object. Write them with"):
        Counts.from_json("class,output")


def test_numbers_of_classes_are_no_scores():
    said = [unseen_remedy(list(names), ["0"], otherwise="Check") for names in (range(10, 30), map(str, range(10, 30)))]
    assert said == ["Check", "Check"]
    assert "look like scores" in unseen_remedy([number / 8 for number in range(10, 30)], ["0"], otherwise="Check")
