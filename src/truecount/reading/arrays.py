"""Columns in memory become rows: codes for the values of each column, then one count of their combinations."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from truecount._types import FloatArray, IntArray, Name
from truecount.errors import InputError
from truecount.reading.names import Key, as_key, as_name, each_part, parts_of
from truecount.reading.rows import Row, without

Codes: TypeAlias = NDArray[np.signedinteger[Any]]
Encoded: TypeAlias = tuple[Codes, list[Any]]

BLOCK = 1 << 15
"""Rows handled at a time: few enough to stay in the processor's cache."""
_TABLE_BITS = (12, 16, 20)
"""Sizes of the hash table; the next is tried where two values of a block fell into one slot."""
_MULTIPLIER = 0x9E3779B1
"""Odd, and close to 2**32 over the golden ratio, which spreads neighbours far apart."""
_WIDEST_RANGE = 1 << 16
"""Integers no further apart than this are looked up in a table; wider ones are hashed."""
_MOST_NAMES = 100_000
"""More different values than this are not classes or outputs."""
_MOST_CELLS = 10_000_000
"""More possible combinations than this are sorted instead of being looked up in a table."""
_ALLOWED = "values must be strings, numbers or booleans"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``names[codes[row]]`` is the value of a row, or None. Equal names may occur twice."""

    codes: Codes
    names: list[Any]

    def first_row(self, name: Name | None) -> int:
        """Return the first row that holds `name`."""
        return int(np.isin(self.codes, [code for code, other in enumerate(self.names) if other == name]).argmax())

    def positions(self, names: Iterable[Name]) -> IntArray:
        """Shape (rows,): where each row's value stands among `names`; −1 where it does not."""
        place = {name: position for position, name in enumerate(names)}
        return np.array([place.get(name, -1) for name in self.names], np.int64)[self.codes]

    def require_full(self, argument: str) -> None:
        """Refuse a column with missing values."""
        missing = [code for code, name in enumerate(self.names) if name is None]
        if not missing:
            return
        rows = np.flatnonzero(np.isin(self.codes, missing))
        found = f"has {len(rows)} missing value{'s' if len(rows) > 1 else ''}, the first at position {rows[0]}"
        remedy = "Leave those rows out, or name what the classifier did there, such as 'abstained'"
        if argument == "labels":
            remedy = "Leave those rows out, or use count_table(), which takes rows without a label for the population"
        raise InputError(argument, found, "every row needs a value (positions start at 0)", remedy)

    def require_named(self, argument: str, names_argument: str, names: Sequence[Name]) -> None:
        """Refuse a value that the caller did not name."""
        known = frozenset(names)
        for name in self.names:
            if any(part not in known for part in parts_of(name) if part is not None or not isinstance(name, tuple)):
                listed = ", ".join(map(repr, names[:9])) + (", …" if len(names) > 9 else "")
                found = f"holds {name!r}, first at position {self.first_row(name)}"
                remedy = f"Add it to {names_argument}=[...], or correct the column"
                raise InputError(argument, found, f"{names_argument} names only {listed}", remedy)

    def require_length(self, argument: str, other: str, length: int) -> None:
        """Refuse a column that is not as long as another one of the same items."""
        if len(self.codes) != length:
            found, needed = f"has {len(self.codes)} rows but {other} has {length}", "each item needs both"
            raise InputError(argument, found, needed, "Pass columns of the same rows")


def encode(argument: str, column: Any) -> Column:
    """Return the codes and the names of a column, and refuse it if a value is missing.

    Parameters
    ----------
    argument
        What the caller knows the column as; errors say it.
    column
        A list, a tuple, an array or a Series of strings, numbers or booleans.

    Examples
    --------
    >>> column = encode("labels", ["no", "yes", " no"])
    >>> column.codes, column.names
    (array([0, 1, 2], dtype=int32), ['no', 'yes', 'no'])
    """
    found = encode_with_gaps(argument, column)
    found.require_full(argument)
    return found


def encode_with_gaps(argument: str, column: Any, missing: Collection[str] = ()) -> Column:
    """Return the codes and the names of a column, None for missing values and for words that mean one."""
    codes, values = _factorized(argument, column)
    return Column(codes, [without(as_name(value, table=argument), missing) for value in values])


def encode_columns(argument: str, columns: Any, missing: Collection[str] = ()) -> Column:
    """Return the codes and the names of one column, or of the combinations of several: a mapping, or a frame."""
    named = columns_in_memory(argument, columns)
    if named is None or len(named) == 1:
        return encode_with_gaps(argument, columns if named is None else next(iter(named.values())), missing)
    found = {
        f"{argument}[{name!r}]": encode_with_gaps(f"{argument}[{name!r}]", each, missing)
        for name, each in named.items()
    }
    length = len(next(iter(found.values())).codes)
    for name, column in found.items():
        column.require_length(name, next(iter(found)), length)
    every = list(found.values())
    cells, codes = np.unique(_combined(every, slice(None)), return_inverse=True)
    places = np.unravel_index(cells, [max(len(column.names), 1) for column in every])
    values = zip(
        *([column.names[at] for at in place] for column, place in zip(every, places, strict=True)), strict=True
    )
    return Column(codes, [each_part(tuple(value), lambda name: name) for value in values])


def columns_in_memory(argument: str, given: Any) -> dict[str, Any] | None:
    """Return several columns by name, where a mapping or a frame was given; None where it is one column.

    >>> columns_in_memory("predictions", {"gpt4": ["yes"], "bem": ["no"]})
    {'gpt4': ['yes'], 'bem': ['no']}
    """
    if not isinstance(given, Mapping) and not (hasattr(given, "columns") and hasattr(given, "__getitem__")):
        return None
    names = list(given if isinstance(given, Mapping) else given.columns)
    if not names:
        needed = "it must be a column, or a mapping from name to column"
        raise InputError(argument, "holds no columns", needed, "Pass {'first': [...], 'second': [...]}")
    return {str(name): given[name] for name in names}


def named_columns(argument: str, given: Any) -> str | tuple[str, ...]:
    """Return the names of several columns in memory, or the argument itself where it is one column."""
    several = columns_in_memory(argument, given)
    return argument if several is None or len(several) == 1 else tuple(several)


def encode_clusters(argument: str, column: Any) -> Column:
    """Return the codes and the names of a column of clusters, of which there may be many."""
    codes, values = _factorize(argument, column)
    return Column(codes, [as_name(value, table=argument) for value in values])


def encode_keys(argument: str, column: Any) -> Column:
    """Return the codes and the keys of a column of groups: names, dates or times, None for missing ones."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        column = column.astype("M8[D]" if np.datetime_data(column.dtype)[0] in "YMWD" else "M8[us]").tolist()
    codes, values = _factorized(argument, column)
    keys: list[Key] = [as_key(value, table=argument) for value in values]
    return Column(codes, keys)


def array_rows(
    labels: Column | None,
    predictions: Column,
    *,
    groups: Sequence[Column] = (),
    weights: FloatArray | None = None,
    cluster: Column | None = None,
) -> list[Row]:
    """Count the combinations of values in columns of the same items.

    Parameters
    ----------
    labels
        The true class of every item, None where it is not known; None where no item has a label.
    predictions
        The output for the same items.
    groups
        What groups are made by, a column for each part of a group's key.
    weights
        Shape (items,): the weight of each item; 1 if left out.
    cluster
        Which items belong together.

    Examples
    --------
    >>> array_rows(encode("labels", ["a", "b", "a"]), encode("predictions", ["a", "a", "a"]))[0]
    Row(group=(), label='a', output='a', rows=2, weight=2, squares=2, cluster=None, label_group=())
    """
    clusters = [] if cluster is None else [cluster]
    columns = [*clusters, *groups, *([] if labels is None else [labels]), predictions]
    cells, numbers, sums = _combinations(columns, weights)
    places = np.unravel_index(cells, [max(len(column.names), 1) for column in columns])
    values = zip(
        *([column.names[place] for place in found.tolist()] for column, found in zip(columns, places, strict=True)),
        strict=True,
    )
    return [
        Row(
            tuple(value[len(clusters) : len(clusters) + len(groups)]),
            None if labels is None else value[-2],
            value[-1],
            rows,
            *weighed,
            *value[: len(clusters)],
        )
        for value, rows, *weighed in zip(values, numbers.tolist(), *(each.tolist() for each in sums), strict=True)
    ]


def _combinations(columns: Sequence[Column], weights: FloatArray | None) -> tuple[IntArray, IntArray, list[Any]]:
    """Return which combinations of codes occur, how often, and the sums of weights and of their squares."""
    size = prod(max(len(column.names), 1) for column in columns)
    if size >= 2**63:
        shown = " × ".join(f"{len(column.names):,}" for column in columns)
        needed = "these must be columns of names, and groups of many items"
        raise InputError("predictions", f"has {shown} combinations with the others", needed, "Choose other columns")
    if size <= _MOST_CELLS:
        numbers = np.zeros(size, np.int64)
        sums: list[Any] = [] if weights is None else [np.zeros(size), np.zeros(size)]
        block = max(BLOCK, size)
        for start in range(0, len(columns[0].codes), block):
            rows = slice(start, start + block)
            codes = _combined(columns, rows)
            numbers += np.bincount(codes, minlength=size)
            for power, total in enumerate(sums, 1):
                total += np.bincount(codes, weights[rows] ** power, size)  # type: ignore[index]
        cells = np.flatnonzero(numbers)
        return cells, numbers[cells], [total[cells] for total in sums or [numbers, numbers]]
    cells, place, numbers = np.unique(_combined(columns, slice(None)), return_inverse=True, return_counts=True)
    if weights is None:
        return cells, numbers, [numbers, numbers]
    return cells, numbers, [np.bincount(place, weights**power) for power in (1, 2)]


def _combined(columns: Sequence[Column], rows: slice) -> IntArray:
    codes: Any = np.int64(0)
    for column in columns:
        codes = codes * len(column.names) + column.codes[rows]
    return np.asarray(codes, np.int64)


def _factorized(argument: str, column: Any) -> Encoded:
    try:
        codes, values = _factorize(argument, column)
    except TypeError as error:
        raise InputError(argument, f"cannot be read as a column ({error})", _ALLOWED, "Pass a single column") from error
    if len(values) > _MOST_NAMES:
        needed = f"classes and outputs are {_MOST_NAMES:,} at most"
        remedy = "Check that it is the right column, and sort continuous scores into bins"
        raise InputError(argument, f"holds {len(values):,} different values", needed, remedy)
    return codes, values


def _factorize(argument: str, column: Any) -> Encoded:
    """Let a column encode itself if it can, told by its methods: nothing needs to be imported to recognise it."""
    own_ways: dict[str, Callable[[Any], Encoded]] = {
        "factorize": _from_pandas,
        "dictionary_encode": _from_arrow,
        "replace_strict": _from_polars,
    }
    if not hasattr(column, "__len__") or isinstance(column, str | bytes | bytearray | Mapping | AbstractSet):
        needed = "it must be a column, a value for each row"
        raise InputError(argument, f"is of type {type(column).__name__}", needed, "Pass a list, an array or a Series")
    for method, way in own_ways.items():
        if hasattr(column, method):
            return way(column)
    if hasattr(column, "__array__"):
        return _from_array(_checked(argument, np.asanyarray(column)))
    return _from_objects(column)


def _from_pandas(series: Any) -> Encoded:
    codes, values = series.factorize(use_na_sentinel=False)
    return np.asarray(codes, np.int32), values.tolist()


def _from_arrow(array: Any) -> Encoded:
    encoded = array.dictionary_encode()
    if hasattr(encoded, "unify_dictionaries"):
        encoded = encoded.unify_dictionaries().combine_chunks()
    codes, seen = _from_array(encoded.indices.fill_null(-1).to_numpy())
    levels = [*encoded.dictionary.to_pylist(), None]  # -1 is the last of them
    return codes, [levels[level] for level in seen]


def _from_polars(series: Any) -> Encoded:
    if str(series.dtype) == "Object":
        return _from_objects(series.to_list())
    values = series.unique().to_list()
    return series.replace_strict(values, list(range(len(values)))).to_numpy().astype(np.int32), values


def _from_objects(values: Collection[Any]) -> Encoded:
    code_of: defaultdict[Any, int] = defaultdict(count().__next__)
    return np.fromiter(map(code_of.__getitem__, values), np.int32, len(values)), list(code_of)


def _checked(argument: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1:
        raise InputError(argument, f"has shape {array.shape}", "it must be one column", "Pass a single column of it")
    if array.dtype.kind not in "biufUTO":
        remedy = "Convert it, for instance with astype(str)"
        raise InputError(argument, f"holds {array.dtype.name} values", _ALLOWED, remedy)
    return array


def _from_array(array: NDArray[Any]) -> Encoded:
    """Encode block by block, each with codes of its own, which a dictionary then makes one."""
    if array.dtype.kind in "TO" or isinstance(array, np.ma.MaskedArray):
        return _from_objects(array.tolist())
    code_of: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.empty(len(array), np.int32)
    for start in range(0, len(array), BLOCK):
        block = slice(start, start + BLOCK)
        own_codes, values = _from_block(array[block])
        codes[block] = np.array([code_of[value] for value in values])[own_codes]
    return codes, list(code_of)


def _from_block(array: NDArray[Any]) -> Encoded:
    if array.dtype.kind == "f":
        return _by_hash(array.astype(np.float64))
    if array.dtype.kind == "U" or int(array.max()) - int(array.min()) > _WIDEST_RANGE:
        return _by_hash(np.ascontiguousarray(array))
    return _by_distance(array)


def _by_distance(array: NDArray[Any]) -> Encoded:
    """Encode integers that lie close together by their distance from the lowest."""
    low = int(array.min())
    distances = array.astype(np.uint64)
    distances -= np.uint64(low % 2**64)  # modulo 2**64, where it is exact for every kind of integer
    places = distances.view(np.int64)
    seen = np.flatnonzero(np.bincount(places))
    code_of = np.zeros(seen[-1] + 1, np.int64)
    code_of[seen] = np.arange(len(seen))
    kind = bool if array.dtype == bool else int
    return code_of[places], [kind(low + distance) for distance in seen.tolist()]


def _by_hash(array: NDArray[Any]) -> Encoded:
    """Encode by a hash of each row's bytes, kept only if it is seen to tell every two values apart."""
    words = array.view(np.uint32).reshape(len(array), -1)
    hashes = words @ np.cumprod(np.full(words.shape[1], _MULTIPLIER, np.uint32), dtype=np.uint32)
    rows = np.arange(len(array))
    for bits in _TABLE_BITS:
        slots = hashes >> np.uint32(32 - bits)
        table = np.empty(1 << bits, np.int64)
        table[slots] = rows
        like = table[slots]  # for each row, one of the same slot
        if np.array_equal(words.take(like, axis=0), words):
            chosen = np.flatnonzero(like == rows)
            table[slots[chosen]] = np.arange(len(chosen))
            return table[slots], array[chosen].tolist()
    return _from_objects(array.tolist())
