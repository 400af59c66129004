"""What `count` refuses, and that a hash which fails to tell values apart never miscounts."""

import numpy as np
import pytest

import truecount as tc
from truecount.errors import InputError
from truecount.reading import arrays as module
from truecount.reading.arrays import encode


def pandas(values, dtype=None):
    return pytest.importorskip("pandas").Series(values, dtype=dtype)


def polars_categorical(values):
    polars = pytest.importorskip("polars")
    return polars.Series(values, dtype=polars.Categorical)


def missing_scalars(name):
    return getattr(pytest.importorskip("pandas"), name)


HOLES = {
    "None in a list": lambda: ["a", None, "b", None],
    "NaN in a list": lambda: [1, float("nan"), 2, np.float64("nan")],
    "NaN among objects": lambda: np.array(["a", float("nan"), "b", None], object),
    "NaN in floats": lambda: np.array([1.0, np.nan, 2.0, np.nan]),
    "NaN of another sign": lambda: np.array([1.0, -np.nan, 2.0, np.nan], np.float32),
    "masked integers": lambda: np.ma.array([1, 2, 3, 4], mask=[False, True, False, True]),
    "StringDType": lambda: np.array(["a", None, "b", None], np.dtypes.StringDType(na_object=None)),
    "pandas NA in a list": lambda: ["a", missing_scalars("NA"), "b", missing_scalars("NaT")],
    "pandas str": lambda: pandas(["a", None, "b", None]),
    "pandas object": lambda: pandas(["a", None, "b", float("nan")], object),
    "pandas string": lambda: pandas(["a", None, "b", None], "string"),
    "pandas category": lambda: pandas(["a", None, "b", None], "category"),
    "pandas float": lambda: pandas([1, None, 2, None]),
    "pandas Int64": lambda: pandas([1, None, 2, None], "Int64"),
    "pandas boolean": lambda: pandas([True, None, False, None], "boolean"),
    "polars String": lambda: pytest.importorskip("polars").Series(["a", None, "b", None]),
    "polars Int64": lambda: pytest.importorskip("polars").Series([1, None, 2, None]),
    "polars Float64": lambda: pytest.importorskip("polars").Series([1.0, float("nan"), 2.0, None]),
    "polars Categorical": lambda: polars_categorical(["a", None, "b", None]),
    "arrow string": lambda: pytest.importorskip("pyarrow").array(["a", None, "b", None]),
    "arrow chunks": lambda: pytest.importorskip("pyarrow").chunked_array([["a", None], ["b", None]]),
    "arrow dictionary": lambda: pytest.importorskip("pyarrow").array(["a", None, "b", None]).dictionary_encode(),
    "null among arrow's levels": lambda: pytest.importorskip("pyarrow").DictionaryArray.from_arrays(
        [0, 1, 2, 1], ["a", None, "b"]
    ),
}


@pytest.mark.parametrize("make", HOLES.values(), ids=HOLES.keys())
@pytest.mark.parametrize("argument", ["labels", "predictions", "new_predictions"])
def test_missing_values_are_counted_and_the_first_is_found(make, argument):
    columns = {"labels": [0, 1, 0, 1], "predictions": [0, 1, 0, 1], "new_predictions": [0, 1], argument: make()}
    with pytest.raises(InputError) as caught:
        tc.count(**columns)
    assert str(caught.value) == (
        f"{argument} has 2 missing values, the first at position 1: every row needs a value (positions start at 0). "
        "Leave those rows out, or "
        + (
            "use count_table(), which takes rows without a label for the population."
            if argument == "labels"
            else "name what the classifier did there, such as 'abstained'."
        )
    )


def test_one_missing_value_is_one():
    with pytest.raises(InputError, match="has 1 missing value, the first at position 0:"):
        tc.count([None, 1], [0, 1], [])


def test_a_missing_value_far_down_is_found():
    labels = np.zeros(200_000)
    labels[170_001] = np.nan
    with pytest.raises(InputError, match="has 1 missing value, the first at position 170001:"):
        tc.count(labels, labels, [])


NO_COLUMNS = {
    "a string": ("abc", "is of type str"),
    "bytes": (b"abc", "is of type bytes"),
    "a number": (3, "is of type int"),
    "nothing": (None, "is of type NoneType"),
    "a set": ({1, 2}, "is of type set"),
    "a mapping": ({1: 2}, "is of type dict"),
    "a generator": ((i for i in range(3)), "is of type generator"),
    "a NumPy number": (np.int64(3), "is of type int64"),
    "an array without axes": (np.array(3), "has shape ()"),
    "an array of columns": (np.zeros((3, 1)), "has shape (3, 1)"),
    "dates": (np.array(["2024-01-01"], "M8[D]"), "holds datetime64[D] values"),
    "arrays of bytes": (np.array([b"a"]), "holds bytes8 values"),
    "complex numbers": (np.array([1j]), "holds complex128 values"),
    "a list of lists": ([[1, 2], [3, 4]], "cannot be read as a column (unhashable type: 'list')"),
    "a list of tuples": ([(1, 2), (3, 4)], "holds (1, 2)"),
    "a list of bytes": ([b"a"], "holds b'a'"),
    "infinity": (np.array([1.0, np.inf]), "holds inf"),
}


@pytest.mark.parametrize(("column", "found"), NO_COLUMNS.values(), ids=NO_COLUMNS.keys())
def test_what_is_no_column_is_refused(column, found):
    with pytest.raises(InputError) as caught:
        encode("labels", column)
    assert (caught.value.argument, caught.value.found) == ("labels", found)
    assert "must be" in caught.value.needed
    assert caught.value.remedy.split()[0] in {"Pass", "Convert"}


def test_frames_and_expressions_are_refused():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for kind in (pandas.DataFrame, polars.DataFrame):
        with pytest.raises(InputError, match="both sides have the same classifiers"):
            tc.count([0, 1], [0, 1], kind({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(InputError, match="is of type Expr"):
        tc.count([0, 1], [0, 1], polars.col("a"))
    with pytest.raises(InputError, match="cannot be read as a column"):
        tc.count([0, 1], [0, 1], pandas.Series([[1], [2]]))


def test_lengths_that_disagree_are_refused():
    with pytest.raises(InputError) as caught:
        tc.count([0, 1, 1], [0, 1], [])
    assert str(caught.value) == (
        "labels has 3 rows but predictions has 2: each item needs both. Pass columns of the same rows."
    )


@pytest.mark.parametrize(
    ("labels", "found"),
    [([], "counts hold no labels yet"), (["a", "a"], "labels has only the label 'a': .* or name every class")],
)
def test_fewer_than_two_classes_are_refused(labels, found):
    with pytest.raises(InputError, match=found):
        tc.count(labels, labels, ["a"])


def test_no_output_at_all_is_refused():
    with pytest.raises(InputError, match="labeled has no output columns"):
        tc.count([], [], [], classes=["a", "b"])


def test_a_value_without_a_name_is_refused_and_named():
    with pytest.raises(InputError) as caught:
        tc.count(["a", "b", "maybe"], ["a", "b", "b"], [], classes=["b", "a"])
    assert str(caught.value) == (
        "labels holds 'maybe', first at position 2: classes names only 'b', 'a'. "
        "Add it to classes=[...], or correct the column."
    )
    with pytest.raises(
        InputError, match=r"new_predictions holds 12, first at position 1: outputs names only 0, .*, 8, …"
    ):
        tc.count([0, 1], [0, 1], [5, 12, 12], outputs=range(12))


def test_a_number_that_looks_like_a_string_is_refused_unless_both_are_named():
    with pytest.raises(InputError) as caught:
        tc.count([0, 1], [0, 1], ["0", "1"])
    assert str(caught.value) == (
        "outputs hold both 0 and '0': a number and a string that look alike would be counted apart. "
        "Convert the columns to one kind, or name both with outputs=[...]."
    )
    assert tc.count([0, 1], [0, 1], ["0", "1"], outputs=[0, 1, "0", "1"]).unlabeled.tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="classes and outputs hold both 0 and '0'"):
        tc.count([0, 1], ["0", "1"], ["0", "1"])
    assert tc.count([0, 1], ["0", "1"], ["0", "1"], outputs=["0", "1"]).outputs == ("0", "1")


def test_continuous_scores_are_refused():
    scores = np.random.default_rng(1).random(100_001)
    with pytest.raises(InputError) as caught:
        tc.count(scores < 0.5, scores, scores)
    assert str(caught.value) == (
        "predictions holds 100,001 different values: classes and outputs are 100,000 at most. "
        "Check that it is the right column, and sort continuous scores into bins."
    )


def test_a_table_too_large_for_memory_is_refused():
    with pytest.raises(InputError) as caught:
        tc.count(np.arange(4000), np.arange(4000), [], classes=range(4000), outputs=range(4000))
    assert str(caught.value) == (
        "labels and predictions make 4,000 classes and 4,000 outputs: a table of counts has 10,000,000 cells at most. "
        "Check that these are the right columns, and sort continuous scores into bins."
    )


def test_more_than_a_thousand_names_are_refused_unless_they_are_named():
    labels = np.arange(1001)
    with pytest.raises(InputError, match=r"labels has 1,001 different values: .* name them all in classes=\[\.\.\.\]"):
        tc.count(labels, labels % 2, [])
    assert tc.count(labels, labels % 2, [], classes=range(1001)).labeled.shape == (1001, 2)


@pytest.mark.parametrize("names", ["ab", 2])
def test_names_must_be_a_list(names):
    with pytest.raises(InputError, match=f"classes is {names!r}: it must list a name for each"):
        tc.count([0, 1], [0, 1], [], classes=names)


@pytest.mark.parametrize(("table_bits", "multiplier"), [((), 1), ((1,), 3), ((1, 2, 3), 0x9E3779B1), ((12,), 0)])
def test_collisions_never_miscount(monkeypatch, table_bits, multiplier):
    monkeypatch.setattr(module, "_TABLE_BITS", table_bits)
    monkeypatch.setattr(module, "_MULTIPLIER", multiplier)
    monkeypatch.setattr(module, "BLOCK", 100)
    numbers = np.random.default_rng(2).integers(0, 30, 1000)
    for array in (numbers.astype(str), numbers / 7, numbers * 2**40):
        column = encode("labels", array)
        assert [column.names[code] for code in column.codes] == array.tolist()
        assert len(column.names) == len(set(array.tolist()))


def test_strings_whose_hashes_are_equal_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "_MULTIPLIER", 1)
    column = encode("labels", np.array(["ab", "ba", "ab", "aab"]))
    assert [column.names[code] for code in column.codes] == ["ab", "ba", "ab", "aab"]
