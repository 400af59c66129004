"""One rule for words that may mean that a value is missing, in labels and predictions alike.

The words NA, N/A, NaN, null and None, in any case, are refused in the column of labels and in that of predictions
until someone says what they mean: ``missing="NA"`` that this word stands for an empty value, ``missing=["NA", "NaN"]``
that these do, ``missing=""`` that none does, ``missing=["NA", ""]`` that no other does, or ``classes=`` and
``outputs=`` that it is a name. Real nulls need no words and are missing always.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from truecount._types import Name
from truecount.errors import InputError
from truecount.reading.rows import Row

Missing: TypeAlias = str | Collection[str] | None
"""A word that means a missing value, or several; "" says that no other word does, and None that nobody has said."""
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
SUSPECT_WORDS = MISSING_WORDS | {"unknown", "?", "-", "--", ".", "missing", "unlabeled", "unlabelled", "tbd"}
"""What may mean that a label is missing where there is nothing else to estimate."""


def explained(table: str, rows: Sequence[Row], missing: Missing, names: Iterable[Name] = ()) -> list[Row]:
    """Give the rows with None for the words that mean a missing value, and refuse others that may.

    Parameters
    ----------
    table
        What the caller knows the table as; errors say it.
    rows
        What was counted in it.
    missing
        The words that mean a missing value.
    names
        Classes and outputs that the caller named, which are what they are.
    """
    words = missing_words(missing)
    cleared = [row._replace(label=_without(row.label, words), output=_without(row.output, words)) for row in rows]
    if "" not in words:
        _require_clear(table, cleared, frozenset(names), words)
    return cleared


def missing_words(missing: Missing) -> tuple[str, ...]:
    """Give the words in their order, or say that these are none.

    >>> missing_words("NA"), missing_words(["NA", "NaN"]), missing_words(None)
    (('NA',), ('NA', 'NaN'), ())
    """
    words = () if missing is None else (missing,) if isinstance(missing, str) else missing
    if not isinstance(words, Collection) or not all(isinstance(word, str) for word in words):
        needed = "it must be a word that means a missing value, or a list of them"
        raise InputError("missing", f"is {missing!r:.60}", needed, "Pass missing='NA' or missing=['NA', 'NaN']")
    return tuple(words)


def _without(name: Name | None, words: Collection[str]) -> Name | None:
    return None if str(name) in words else name


def _require_clear(table: str, rows: Sequence[Row], names: frozenset[Name], told: Sequence[str]) -> None:
    often: dict[str, Counter[Name]] = {"labelled": Counter(), "predicted": Counter()}
    for row in rows:
        for role, name in (("labelled", row.label), ("predicted", row.output)):
            if name is not None and str(name).casefold() in MISSING_WORDS and name not in names:
                often[role][name] += row.rows
    for role, words in often.items():
        for word, number in words.most_common(1):
            raise InputError(
                table,
                f"has {number:,} row{'' if number == 1 else 's'} {role} {word!r}",
                "that may be a name or mean that the value is missing",
                f"Pass missing={_also(told, str(word))!r} if it is missing, or missing={_also(told, '')!r} for a name",
            )


def _also(told: Sequence[str], word: str) -> str | list[str]:
    """Give what `missing` would be with another word."""
    return [*told, word] if told else word


def suspect_label(rows: Sequence[Row]) -> tuple[Name, int] | None:
    """Give the most frequent label that looks like a missing one and that the box never gives, and its rows."""
    outputs, often = {row.output for row in rows}, Counter[Name]()
    for row in rows:
        if row.label is not None and str(row.label).casefold() in SUSPECT_WORDS and row.label not in outputs:
            often[row.label] += row.rows
    return often.most_common(1)[0] if often else None
