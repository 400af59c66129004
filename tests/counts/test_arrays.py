"""`count` on every kind of column, against tables made by hand and against a plain loop."""

from collections import Counter
from enum import Enum, IntEnum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truecount as tc

WORDS = ["no", "yes", "don't know", "été", "a b"]
SMALL = [-3, 0, 2, 100]
LARGE = [-(2**62), -1, 0, 5_000_000_000, 2**62]
BOOLS = [False, True]
FRACTIONS = [-1.5, 0.0, 0.5, 2.0]


def pandas_series(dtype):
    return lambda values: pytest.importorskip("pandas").Series(values, dtype=dtype)


def polars_series(dtype):
    def build(values):
        polars = pytest.importorskip("polars")
        kind = polars.Enum(WORDS) if dtype == "Enum" else getattr(polars, dtype)
        return polars.Series(values, dtype=kind)

    return build


def arrow_array(dtype):
    return lambda values: pytest.importorskip("pyarrow").array(values, dtype)


def arrow_chunks(dtype):
    def build(values):
        pyarrow = pytest.importorskip("pyarrow")
        halves = [values[: len(values) // 2], values[len(values) // 2 :]]
        return pyarrow.chunked_array([pyarrow.array(half, dtype) for half in halves], dtype)

    return build


def arrow_dictionary(build):
    return lambda values: build("string")(values).dictionary_encode()


def object_array(values):
    result = np.empty(len(values), object)
    result[:] = values
    return result


KINDS = {
    "list of strings": (list, WORDS),
    "tuple of strings": (tuple, WORDS),
    "list of ints": (list, LARGE),
    "list of bools": (list, BOOLS),
    "list of mixed names": (list, ["a", 3, 0.5, True, 2**70]),
    "numpy int8": (lambda values: np.array(values, np.int8), SMALL),
    "numpy int64": (lambda values: np.array(values, np.int64), SMALL),
    "numpy int64, far apart": (lambda values: np.array(values, np.int64), LARGE),
    "numpy uint8": (lambda values: np.array(values, np.uint8), [0, 1, 255]),
    "numpy uint64": (lambda values: np.array(values, np.uint64), [2**64 - 1, 2**64 - 3]),
    "numpy uint64, far apart": (lambda values: np.array(values, np.uint64), [0, 7, 2**64 - 1]),
    "numpy bool": (lambda values: np.array(values, bool), BOOLS),
    "numpy float64, whole": (lambda values: np.array(values, np.float64), SMALL),
    "numpy float64": (lambda values: np.array(values, np.float64), FRACTIONS),
    "numpy float16": (lambda values: np.array(values, np.float16), FRACTIONS),
    "numpy strings": (lambda values: np.array(values, "U10"), WORDS),
    "numpy strings, other byte order": (lambda values: np.array(values, ">U10"), WORDS),
    "numpy strings, every second": (lambda values: np.repeat(np.array(values, "U10"), 2)[::2], WORDS),
    "numpy StringDType": (lambda values: np.array(values, np.dtypes.StringDType()), WORDS),
    "numpy objects": (object_array, ["a", 3, 0.5, True]),
    "pandas default": (pandas_series(None), WORDS),
    "pandas object": (pandas_series(object), ["a", 3, 0.5, True]),
    "pandas string": (pandas_series("string"), WORDS),
    "pandas category": (pandas_series("category"), WORDS),
    "pandas category of ints": (pandas_series("category"), LARGE),
    "pandas int64": (pandas_series("int64"), LARGE),
    "pandas Int64": (pandas_series("Int64"), LARGE),
    "pandas float64": (pandas_series("float64"), SMALL),
    "pandas bool": (pandas_series(bool), BOOLS),
    "pandas boolean": (pandas_series("boolean"), BOOLS),
    "pandas index": (lambda values: pytest.importorskip("pandas").Index(values), WORDS),
    "polars String": (polars_series("String"), WORDS),
    "polars Categorical": (polars_series("Categorical"), WORDS),
    "polars Enum": (polars_series("Enum"), WORDS),
    "polars Int64": (polars_series("Int64"), LARGE),
    "polars UInt8": (polars_series("UInt8"), [0, 255]),
    "polars Float64": (polars_series("Float64"), FRACTIONS),
    "polars Object": (polars_series("Object"), ["a", 3, 0.5, True]),
    "polars Boolean": (polars_series("Boolean"), BOOLS),
    "arrow string": (arrow_array("string"), WORDS),
    "arrow int64": (arrow_array("int64"), LARGE),
    "arrow bool": (arrow_array("bool"), BOOLS),
    "arrow dictionary": (arrow_dictionary(arrow_array), WORDS),
    "arrow chunks of strings": (arrow_chunks("string"), WORDS),
    "arrow chunks of ints": (arrow_chunks("int16"), SMALL),
    "arrow chunks of dictionaries": (arrow_dictionary(arrow_chunks), WORDS),
}
columns = pytest.mark.parametrize(("build", "names"), KINDS.values(), ids=KINDS.keys())


def count_naively(labels, predictions, new):
    """Count by a loop; numbers sort before strings."""

    def ordered(values):
        return sorted(set(values), key=lambda name: (isinstance(name, str), name))

    classes, outputs = ordered(labels), ordered([*predictions, *new])
    pairs, singles = Counter(zip(labels, predictions, strict=True)), Counter(new)
    return [[pairs[c, k] for k in outputs] for c in classes], [singles[k] for k in outputs], classes, outputs


def assert_same(counts, expected):
    labeled, unlabeled, classes, outputs = expected
    assert counts.labeled.tolist() == labeled
    assert counts.unlabeled.tolist() == unlabeled
    assert list(counts.classes) == classes
    assert list(counts.outputs) == outputs
    assert counts.labeled.dtype == counts.unlabeled.dtype == np.int64
    assert {type(name) for name in (*counts.classes, *counts.outputs)} <= {str, int, float, bool}


@columns
def test_every_kind_of_column_gives_the_table_made_by_hand(build, names):
    first, last = names[0], names[-1]
    counts = tc.count(build([last, first, last, last]), build([first, first, last, last]), build([last] * 5))
    if first == sorted([first, last], key=lambda name: (isinstance(name, str), name))[0]:
        assert_same(counts, ([[1, 0], [1, 2]], [0, 5], [first, last], [first, last]))
    else:
        assert_same(counts, ([[2, 1], [0, 1]], [5, 0], [last, first], [last, first]))


@columns
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_kind_of_column_counts_like_a_loop(build, names, data):
    values = st.sampled_from(names)
    two_classes = [(names[0], names[1]), (names[1], names[0])]
    pairs = data.draw(st.lists(st.tuples(values, values), max_size=30)) + two_classes
    labels, predictions = (list(side) for side in zip(*pairs, strict=True))
    new = [*data.draw(st.lists(values, max_size=10)), predictions[0]]
    assert_same(tc.count(build(labels), build(predictions), build(new)), count_naively(labels, predictions, new))


@pytest.mark.parametrize("kind", [str, int, float, object])
def test_arrays_of_many_blocks_and_many_names_count_like_a_loop(kind):
    generator = np.random.default_rng(5)
    numbers = generator.integers(0, 40, (3, 100_000)) ** 5
    labels, predictions, new = numbers.astype(kind)
    counts = tc.count(labels, predictions, new)
    assert_same(counts, count_naively(labels.tolist(), predictions.tolist(), new.tolist()))


def test_columns_of_different_kinds_go_together():
    counts = tc.count(np.array([0, 1, 1]), ["low", "high", "high"], np.array(["low", "low"]))
    assert_same(counts, ([[0, 1], [2, 0]], [0, 2], [0, 1], ["high", "low"]))


def test_an_output_seen_only_in_the_unlabelled_population_is_a_column_of_zeros():
    counts = tc.count(["a", "b"], ["a", "b"], ["abstain", "a"])
    assert_same(counts, ([[1, 0, 0], [0, 0, 1]], [1, 1, 0], ["a", "b"], ["a", "abstain", "b"]))


def test_a_class_named_but_never_labelled_is_a_row_of_zeros_and_the_callers_order_stands():
    counts = tc.count(["b", "a"], ["b", "b"], ["a"], classes=["c", "b", "a"], outputs=np.array(["b", "z", "a"]))
    assert_same(counts, ([[0, 0, 0], [1, 0, 0], [1, 0, 0]], [0, 0, 1], ["c", "b", "a"], ["b", "z", "a"]))


def test_names_given_as_a_set_are_sorted():
    assert tc.count(["b", "a"], ["b", "b"], [], classes={"c", "b", "a"}).classes == ("a", "b", "c")


def test_levels_that_never_occur_are_left_out():
    pandas = pytest.importorskip("pandas")
    levels = pandas.CategoricalDtype(["z", "b", "a"], ordered=True)
    column = pandas.Series(["b", "a"], dtype=levels)
    assert tc.count(column, column, column).classes == ("a", "b")
    assert tc.count(column, column, column, classes=levels.categories).classes == ("z", "b", "a")


def test_levels_of_arrow_and_polars_that_never_occur_are_left_out():
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for column in (
        pyarrow.DictionaryArray.from_arrays([2, 0, 2], ["b", "unused", "a"]),
        polars.Series(["a", "b", "a"], dtype=polars.Enum(["b", "unused", "a"])),
    ):
        assert_same(tc.count(column, column, column), ([[2, 0], [0, 1]], [2, 1], ["a", "b"], ["a", "b"]))


def test_true_is_one_and_the_first_spelling_stays():
    counts = tc.count(np.array([True, False, True]), np.array([1, 0, 0]), np.array([1.0, 1.0]))
    assert counts.labeled.tolist() == [[1, 0], [1, 1]]
    assert (counts.classes, counts.outputs) == ((False, True), (0, 1))
    assert [type(name) for name in (*counts.classes, *counts.outputs)] == [bool, bool, int, int]
    assert counts.counted.tolist() == [0, 1]


def test_members_of_enumerations_are_their_values():
    colour = Enum("colour", {"RED": "red", "BLUE": "blue"}, type=str)
    grade = IntEnum("grade", {"BAD": 0, "GOOD": 1})
    counts = tc.count([colour.RED, colour.BLUE], [grade.GOOD, grade.BAD], [1])
    assert_same(counts, ([[1, 0], [0, 1]], [0, 1], ["blue", "red"], [0, 1]))


def test_zero_has_no_sign():
    assert tc.count(np.array([0.0, -0.0, 1.0]), np.array([-0.0, 0.0, 1.0]), []).labeled.tolist() == [[2, 0], [0, 1]]


def test_the_index_of_a_pandas_column_is_ignored():
    pandas = pytest.importorskip("pandas")
    labels, predictions = pandas.Series(["a", "b"], index=[1, 0]), pandas.Series(["a", "b"])
    assert tc.count(labels, predictions, predictions).labeled.tolist() == [[1, 0], [0, 1]]


@settings(deadline=None)
@given(
    data=st.lists(
        st.tuples(
            st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"))),
            st.lists(st.sampled_from("xyz"), max_size=9),
        ),
        min_size=2,
        max_size=2,
    )
)
def test_merging_counts_equals_counting_merged_data(data):
    named = {"classes": ["b", "a"], "outputs": ["x", "z", "y"]}
    shards = [tc.count([c for c, _ in pairs], [k for _, k in pairs], new, **named) for pairs, new in data]
    pairs, new = data[0][0] + data[1][0], data[0][1] + data[1][1]
    assert shards[0] + shards[1] == tc.count([c for c, _ in pairs], [k for _, k in pairs], new, **named)


def test_no_labelled_rows_count_where_classes_are_named():
    counts = tc.count([], [], ["x", "y", "x"], classes=["a", "b"])
    assert_same(counts, ([[0, 0], [0, 0]], [2, 1], ["a", "b"], ["x", "y"]))


def test_no_unlabelled_rows_are_allowed():
    assert tc.count([0, 1], [1, 1], np.array([])).unlabeled.tolist() == [0]


def test_outputs_that_no_labelled_item_has_are_refused_unless_they_are_named():
    columns = ["Yes", "No"], ["Yes", "No"], ["yes", "no", "yes"]
    with pytest.raises(
        tc.InputError, match=r"predictions has 'No' and 'Yes' .* perhaps 'no' is 'No' and 'yes' is 'Yes'"
    ):
        tc.count(*columns)
    counts = tc.count(*columns, outputs=["No", "Yes", "no", "yes"])
    assert counts.unlabeled.tolist() == [0, 0, 1, 2]
    assert tc.count(*columns[:2], []).unlabeled.sum() == 0
    with pytest.raises(tc.InputError, match="'no' is 'No'"):
        tc.Counter().update(*columns[:2]).update(None, columns[2]).counts  # noqa: B018
