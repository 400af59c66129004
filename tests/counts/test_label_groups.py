"""Labels that serve all groups keep which group they came from, however they are counted and carried."""

from copy import copy

import numpy as np
import pytest

import truecount as tc
from truecount.counts import merge_counts
from truecount.counts.exchange import from_document, read_counts

LINES = [
    ("A", "fail", "fail"),
    ("A", "fail", "pass"),
    ("A", "pass", "pass"),
    ("B", "fail", "pass"),
    ("B", "pass", "pass"),
    ("B", "pass", "pass"),
    ("C", "pass", "fail"),
    ("", "fail", "fail"),
    *[("A", "", "pass")] * 3,
    *[("A", "", "fail")] * 2,
    *[("B", "", "pass")] * 4,
]
"""C has labels and no unlabelled item, and one label has no group."""
COLUMNS = {"label": "human", "prediction": "verdict", "by": "model"}


def written(folder, lines, name="runs.csv"):
    path = folder / name
    path.write_text("model,human,verdict\n" + "".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def own(groups):
    found = groups.label_groups
    return dict(zip(found.keys, found.labeled.tolist(), strict=True))


EXPECTED = {"A": [[1, 1], [0, 1]], "B": [[0, 1], [0, 2]], "C": [[0, 0], [1, 0]]}


@pytest.fixture
def groups(tmp_path):
    return tc.count_table(written(tmp_path, LINES), **COLUMNS)


def test_of_one_table_each_labelled_row_knows_its_group(groups):
    assert own(groups) == EXPECTED
    assert groups.groups == ("A", "B")
    assert groups.labeled[0].tolist() == [[2, 2], [1, 3]]


def test_a_labelled_table_beside_another_may_name_groups(tmp_path):
    known = written(tmp_path, [line for line in LINES if line[1]], "known.csv")
    new = written(tmp_path, [line for line in LINES if not line[1]], "new.csv")
    assert own(tc.count_table(labeled=known, unlabeled=new, **COLUMNS)) == EXPECTED


def test_a_labelled_table_without_groups_is_read_as_before(tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("human,verdict\nfail,fail\npass,pass\n", encoding="utf-8")
    new = written(tmp_path, [line for line in LINES if not line[1]], "new.csv")
    assert tc.count_table(labeled=known, unlabeled=new, **COLUMNS).label_groups is None


def test_studies_say_themselves_where_labels_come_from(tmp_path):
    path = written(tmp_path, [line for line in LINES if line[0]])
    found = tc.count_table(path, **COLUMNS, study="model")
    assert found.label_groups is None
    assert found.studies == ("A", "B", "C")


def test_batches_keep_the_groups_of_labels(groups):
    counter = tc.Counter(by="model")
    for line in LINES:
        counter.update([line[1] or None], [line[2]], by=[line[0] or None])
    assert own(counter.groups) == EXPECTED


def test_shards_add_up(tmp_path, groups):
    halves = [tc.Counter(by="model") for _ in range(2)]
    for number, line in enumerate(LINES):
        halves[number % 2].update([line[1] or None], [line[2]], by=[line[0] or None])
    documents = [from_document(half.to_dict()) for half in halves]
    assert own(tc.Counter(by="model").merge(halves[0]).merge(halves[1]).groups) == EXPECTED
    assert {key: value for tally in documents for key, value in tally.label_groups.items()}
    assert own(groups + groups) == {key: (2 * np.array(table)).tolist() for key, table in EXPECTED.items()}
    assert own(merge_counts(groups, groups)) == own(groups + groups)


def test_json_pickle_and_another_order_keep_them(tmp_path, groups):
    path = tmp_path / "groups.json"
    path.write_text(groups.to_json(), encoding="utf-8")
    assert own(read_counts(path).to_data()) == EXPECTED
    assert own(tc.Groups.from_json(groups.to_json())) == EXPECTED
    assert own(copy(groups)) == EXPECTED
    other = tc.Groups([[1, 1], [1, 1]], {"A": [1, 1]}, ["pass", "fail"])
    assert own(groups.ordered_like(other))["A"] == [[1, 0], [1, 1]]
    assert own(groups.select(["B"])) == EXPECTED
    assert own(groups.renamed(["x", "y"]))["x"] == EXPECTED["A"]


def test_weights_are_added_up(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(
        "model,human,verdict,w\nA,fail,fail,2\nA,pass,pass,0.5\nB,pass,pass,1\nA,,pass,3\nB,,fail,1\n", "utf-8"
    )
    found = tc.count_table(path, **COLUMNS, weight="w")
    assert own(found) == {"A": [[2.0, 0.0], [0.0, 0.5]], "B": [[0.0, 0.0], [0.0, 1.0]]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"A": [[3, 0], [0, 0]]}, "do not match labeled"),
        ({"A": [[-1, 0], [0, 0]]}, "do not match labeled"),
        ({"A": [[1, 0, 0]]}, "has shape"),
        ([1, 2], "is \\[1, 2\\]"),
    ],
)
def test_what_is_no_part_of_the_labels_is_refused(given, said):
    with pytest.raises(tc.InputError, match=f"label_groups {said}"):
        tc.Groups([[2, 1], [1, 2]], {"A": [3, 4]}, label_groups=given)


def test_studies_and_groups_of_labels_together_are_refused():
    tables = {"x": [[2, 1], [1, 2]], "y": [[2, 1], [1, 2]]}
    with pytest.raises(tc.InputError, match="label_groups came with studies"):
        tc.Groups(tables, {"A": [3, 4]}, label_groups={"A": [[1, 0], [0, 1]]})
