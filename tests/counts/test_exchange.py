"""Counts travel as JSON, whole or in shards, with groups or without."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import truecount as tc
from truecount.counts import merge_counts
from truecount.counts.exchange import from_document, merged_parts, read_counts, to_document
from truecount.counts.tally import Tally
from truecount.reading.rows import Row

PLAIN = {
    "schema": "truecount.counts/1",
    "classes": ["a"],
    "outputs": ["a", "b"],
    "labeled": [[1, 2]],
    "unlabeled": [3, 4],
}


def grouped(**weights: float) -> Tally:
    tally = Tally(by=("week", "region"), is_weighted=bool(weights))
    weight = weights.get("weight", 1)
    tally.add([Row((), "a", "a", 1, weight, weight**2), Row((), "b", "a", 2, 2, 2)])
    tally.add([Row((date(2024, 1, 1), None), None, "b", 3, 3, 3), Row((date(2024, 1, 8), "x"), None, "a", 1, 1, 1)])
    return tally


def test_a_shard_with_one_class_or_none_is_read(tmp_path: Path) -> None:
    (tmp_path / "part.json").write_text(json.dumps(PLAIN))
    tally = read_counts(tmp_path / "part.json")
    assert to_document(tally) == PLAIN
    nothing = {**PLAIN, "classes": [], "labeled": []}
    assert to_document(from_document(nothing)) == nothing
    with pytest.raises(tc.InputError, match="labeled has 1 class: a share needs at least two"):
        tally.to_counts()


@pytest.mark.parametrize("weights", [{}, {"weight": 0.5}])
def test_groups_come_back(weights: dict[str, float]) -> None:
    document = json.loads(json.dumps(to_document(grouped(**weights))))
    assert document["schema"] == "truecount.groups/1"
    assert document["groups"] == [["2024-01-01", None], ["2024-01-08", "x"]]
    assert to_document(from_document(document)) == document
    groups = from_document(document).to_groups()
    assert groups["2024-01-08", "x"].unlabeled.tolist() == [1, 0]
    assert from_document(document).to_counts().unlabeled.tolist() == [1, 3]


def test_groups_are_merged_group_by_group_and_keep_their_keys() -> None:
    first = tc.Groups([[1, 2], [3, 4]], {date(2024, 1, 1): [1, 1], date(2024, 1, 8): [2, 2]}, ["a", "b"], by=["week"])
    second = tc.Groups([[1, 0], [0, 1]], {date(2024, 1, 8): [5, 0], date(2024, 1, 15): [0, 1]}, ["a", "c"], by=["week"])
    whole = merge_counts(first, second)
    assert isinstance(whole, tc.Groups)
    assert whole.groups == (date(2024, 1, 1), date(2024, 1, 8), date(2024, 1, 15))
    assert whole.classes == whole.outputs == ("a", "b", "c")
    assert whole.labeled.tolist() == [[[2, 2, 0], [3, 4, 0], [0, 0, 1]]]
    assert whole.unlabeled.tolist() == [[1, 1, 0], [7, 2, 0], [0, 0, 1]]
    with pytest.raises(tc.InputError, match=r"shard 2 is grouped by \[\]: the first is grouped by \['week'\]"):
        merge_counts(first, tc.Counts([[1, 0], [0, 1]], [1, 1], ["a", "b"]))
    with pytest.raises(tc.InputError, match="counts is of type dict: it must be Counts or Groups"):
        merge_counts(first.to_dict())


def test_groups_with_studies_or_times_are_merged_as_they_are(tmp_path: Path) -> None:
    timed = tc.Groups({"lab": [[1, 2], [3, 4]]}, {"a": [1, 1]}, times={"a": 1})
    other = tc.Groups({"field": [[1, 0], [0, 1]]}, {"b": [2, 0]}, times={"b": 2})
    whole = merge_counts(timed, other)
    assert whole == timed + other
    assert whole.studies == ("lab", "field")
    assert whole.times.tolist() == [1, 2]
    for name, groups in (("one.json", timed), ("two.json", other)):
        (tmp_path / name).write_text(groups.to_json())
    assert merged_parts([read_counts(tmp_path / name) for name in ("one.json", "two.json")]) == whole
    with pytest.raises(tc.InputError, match="shard 2 has neither studies nor times: another shard has"):
        merge_counts(timed, tc.Counts([[1, 0], [0, 1]], [1, 1]))


def test_names_are_aligned_or_refused() -> None:
    first = tc.Counts([[3, 1], [0, 2]], [5, 5], ["cat", "dog"])
    second = tc.Counts([[1, 0], [1, 1]], [2, 0], ["cat", "fox"])
    whole = merge_counts(first, second)
    expected = tc.Counts([[4, 1, 0], [0, 2, 0], [1, 0, 1]], [7, 5, 0], ["cat", "dog", "fox"])
    assert whole == expected
    assert merge_counts(second, first) == expected
    with pytest.raises(
        tc.InputError, match=r"shard 2 lacks 'dog' among its classes: those of the first are 'cat', 'dog'"
    ):
        merge_counts(first, second, strict_classes=True)
    ordered = tc.Counts([[3, 1], [0, 2]], [5, 5], ["dog", "cat"])
    assert merge_counts(ordered, ordered, strict_classes=True).classes == ("dog", "cat")
    assert merge_counts(first, ordered, strict_classes=True).classes == ("cat", "dog")
    with pytest.raises(tc.InputError, match="counts are none"):
        merge_counts()


def test_merging_is_adding_where_names_agree() -> None:
    first, second = tc.Counts([[3, 1], [0, 2]], [5, 5]), tc.Counts([[1, 1], [1, 1]], [1, 0])
    assert merge_counts(first, second) == first + second
    heavy = tc.Counts([[3, 1], [0, 2]], [5, 5], labeled_squares=[[4, 1], [0, 3]], unlabeled_squares=[9, 9])
    assert merge_counts(first, heavy) == first + heavy


def test_numbers_and_their_text_are_not_merged() -> None:
    one, two = tc.Counts([[1, 0], [0, 1]], [1, 1], [0, 1]), tc.Counts([[1, 0], [0, 1]], [1, 1], ["0", "1"])
    with pytest.raises(tc.InputError, match="classes hold both 0 and '0'"):
        merge_counts(one, two)


GROUPED = {"schema": "truecount.groups/1", "by": ["x"], "unlabeled": [[1, 2], [3, 4]]}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "shape": ({"labeled": [[1, 2, 3]]}, r"labeled has shape \(1, 3\)"),
    "rows": ({"labeled": [[1, 2], [3, 4]]}, r"labeled has shape \(2, 2\)"),
    "unlabeled": ({"unlabeled": [1]}, r"unlabeled has shape \(1, 1\)"),
    "negative": ({"unlabeled": [1, -1]}, "must not be negative"),
    "halves": ({"unlabeled": [1, 0.5]}, "counts are whole numbers"),
    "twice": ({"outputs": ["a", "a"]}, "names 'a' twice"),
    "by": ({"schema": "truecount.groups/1"}, "lack 'by'"),
    "keys": ({"schema": "truecount.groups/1", "by": ["x"], "groups": [[1, 2]]}, "groups do not match by"),
    "group twice": (GROUPED | {"groups": [["n"], ["n"]]}, r"groups hold \['n'\] 2 times: each stands once\. Add up"),
    "true is 1": (GROUPED | {"groups": [[1], [True]]}, r"groups hold \[1\] 2 times"),
    "key": (GROUPED | {"groups": [["n"], [["s"]]]}, r"groups hold \['s'\]: keys are names, or null"),
    "text as keys": (GROUPED | {"groups": ["n", "s"]}, "groups do not match by"),
    "no groups": (GROUPED | {"groups": None}, "groups do not match by"),
    "no columns": (GROUPED | {"by": None, "groups": [["n"], ["s"]]}, "by is None"),
    "null": ({"labeled": None}, "labeled holds object values"),
    "number": ({"labeled": 5}, r"labeled has shape \(\)"),
    "object": ({"unlabeled": {}}, "unlabeled holds object values"),
    "half weighted": ({"unlabeled_squares": [3, 4]}, "labeled_squares and unlabeled_squares came apart"),
    "other half": ({"labeled_squares": [[1, 2]]}, "labeled_squares and unlabeled_squares came apart"),
    "other": ({"schema": "truecount.counts/2"}, "this version reads"),
    "more": ({"extra": 1}, "hold 'extra'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_documents_are_refused_by_name(case: str, tmp_path: Path) -> None:
    change, message = BAD[case]
    (tmp_path / "part.json").write_text(json.dumps(PLAIN | change))
    with pytest.raises(tc.InputError, match=rf"part\.json: .*{message}"):
        read_counts(tmp_path / "part.json")


def test_whole_numbers_stay_whole_however_large() -> None:
    large = 2**62
    document = {**PLAIN, "labeled": [[large, 1]]}
    assert to_document(from_document(document))["labeled"] == [[large, 1]]


def test_lengths_of_narrow_kinds_do_not_overflow() -> None:
    import numpy as np

    from truecount.reading.columns import Columns
    from truecount.reading.rows import row_of

    most = np.uint32(2**32 - 1)
    rows = [
        row_of("table", (None, "x", most), Columns(label="y", prediction="c"), lambda value: value) for _ in range(3)
    ]
    tally = Tally()
    tally.add(rows)
    assert tally.unlabeled[(), "x"] == 3 * (2**32 - 1)
