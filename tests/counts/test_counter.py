"""Batches add up to the whole, from any number of threads."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import truecount as tc
from truecount.counts.exchange import from_document
from truecount.counts.tally import merged

LABELS, OUTPUTS = ["a", "b", "c", None, None, None], ["a", "b", "c", "none of them"]


def rows(number: int) -> tuple[list[str | None], list[str]]:
    rng = random.Random(3)  # noqa: S311
    return [rng.choice(LABELS) for _ in range(number)], [rng.choice(OUTPUTS) for _ in range(number)]


def counted(labels: list[str | None], outputs: list[str]) -> tc.Counts:
    known = [(label, output) for label, output in zip(labels, outputs, strict=True) if label is not None]
    new = [output for label, output in zip(labels, outputs, strict=True) if label is None]
    return tc.count([label for label, _ in known], [output for _, output in known], new)


def test_batches_add_up_to_the_whole() -> None:
    labels, outputs = rows(5000)
    counter = tc.Counter()
    for start in range(0, 5000, 37):
        counter.update(labels[start : start + 37], outputs[start : start + 37])
    assert counter.counts == counted(labels, outputs)


def test_threads_lose_nothing() -> None:
    labels, outputs = rows(4000)
    total, parts = tc.Counter(), [tc.Counter() for _ in range(4)]

    def work(start: int) -> None:
        batch = labels[start : start + 10], outputs[start : start + 10]
        total.update(*batch)
        parts[start % 4].update(*batch)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(0, 4000, 10)))
        everything = tc.Counter()
        list(threads.map(everything.merge, parts))
    assert total.counts == everything.counts == counted(labels, outputs)


def test_counters_may_merge_into_each_other_at_once() -> None:
    one, two = tc.Counter().update(["a", "b"], ["a", "b"]), tc.Counter().update(None, ["a"])
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda pair: pair[0].merge(pair[1]), [(one, two), (two, one)] * 20))
    assert one.counts.labeled.sum() >= 2


def test_what_was_given_out_stays_as_it_was() -> None:
    counter = tc.Counter().update(["a", "b"], ["a", "b"])
    before = counter.counts
    counter.update(["a"], ["b"])
    assert before == tc.Counts([[1, 0], [0, 1]], [0, 0], ["a", "b"])


def test_every_kind_of_column() -> None:
    counter = tc.Counter().update(np.array([1, 2]), np.array([1, 2])).update(None, np.array([2.0, 2.0]))
    counter.update([1, None, float("nan")], [2, 1, 1])
    assert counter.counts == tc.Counts([[1, 1], [0, 1]], [2, 2], [1, 2])


def test_weights() -> None:
    counter = tc.Counter().update(["a", "b", None], ["a", "b", "a"], weights=[0.5, 2, 3])
    counter.update(["a"], ["a"])
    expected = tc.Counts(
        [[1.5, 0], [0, 2]], [3, 0], ["a", "b"], labeled_squares=[[1.25, 0], [0, 4]], unlabeled_squares=[9, 0]
    )
    assert counter.counts == expected
    assert "weight" in repr(counter)


def test_merging_counts_and_names_in_order() -> None:
    counter = tc.Counter(classes=["b", "a"], outputs=["c", "b", "a"])
    counter.merge(tc.Counts([[1, 2], [3, 4]], [5, 6], ["a", "b"]))
    assert counter.counts == tc.Counts([[0, 4, 3], [0, 2, 1]], [0, 6, 5], ["b", "a"], ["c", "b", "a"])
    with pytest.raises(tc.InputError, match=r"labels holds 'x': classes names only 'b', 'a'"):
        counter.update(["x"], ["a"])
    with pytest.raises(tc.InputError, match="classes names only"):
        counter.merge(tc.Counts([[1, 2], [3, 4]], [5, 6], ["a", "x"], ["a", "b"]))
    assert counter.counts.labeled.sum() == 10


def test_a_refused_update_counts_nothing() -> None:
    counter = tc.Counter().update(["a", "b"], ["a", "b"])
    refused = [
        ((["a"], ["a", "b"]), {}, "labels has 1 rows but predictions has 2"),
        ((["a"], [None]), {}, "1 row without a prediction"),
        ((["a", "NA"], ["a", "b"]), {}, "1 row labelled 'NA'"),
        ((["a"], ["a"]), {"weights": [-1.0]}, "must not be negative"),
        ((["a"], ["a"]), {"weights": [1.0, 2.0]}, "weights has 2 values"),
        ((["a", 1], ["1", "b"]), {}, ""),
    ]
    for arguments, options, message in refused[:-1]:
        with pytest.raises(tc.InputError, match=message):
            counter.update(*arguments, **options)
    with pytest.raises(tc.InputError, match="outputs hold both 1 and '1'"):
        counter.update(["a", "a"], ["1", 1])
    with pytest.raises(tc.InputError, match="must be a Counter, Counts or Groups"):
        counter.merge(3)  # type: ignore[arg-type]
    assert counter.counts == tc.Counts([[1, 0], [0, 1]], [0, 0], ["a", "b"])


def test_columns_of_anything_are_no_classes_and_outputs() -> None:
    names = [f"item {number}" for number in range(20_000)]
    counter = tc.Counter().update(["a", "b"], ["a", "b"])
    with pytest.raises(tc.InputError, match=r"labels has 20,000 different values: .* at most 1,000"):
        counter.update(names, names)
    counter.update(names[:900], ["a"] * 900)
    with pytest.raises(tc.InputError, match=r"labels has 1,002 different values: .* at most 1,000"):
        counter.update(names[900:1000], ["a"] * 100)
    assert counter.counts.labeled.sum() == 902
    with pytest.raises(tc.InputError, match=r"make 20,000 classes and 20,000 outputs: .* 10,000,000 cells at most"):
        _ = tc.Counter(classes=names, outputs=names).update(names, names).counts


def test_groups_of_batches() -> None:
    counter = tc.Counter(by=["region", "week"])
    counter.update(["a", "b"], ["a", "b"], by={"region": ["north", None], "week": [1, 2]})
    counter.update(None, ["a", "b", "b"], by={"region": ["north", "north", "south"], "week": [1, 1.0, 2]})
    expected = tc.Groups(
        [[1, 0], [0, 1]],
        {("north", 1): [1, 1], ("south", 2): [0, 1]},
        ["a", "b"],
        by=("region", "week"),
        label_groups={("north", 1): [[1, 0], [0, 0]]},
    )
    assert counter.groups == expected
    assert counter.counts == expected.total
    assert tc.Counter(by=["region", "week"]).merge(expected).merge(counter).groups == expected + expected
    assert tc.Groups.from_dict(counter.to_dict()) == expected
    with pytest.raises(tc.InputError, match="by is not given: groups are made by 'region', 'week'"):
        counter.update(None, ["a"])
    with pytest.raises(tc.InputError, match="by is not given: groups are made by what by= names"):
        _ = tc.Counter().groups
    with pytest.raises(tc.InputError, match="by has 2 rows but predictions has 1"):
        tc.Counter(by="week").update(None, ["a"], by=[1, 2])


def test_words_for_missing_values() -> None:
    assert tc.Counter(missing="NA").update(["a", "b", "NA"], ["a", "b", "b"]).counts.unlabeled.tolist() == [0, 1]
    assert tc.Counter(missing="").update(["a", "NA"], ["a", "NA"]).counts.classes == ("NA", "a")
    both = tc.Counter(missing=["NA", "NaN"]).update(["a", "b", "NA", "NaN"], ["a", "b", "b", "a"])
    assert (both.counts.classes, both.counts.unlabeled.tolist()) == (("a", "b"), [1, 1])
    assert tc.Counter().update([], []).update(None, []).snapshot().class_names() == []


def test_a_half_filled_counter_travels_as_json() -> None:
    one, two = tc.Counter().update(["a"], ["a"]), tc.Counter().update(["b", None], ["a", "b"])
    with pytest.raises(tc.InputError, match="at least two classes"):
        _ = one.counts
    whole = merged([from_document(one.to_dict()), from_document(two.to_dict())])
    assert whole.to_counts() == tc.Counts([[1, 0], [1, 0]], [0, 1], ["a", "b"])
