"""Every back end gives the same counts, and the known traps are none."""

import random
import sys
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

import truecount as tc
from frames import BACK_ENDS, Sparks, Values
from truecount.errors import InputError, MissingExtraError, TruecountWarning

COLUMNS = {"label": "human", "prediction": "verdict"}
CLASSES, OUTPUTS = ["cat", "dog", "fox"], ["abstain", "cat", "dog", "fox"]


@pytest.fixture(params=BACK_ENDS)
def table_of(request: pytest.FixtureRequest, sparks: Sparks) -> Any:
    """A function that makes a table of some back end from columns of values."""
    return lambda values: BACK_ENDS[request.param](values, sparks)


def made_rows(number: int) -> list[tuple[Any, ...]]:
    """Rows of label, prediction, region, time and weight, a third of them labelled."""
    rng = random.Random(5)  # noqa: S311
    start = datetime(2024, 1, 30)
    return [
        (
            rng.choice(CLASSES) if rng.random() < 0.3 else None,
            rng.choice(OUTPUTS),
            rng.choice(["north", "south"]),
            start + timedelta(hours=rng.randrange(24 * 40)),
            rng.choice([0.5, 1.0, 2.25]),
        )
        for _ in range(number)
    ]


ROWS = made_rows(600)
TABLE: Values = dict(
    zip(["human", "verdict", "region", "time", "weight"], map(list, zip(*ROWS, strict=True)), strict=True)
)


def expected(rows: list[tuple[Any, ...]], unlabeled: list[tuple[Any, ...]], *, weighted: bool = False) -> tc.Counts:
    """Count in plain Python."""
    sums: Counter[Any] = Counter()
    squares: Counter[Any] = Counter()
    chosen = [row for row in rows if row[0] is not None] + [row for row in unlabeled if row[0] is None]
    for label, output, _, _, weight in chosen:
        sums[label, output] += weight if weighted else 1
        squares[label, output] += weight**2
    cells = [[[total[name, output] for output in OUTPUTS] for name in (*CLASSES, None)] for total in (sums, squares)]
    extra = {"labeled_squares": cells[1][:-1], "unlabeled_squares": cells[1][-1]} if weighted else {}
    return tc.Counts(cells[0][:-1], cells[0][-1], CLASSES, OUTPUTS, **extra)


def without_identity(groups: dict[Any, tc.Counts]) -> dict[Any, dict[str, Any]]:
    return {group: {**counts.to_dict(), "tables": None} for group, counts in groups.items()}


def expected_groups(key: Any, *, weighted: bool = False) -> dict[Any, dict[str, Any]]:
    keys = sorted({key(row) for row in ROWS if row[0] is None})
    groups = {each: [row for row in ROWS if key(row) == each] for each in keys}
    return without_identity({each: expected(ROWS, rows, weighted=weighted) for each, rows in groups.items()})


def monday(row: tuple[Any, ...]) -> date:
    return row[3].date() - timedelta(days=row[3].weekday())


def test_every_back_end_gives_the_same_table(table_of: Any) -> None:
    table = table_of(TABLE)
    assert tc.count_table(table, **COLUMNS) == expected(ROWS, ROWS)
    weighted = tc.count_table(table, **COLUMNS, weight="weight")
    assert weighted == expected(ROWS, ROWS, weighted=True)
    groups = tc.count_table(table, **COLUMNS, by={"region": None, "time": "week"}, weight="weight")
    wanted = expected_groups(lambda row: (row[2], monday(row)), weighted=True)
    assert list(groups) == list(wanted)
    assert without_identity(groups) == wanted


def test_two_tables_and_timestamps_as_groups(table_of: Any) -> None:
    halves = [{name: [] for name in TABLE}, {name: [] for name in TABLE}]
    for row in ROWS:
        for name, value in zip(TABLE, row, strict=True):
            halves[row[0] is None][name].append(value)
    halves[1].pop("human")
    labeled, unlabeled = map(table_of, halves)
    assert tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS) == expected(ROWS, ROWS)
    groups = tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS, by="time")
    assert without_identity(groups) == expected_groups(lambda row: row[3])
    assert {type(key) for key in groups} == {datetime}


PERIODS = {
    "minute": lambda time: time,
    "hour": lambda time: time,
    "day": lambda time: time.date(),
    "month": lambda time: time.date().replace(day=1),
    "quarter": lambda time: date(2024, 1, 1),
    "year": lambda time: date(2024, 1, 1),
}


@pytest.mark.parametrize("back_end", ["arrow", "duckdb"])
@pytest.mark.parametrize("frequency", PERIODS)
def test_every_frequency(back_end: str, frequency: str, sparks: Sparks) -> None:
    table = BACK_ENDS[back_end](TABLE, sparks)
    groups = tc.count_table(table, **COLUMNS, by={"time": frequency})
    assert without_identity(groups) == expected_groups(lambda row: PERIODS[frequency](row[3]))


@pytest.mark.parametrize("back_end", sorted(BACK_ENDS.keys() - {"dask"}))
def test_dates_as_groups(back_end: str, sparks: Sparks) -> None:
    """Dask has no dates: it makes text of them."""
    days = [date(2024, 1, 31), date(2024, 2, 1), date(2024, 2, 1), None]
    values = {"human": ["a", "b", None, None], "verdict": ["a", "b", "a", "b"], "day": days}
    table = BACK_ENDS[back_end](values, sparks)
    groups = tc.count_table(table, **COLUMNS, by={"day": "month"})
    assert {group: counts.unlabeled.tolist() for group, counts in groups.items()} == {
        date(2024, 2, 1): [1, 0],
        None: [0, 1],
    }


NAMES = {
    "whole numbers beside missing ones": ([1, 2, None, 2], [1, 1, 2, 2], (1, 2)),
    "whole floats": ([1.0, 2.0, None, 2.0], [1, 1, 2, 2], (1, 2)),
    "NaN beside null": ([1.0, 2.0, None, float("nan")], [1, 1, 2, 1], (1, 2)),
    "fractions": ([0.5, 1.0, None, 0.5], [0.5, 1.0, 1.0, 1.0], (0.5, 1)),
    "booleans": ([True, False, True, False], [True, True, False, False], (False, True)),
    "blanks": (["a ", "b", None, " "], ["a", " b", "b ", "a"], ("a", "b")),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_are_the_same_from_every_back_end(case: str, table_of: Any) -> None:
    labels, outputs, names = NAMES[case]
    table = table_of({"human": labels, "verdict": outputs})
    if None in labels:
        counts = tc.count_table(table, **COLUMNS)
    else:
        with pytest.warns(TruecountWarning, match="has 4 labels, which are not used") as said:
            counts = tc.count_table(labeled=table, unlabeled=table, **COLUMNS)
        assert {each.filename for each in said} == {__file__}
    assert counts.classes == counts.outputs == names
    assert [type(name) for name in counts.classes] == [type(name) for name in names]
    assert counts.labeled.sum() == sum(
        label in names for label in (str(x).strip() if type(x) is str else x for x in labels)
    )


def test_missing_booleans_and_nullable_kinds_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    for kind in (object, "boolean"):
        labels = pandas.Series([True, False, None, None], dtype=kind)
        counts = tc.count_table(pandas.DataFrame({"human": labels, "verdict": [True, False, True, True]}), **COLUMNS)
        assert counts == tc.Counts([[1, 0], [0, 1]], [0, 2], [False, True])
    whole = pandas.Series([1, 2, None, None], dtype="Int64")
    counts = tc.count_table(pandas.DataFrame({"human": whole, "verdict": [1, 2, 1, 1]}), **COLUMNS)
    assert counts == tc.Counts([[1, 0], [0, 1]], [2, 0], [1, 2])


def categorical(back_end: str) -> Any:
    values = ["a", "b", None]
    if back_end == "polars":
        polars = pytest.importorskip("polars")
        kind = polars.Enum(["a", "b", "never"])
        return polars.DataFrame(
            {"human": polars.Series(values, dtype=kind), "verdict": polars.Series(["a", "b", "a"], dtype=kind)}
        )
    if back_end == "arrow":
        arrow = pytest.importorskip("pyarrow")
        return arrow.table(
            {
                "human": arrow.DictionaryArray.from_arrays(arrow.array([0, 1, None]), ["a", "b", "never"]),
                "verdict": arrow.DictionaryArray.from_arrays(arrow.array([0, 1, 0]), ["a", "b", "never"]),
            }
        )
    pandas = pytest.importorskip("pandas")
    levels = ["a", "b", "never"]
    made = pandas.DataFrame(
        {"human": pandas.Categorical(values, levels), "verdict": pandas.Categorical(["a", "b", "a"], levels)}
    )
    return pytest.importorskip("dask.dataframe").from_pandas(made, npartitions=2) if back_end == "dask" else made


@pytest.mark.parametrize("back_end", ["pandas", "polars", "arrow", "dask"])
def test_levels_without_rows_are_no_classes(back_end: str) -> None:
    counts = tc.count_table(categorical(back_end), **COLUMNS)
    assert counts == tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])
    named = tc.count_table(categorical(back_end), **COLUMNS, classes=["b", "a", "never"])
    assert named.labeled.tolist() == [[0, 1], [1, 0], [0, 0]]


def test_groups_know_that_they_share_their_labels() -> None:
    table = of_values(human=["a", "b", None, None], verdict=["a", "b", "a", "b"], week=[None, 1, 2, 3])
    groups = tc.count_table(table, **COLUMNS, by="week")
    assert list(groups) == [2, 3]
    assert groups.shares_labels
    assert groups.by == ("week",)
    assert groups == tc.count_table(table, **COLUMNS, by="week")
    assert groups.total == tc.Counts([[1, 0], [0, 1]], [1, 1], ["a", "b"])
    assert list(tc.infer_many(groups)) == [2, 3]


def of_values(**values: list[Any]) -> Any:
    return BACK_ENDS["duckdb"](values, Sparks())


@pytest.mark.parametrize("by", [3, [["region"]], {"time": "fortnight"}, [None]])
def test_what_is_no_column_makes_no_groups(by: Any) -> None:
    table = of_values(human=["a", "b", None], verdict=["a", "b", "a"])
    with pytest.raises(InputError, match=r"^by is .*: columns are names, and a frequency is one of"):
        tc.count_table(table, **COLUMNS, by=by)


def test_names_that_the_caller_orders() -> None:
    table = of_values(human=["a", "b", None], verdict=["a", "b", "a"])
    counts = tc.count_table(table, **COLUMNS, classes=["b", "a"], outputs=["c", "b", "a"])
    assert counts == tc.Counts([[0, 1, 0], [0, 0, 1]], [0, 0, 1], ["b", "a"], ["c", "b", "a"])
    assert tc.count_table(table, **COLUMNS, classes={"b", "a"}).classes == ("a", "b")
    with pytest.raises(InputError, match=r"table holds 'b' in column 'verdict': outputs names only 'a'"):
        tc.count_table(table, **COLUMNS, outputs=["a"])


def test_an_output_that_only_unlabeled_rows_have_is_kept() -> None:
    counts = tc.count_table(of_values(human=["a", "b", None, None], verdict=["a", "b", "new", "a"]), **COLUMNS)
    assert counts.labeled[:, 2].tolist() == [0, 0]
    assert "unseen-output" in {finding.code for finding in tc.infer(counts).findings}


def test_a_path_is_a_table_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict,week\na,a,1\nb,b,1\n,a,2\n")
    for path in (tmp_path / "t.csv", str(tmp_path / "t.csv")):
        assert tc.count_table(path, **COLUMNS) == tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])
    assert list(tc.count_table(tmp_path / "t.csv", **COLUMNS, by="week")) == ["2"]


BAD: dict[str, tuple[dict[str, list[Any]], dict[str, Any], str]] = {
    "no such column": ({}, {"label": "humn"}, "table has no column 'humn'.*'human', .*meant 'human'"),
    "no such group": ({}, {"by": "week"}, "no column 'week'"),
    "one column twice": ({}, {"label": "verdict"}, "prediction is 'verdict', as is label: these are two columns"),
    "grouped by the label": ({}, {"by": "human"}, "label is 'human', as is by"),
    "no frequency": ({}, {"by": {"t": "fortnight"}}, "by is .*minute, hour, day, week"),
    "frequency of text": ({}, {"by": {"w": "week"}}, "String values in column 'w': a frequency needs times"),
    "text as weight": ({}, {"weight": "w"}, "String values in column 'w': weights are numbers"),
    "times as labels": ({}, {"label": "t"}, "Datetime values in column 't': names must be strings"),
    "negative weights": ({"w": [1, -1, 1]}, {"weight": "w"}, "negative or infinite weights in column 'w'"),
    "infinite weights": ({"w": [1.0, float("inf"), 1.0]}, {"weight": "w"}, "negative or infinite"),
    "missing weights": ({"w": [1, None, 1]}, {"weight": "w"}, "1 missing weight in column 'w'"),
    "missing outputs": ({"verdict": ["a", None, "a"]}, {}, "1 row without a prediction in column 'verdict'"),
    "no labels": ({"human": ["", " ", None]}, {}, "no label in column 'human'"),
    "all labelled": ({"human": ["a", "b", "a"]}, {}, "label in every row"),
    "one class": ({"human": ["a", "a", None]}, {}, "only the label 'a'"),
    "a word": ({"human": ["a", "NA", None]}, {}, "1 row labelled 'NA'.*missing='NA'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_table_is_refused_by_name(case: str) -> None:
    values, arguments, message = BAD[case]
    good = {
        "human": ["a", "b", None],
        "verdict": ["a", "b", "a"],
        "t": [datetime(2024, 1, 1)] * 3,
        "w": ["x", "y", "z"],
    }
    with pytest.raises(InputError, match=message):
        tc.count_table(of_values(**{**good, **values}), **{**COLUMNS, **arguments})


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match=r"table is of type list: .*pandas, polars"):
        tc.count_table([1, 2], **COLUMNS)
    frame = of_values(human=["a", "b", None], verdict=["a", "b", "a"])
    for arguments in ({}, {"table": frame, "labeled": frame}, {"labeled": frame}):
        with pytest.raises(InputError, match="labelled and an unlabelled one"):
            tc.count_table(**arguments, **COLUMNS)
    with pytest.raises(InputError, match="labeled has no label and unlabeled has"):
        tc.count_table(labeled=of_values(verdict=["a"]), unlabeled=frame, **COLUMNS)


def test_a_connection_of_duckdb_is_no_table() -> None:
    with duckdb.connect() as connection:
        executed = connection.execute("SELECT 'a' AS human, 'a' AS verdict")
        with pytest.raises(InputError, match=r"table is of type DuckDBPyConnection: it must be a table of .*DuckDB"):
            tc.count_table(executed, **COLUMNS)


def test_numbers_beside_their_text_are_refused() -> None:
    polars = pytest.importorskip("polars")
    labeled = polars.DataFrame({"human": ["1", "2"], "verdict": ["1", "2"]})
    unlabeled = polars.DataFrame({"verdict": [1, 2]})
    with pytest.raises(InputError, match="outputs hold both 1 and '1'"):
        tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS)


def test_odd_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame([["a", "b", "c"]], columns=["human", "verdict", "verdict"])
    lists = pandas.DataFrame({"human": ["a", "b", None], "verdict": ["a", "b", ["x"]]})
    empty = pandas.DataFrame({"human": pandas.Series([], dtype=str), "verdict": pandas.Series([], dtype=str)})
    for frame, message in ((twice, "several columns of one name"), (lists, "cannot be grouped"), (empty, "no rows")):
        with pytest.raises(InputError, match=message):
            tc.count_table(frame, **COLUMNS)
    indexed = pandas.DataFrame({"human": ["a", "b", None], "verdict": ["a", "b", "a"]}, index=[7, 7, 7])
    assert tc.count_table(indexed, **COLUMNS) == tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])


def test_pandas_counts_the_same_without_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    table = BACK_ENDS["pandas"](TABLE, Sparks())
    by_arrow = tc.count_table(table, **COLUMNS, by={"time": "week"}, weight="weight")
    monkeypatch.setattr("truecount.reading.frames.find_spec", lambda _: None)
    by_pandas = tc.count_table(table, **COLUMNS, by={"time": "week"}, weight="weight")
    assert without_identity(by_arrow) == without_identity(by_pandas)


def test_a_column_of_continuous_scores_is_no_column_of_names() -> None:
    table = of_values(human=["a", "b", *[None] * 1100], verdict=[float(n) + 0.5 for n in range(1102)])
    with pytest.raises(InputError, match="1,102 different values in column 'verdict'"):
        tc.count_table(table, **COLUMNS)


def test_columns_of_any_name_and_of_ours() -> None:
    values = {'a "b"': ["x", "y", None], "key0": ["x", "y", "y"], "rows": [1, 1, 2], "weight": [1.0, 2.0, 3.0]}
    groups = tc.count_table(of_values(**values), label='a "b"', prediction="key0", by="rows", weight="weight")
    assert groups[2].unlabeled.tolist() == [0, 3]


def test_a_column_that_a_join_gives_twice_is_refused() -> None:
    tables = """(VALUES (1, 'a', 'a'), (2, 'b', 'b'), (3, NULL, 'a')) t(id, human, verdict)
        JOIN (VALUES (1, 'b'), (2, 'b'), (3, 'b')) u(id, verdict) ON t.id = u.id"""
    joined = duckdb.sql(f"FROM {tables}")
    for arguments in (COLUMNS, {"label": "human", "prediction": "human_2", "by": "verdict"}):
        with pytest.raises(InputError, match="table has 2 columns named 'verdict': each name must stand for one"):
            tc.count_table(joined, **arguments)
    chosen = duckdb.sql(f"SELECT human, t.id, u.id, t.verdict FROM {tables}")  # noqa: S608
    assert tc.count_table(chosen, **COLUMNS) == tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])


def test_columns_of_duckdb_whose_names_differ_only_in_case() -> None:
    values = "(VALUES ('a', 'x', 'q', 1), ('b', 'y', 'q', 2), (NULL, 'y', 'q', 4)) t(h, v, q, w)"
    table = duckdb.sql(f"SELECT h AS human, q AS x, v AS X, q AS w, w AS W FROM {values}")  # noqa: S608
    assert table.columns == ["human", "x", "X", "w", "W"]
    groups = tc.count_table(table, label="human", prediction="X", by="x", weight="W")
    assert (groups["q"].labeled.tolist(), groups["q"].unlabeled.tolist()) == ([[1, 0], [0, 2]], [0, 4])


@pytest.mark.parametrize("way", ["column", "connection", "noaccent"])
def test_collations_of_duckdb_do_not_make_names_one(way: str) -> None:
    values = [("a", "a"), ("A", "á"), ("b", "A"), (None, "A"), (None, "a"), (None, "á"), (None, "A")]
    with duckdb.connect() as connection:
        collation = {"column": "COLLATE NOCASE", "connection": "", "noaccent": "COLLATE NOCASE.NOACCENT"}[way]
        connection.execute("SET default_collation = 'nocase'" if way == "connection" else "")
        connection.execute(f"CREATE TABLE runs (human VARCHAR {collation}, verdict VARCHAR {collation})")
        connection.executemany("INSERT INTO runs VALUES (?, ?)", values)
        counts = tc.count_table(connection.table("runs"), **COLUMNS)
    assert counts == tc.Counts([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [2, 1, 1], ["A", "a", "b"], ["A", "a", "á"])


def test_json_in_duckdb_is_grouped_as_text() -> None:
    table = duckdb.sql(
        """SELECT h AS human, v::JSON AS verdict FROM (VALUES ('a', '1'), ('b', '2'), (NULL, '2')) t(h, v)"""
    )
    assert tc.count_table(table, **COLUMNS).outputs == ("1", "2")


def test_duckdb_needs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    table = of_values(human=["a", "b", None], verdict=["a", "b", "a"])
    assert tc.count_table(table, **COLUMNS) == tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])


def test_time_zones_in_duckdb_need_no_other_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytz", None)
    rows = "('a', 'a', NULL), ('b', 'b', NULL), (NULL, 'a', TIMESTAMPTZ '2024-01-01 00:00:00+00')"
    table = duckdb.sql(f"FROM (VALUES {rows}) t(human, verdict, time)")
    assert list(tc.count_table(table, **COLUMNS, by="time")) == [datetime(2024, 1, 1)]


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")
def test_what_ibis_needs_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict\na,a\nb,b\n,a\n")
    table = pytest.importorskip("ibis").duckdb.connect().read_csv(tmp_path / "t.csv")
    assert tc.count_table(table, **COLUMNS).classes == ("a", "b")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"Counting table with ibis \(pyarrow\) needs the extra 'backends'"):
        tc.count_table(table, **COLUMNS)


def test_a_period_in_the_name_of_a_column_is_told_how_to_be_passed() -> None:
    table = of_values(human=["a", "b", None], verdict=["a", "b", "a"], time=["2024-01-01"] * 3)
    with pytest.raises(InputError, match=r"no column 'time:week'.*Pass by=\{'time': 'week'\}"):
        tc.count_table(table, **COLUMNS, by="time:week")


def test_weights_of_one_table_alone_are_refused_with_a_remedy() -> None:
    labeled, unlabeled = of_values(human=["a", "b"], verdict=["a", "b"]), of_values(verdict=["a"], w=[2.0])
    with pytest.raises(InputError, match=r"labeled has no column 'w': both tables need the weights. Add it there"):
        tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS, weight="w")
    with pytest.raises(InputError, match="Perhaps you meant 'verdict'"):
        tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS, weight="verdikt")


def test_weights_that_neither_table_has_are_not_asked_of_both() -> None:
    labeled, unlabeled = of_values(human=["a", "b"], verdict=["a", "b"], w=[1.0, 1.0]), of_values(verdict=["a"])
    with pytest.raises(InputError, match=r"labeled has no column 'mass': its columns are 'human', 'verdict', 'w'"):
        tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS, weight="mass")
    with pytest.raises(InputError, match=r"unlabeled has no column 'w': both tables need the weights"):
        tc.count_table(labeled=labeled, unlabeled=unlabeled, **COLUMNS, weight="w")


def test_groups_of_one_item_are_refused() -> None:
    verdicts, times = ["a", "b"] * 550, [f"t{number}" for number in range(1100)]
    table = of_values(human=["a", "b", *[None] * 1098], verdict=verdicts, time=times)
    with pytest.raises(InputError, match=r"has 1,098 groups by 'time', of 1,098 rows: .* as in by=\{'time': 'week'\}"):
        tc.count_table(table, **COLUMNS, by="time")
    few = of_values(human=["a", "b", None], verdict=verdicts[:3], time=[1, 2, 3])
    assert list(tc.count_table(few, **COLUMNS, by="time")) == [3]


def odd_columns() -> dict[str, Any]:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    run_ends = pytest.importorskip("pyarrow.compute").run_end_encode
    return {
        "complex": pandas.Series([1 + 0j, 2 + 0j, 1 + 0j]),
        "period": pandas.Series(pandas.period_range("2024-01", periods=3, freq="M")),
        "interval": pandas.Series(pandas.interval_range(0, 3)),
        "run ends": run_ends(arrow.array(["a", "b", "a"])),
        "uuid": arrow.array([b"0" * 16] * 3, arrow.uuid()),
        "map": arrow.array([[("a", 1)]] * 3, arrow.map_(arrow.string(), arrow.int64())),
    }


@pytest.mark.parametrize("kind", ["complex", "period", "interval", "run ends", "uuid", "map"])
@pytest.mark.parametrize("role", ["human", "verdict", "other"])
def test_columns_of_odd_types_are_refused(kind: str, role: str) -> None:
    column = odd_columns()[kind]
    values = {"human": ["a", "b", None], "verdict": ["a", "b", "a"], role: column}
    is_of_pandas = kind in ("complex", "period", "interval")
    table = (BACK_ENDS["pandas"] if is_of_pandas else BACK_ENDS["arrow"])(values, Sparks())
    with pytest.raises(InputError, match=r"names must be strings, numbers or booleans"):
        tc.count_table(table, **COLUMNS, **({"by": "other"} if role == "other" else {}))
    if role == "other":
        with pytest.raises(InputError, match="weights are numbers"):
            tc.count_table(table, **COLUMNS, weight="other")


def test_names_of_columns_are_strings() -> None:
    pandas = pytest.importorskip("pandas")
    levels = pandas.MultiIndex.from_tuples([("human", "x"), ("verdict", "y")])
    rows = [["a", "a"], ["b", "b"], [None, "a"]]
    with pytest.raises(InputError, match=r"table has columns with 2 levels of names.*Join the levels"):
        tc.count_table(pandas.DataFrame(rows, columns=levels), **COLUMNS)
    with pytest.raises(InputError, match="table has no column 'human': its columns are 0, 1"):
        tc.count_table(pandas.DataFrame(rows), **COLUMNS)
    with pytest.raises(InputError, match=r"label is \(1, 'x'\): it must be the name of a column"):
        tc.count_table(pandas.DataFrame(rows), label=(1, "x"), prediction="verdict")
