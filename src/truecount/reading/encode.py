"""A column of any kind becomes codes, and the names that the codes stand for."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._types import IntArray, Name
from truecount.errors import InputError
from truecount.reading.values import as_name

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
_ALLOWED = "values must be strings, numbers or booleans"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``names[codes[row]]`` is the value of a row. Equal names may stand twice."""

    codes: Codes
    names: list[Name]

    def first_row(self, name: Name) -> int:
        """Give the first row that holds `name`."""
        return int(np.isin(self.codes, [code for code, other in enumerate(self.names) if other == name]).argmax())

    def positions(self, names: Iterable[Name]) -> IntArray:
        """Shape (rows,): where each row's value stands among `names`; −1 where it does not."""
        place = {name: position for position, name in enumerate(names)}
        return np.array([place.get(name, -1) for name in self.names], np.int64)[self.codes]


def encode(argument: str, column: Any) -> Column:
    """Give the codes and the names of a column, and refuse it if a value is missing.

    Parameters
    ----------
    argument
        What the caller knows the column as; errors say it.
    column
        A list, a tuple, an array or a Series of strings, numbers or booleans.

    Examples
    --------
    >>> column = encode("labels", ["no", "yes", "no"])
    >>> column.codes, column.names
    (array([0, 1, 0], dtype=int32), ['no', 'yes'])
    """
    try:
        codes, values = _factorize(argument, column)
    except TypeError as error:
        raise InputError(argument, f"cannot be read as a column ({error})", _ALLOWED, "Pass a single column") from error
    _require_present(argument, codes, values)
    _require_few(argument, values)
    return Column(codes, [_name(argument, value) for value in values])


def encode_with_gaps(argument: str, column: Any) -> tuple[Codes, list[Name | None]]:
    """Give the codes and the names of a column, None for missing values; names by the rules of `count_table`.

    Examples
    --------
    >>> encode_with_gaps("labels", ["no", None, " no "])
    (array([0, 1, 2], dtype=int32), ['no', None, 'no'])
    """
    try:
        codes, values = _factorize(argument, column)
    except TypeError as error:
        raise InputError(argument, f"cannot be read as a column ({error})", _ALLOWED, "Pass a single column") from error
    _require_few(argument, values)
    return codes, [as_name(value, table=argument, column=argument) for value in values]


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


def _require_few(argument: str, values: Sized) -> None:
    if len(values) > _MOST_NAMES:
        needed = f"classes and outputs are {_MOST_NAMES:,} at most"
        remedy = "Check that it is the right column, and sort continuous scores into bins"
        raise InputError(argument, f"holds {len(values):,} different values", needed, remedy)


def _require_present(argument: str, codes: Codes, values: Iterable[Any]) -> None:
    missing = [code for code, value in enumerate(values) if _is_missing(value)]
    if not missing:
        return
    rows = np.flatnonzero(np.isin(codes, missing))
    found = f"has {len(rows)} missing value{'s' if len(rows) > 1 else ''}, the first at position {rows[0]}"
    remedy = "Leave those rows out, or name what the box did there, such as 'abstained'"
    if argument == "labels":
        remedy = "Leave those rows out, or use count_table(), which takes rows without a label for the population"
    raise InputError(argument, found, "every row needs a value (positions start at 0)", remedy)


def _is_missing(value: Any) -> bool:
    """Whether it is None, or unequal to itself as NaN and NaT are; pandas' NA is neither equal nor unequal."""
    value = _check.plain_name(value)
    return value is None or (value == value) is not True


def _name(argument: str, value: Any) -> Name:
    value = _check.plain_name(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    raise InputError(argument, f"holds {value!r}", _ALLOWED, "Convert it, for instance with str()")
