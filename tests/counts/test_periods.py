"""Times of groups, and labels by study, from arrays, frames, files and DuckDB."""

from datetime import date, datetime

import duckdb
import numpy as np
import pytest

import truecount as tc
from truecount.counts import Groups
from truecount.counts.exchange import merge_counts

LABELED = [[9, 1], [2, 8]]
ROWS = """human,verdict,when,site
pass,pass,2024-05-06,x
fail,fail,2024-05-07,y
pass,fail,2024-05-08,y
,pass,2024-05-27 10:00,x
,fail,2024-05-09,x
,fail,2024-05-06,y
"""


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_weeks_of_a_file_are_the_times_of_its_groups_in_order_with_their_real_gaps(runs):
    groups = tc.count_table(runs, label="human", prediction="verdict", by={"when": "week"})
    assert groups.groups == (date(2024, 5, 6), date(2024, 5, 27))
    assert np.diff(groups.times).astype("timedelta64[D]").astype(int).tolist() == [21]


def test_weeks_of_arrays_frames_and_duckdb_have_the_times_of_the_file(runs):
    pandas = pytest.importorskip("pandas")
    wanted = tc.count_table(runs, label="human", prediction="verdict", by={"when": "week"})
    relation = duckdb.sql(f'SELECT human, verdict, CAST("when" AS TIMESTAMP) AS "when" FROM \'{runs}\'')  # noqa: S608
    frame = pandas.read_csv(runs, parse_dates=["when"], date_format="ISO8601")
    for table in (relation, frame):
        found = tc.count_table(table, label="human", prediction="verdict", by={"when": "week"})
        assert found == wanted
        assert found.times.tolist() == wanted.times.tolist()
    weeks = [date(2024, 5, 27), date(2024, 5, 6), date(2024, 5, 6)]
    by_hand = tc.count(["pass", "fail", "pass"], ["pass", "fail", "fail"], ["pass", "fail", "fail"], by={"when": weeks})
    assert (by_hand.groups, by_hand.unlabeled.tolist()) == (wanted.groups, wanted.unlabeled.tolist())
    assert by_hand.labeled.tolist() == wanted.labeled.tolist()
    assert by_hand.times.tolist() == wanted.times.tolist()


def test_dates_as_text_are_times_too_and_survive_json():
    groups = Groups(LABELED, {"2024-05-27": [3, 4], "2024-05-06": [1, 2]})
    assert groups.times.tolist() == [datetime(2024, 5, 27), datetime(2024, 5, 6)]
    again = Groups.from_json(groups.to_json())
    assert again == groups
    assert again.times.tolist() == groups.times.tolist()
    assert "times" not in groups.to_dict()


def test_times_given_by_hand_are_kept_though_the_keys_are_dates():
    groups = Groups(LABELED, {"2024-05-27": [3, 4], "2024-05-06": [1, 2]}, times=[2, 1])
    assert groups.times.tolist() == [2, 1]
    assert Groups.from_json(groups.to_json()).times.tolist() == [2, 1]


@pytest.mark.parametrize("keys", [("2024-05-27", "later"), ("2024-13-01", "2024-05-06"), (1, 2), (None, "2024-05-06")])
def test_keys_that_are_not_all_dates_are_no_times(keys):
    assert Groups(LABELED, {key: [3, 4] for key in keys}).times is None


def test_two_columns_of_dates_are_no_times():
    assert Groups(LABELED, {("2024-05-27", "2024-05-28"): [3, 4]}).times is None


def test_shards_of_weeks_merge_though_one_lacks_a_class():
    first = Groups(LABELED, {date(2024, 5, 6): [3, 4]}, ["fail", "pass"], by=["week"])
    second = Groups([[1, 0], [0, 1]], {date(2024, 5, 13): [3, 4]}, ["fail", "unsure"], by=["week"])
    merged = merge_counts(first, second)
    assert merged.classes == ("fail", "pass", "unsure")
    assert len(merged.times) == 2


@pytest.mark.parametrize(
    ("frequency", "keys", "between"),
    [
        ("week", [date(2024, 5, 6), date(2024, 5, 20)], [date(2024, 5, 13)]),
        ("month", ["2023-11-01", "2024-02-01"], ["2023-12-01", "2024-01-01"]),
        ("quarter", [date(2024, 1, 1), date(2024, 7, 1)], [date(2024, 4, 1)]),
        ("year", [date(2022, 1, 1), date(2024, 1, 1)], [date(2023, 1, 1)]),
        ("hour", [datetime(2024, 1, 1, 23), datetime(2024, 1, 2, 1)], [datetime(2024, 1, 2, 0)]),
    ],
)
def test_periods_that_nothing_was_seen_in_become_groups_without_items(frequency, keys, between):
    groups = Groups(LABELED, {key: [3, 4] for key in keys}).fill_periods(frequency)
    assert groups.groups == (keys[0], *between, keys[1])
    assert groups.unlabeled.sum(axis=1).tolist() == [7, *[0] * len(between), 7]
    assert (np.diff(groups.times).astype(float) > 0).all()


def test_periods_are_filled_in_every_region():
    keys = [("north", "2024-05-06"), ("south", "2024-05-20")]
    groups = Groups(LABELED, {key: [3, 4] for key in keys}).fill_periods("week")
    assert len(groups) == 6
    assert groups.groups[0] == ("north", "2024-05-06")


def test_weighted_groups_are_filled_too():
    groups = Groups(
        [[9.5, 1], [2, 8]],
        {"2024-05-06": [3.5, 4], "2024-05-20": [3, 4]},
        labeled_squares=[[10, 1], [2, 8]],
        unlabeled_squares={"2024-05-06": [4, 4], "2024-05-20": [3, 4]},
    )
    assert groups.fill_periods("week").unlabeled_squares.sum(axis=1).tolist() == [8, 0, 7]


def test_groups_without_times_cannot_be_filled():
    with pytest.raises(tc.InputError, match="need a time in every group"):
        Groups(LABELED, {"a": [3, 4], "b": [1, 2]}).fill_periods("week")
    with pytest.raises(tc.InputError, match="Choose a longer period"):
        Groups(LABELED, {"1024-05-06": [3, 4], "2024-05-06": [1, 2]}).fill_periods("day")


def test_labels_are_counted_by_study(runs):
    groups = tc.count_table(runs, label="human", prediction="verdict", by={"when": "week"}, study="site")
    assert groups.studies == ("x", "y")
    assert groups.labeled.tolist() == [[[0, 0], [0, 1]], [[1, 0], [1, 0]]]
    assert groups.total.labeled.tolist() == [[1, 0], [1, 1]]


def test_a_column_of_groups_as_study_gives_each_group_its_own_labels(runs):
    groups = tc.count_table(runs, label="human", prediction="verdict", by="site", study="site")
    assert groups.groups == groups.studies == ("x", "y")
    assert not groups.shares_labels


@pytest.mark.parametrize("study", [["site", "kind"], ("kind", "site")])
def test_several_columns_of_groups_as_study_give_each_group_its_own_labels(study, tmp_path):
    path = tmp_path / "runs.csv"
    rows = [f"{site},{kind},{human},pass" for site in "xy" for kind in "ab" for human in ("pass", "fail", "")]
    path.write_text("\n".join(["site,kind,human,verdict", *rows]), encoding="utf-8")
    groups = tc.count_table(path, label="human", prediction="verdict", by=["site", "kind"], study=study)
    assert groups.groups == groups.studies == (("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"))
    assert groups.labeled.tolist() == [[[1], [1]]] * 4
    assert Groups.from_json(groups.to_json()) == groups


def test_studies_of_one_population_make_one_group(runs):
    groups = tc.count_table(runs, label="human", prediction="verdict", study="site")
    assert groups.groups == ("all",)
    assert groups.studies == ("x", "y")


def test_two_tables_and_arrays_count_studies_alike(runs, tmp_path):
    read, unread = tmp_path / "read.csv", tmp_path / "unread.csv"
    lines = ROWS.splitlines()
    read.write_text("\n".join(lines[:4]), encoding="utf-8")
    unread.write_text("\n".join([lines[0], *lines[4:]]), encoding="utf-8")
    wanted = tc.count_table(runs, label="human", prediction="verdict", by="site", study="site")
    columns = {"label": "human", "prediction": "verdict", "by": "site", "study": "site"}
    assert tc.count_table(labeled=read, unlabeled=unread, **columns) == wanted
    labels, outputs = ["pass", "fail", "pass"], ["pass", "fail", "fail"]
    by_hand = tc.count(labels, outputs, ["pass", "fail", "fail"], by={"site": ["x", "x", "y"]}, study=["x", "y", "y"])
    assert by_hand == wanted


def test_a_label_without_a_study_is_refused_in_four_parts(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(ROWS.replace("2024-05-07,y", "2024-05-07,"), encoding="utf-8")
    with pytest.raises(tc.InputError, match=r"1 row with a label and no study in column 'site'.*every label.*Fill"):
        tc.count_table(path, label="human", prediction="verdict", by={"when": "week"}, study="site")


def test_a_study_of_another_length_is_refused():
    with pytest.raises(tc.InputError, match="study"):
        tc.count(["a", "b"], ["a", "b"], ["a"], by=["x"], study=["s"])
    for study in ("human", ["site", "human"]):
        with pytest.raises(tc.InputError, match="study is 'human', as is label"):
            tc.count_table("none.csv", label="human", prediction="verdict", by="x", study=study)
