"""Rows of plain values, one for each group and class, of groups that were inferred one by one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from truecount._types import FloatArray, IntArray, Name
from truecount.reading.names import written
from truecount.results.export.values import plain
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior
from truecount.results.summary import Look

Row: TypeAlias = dict[str, Any]
Items: TypeAlias = IntArray | FloatArray
NUMBERS = ("counted", "mean", "median", "sd", "lower", "upper", "effective_draws", "rhat")
WORDS = ("status", "findings", "serious", "error")
COLUMNS = ("items", "class", *NUMBERS, *WORDS, "corrected")
"""After the columns that groups are made by; `serious` names those among the `findings` that are,
and `corrected` says that shares are corrected for misclassification, as in every other file."""
OF_JOINT = (
    *("time", "own", "borrowed", "rank", "rank_lower", "rank_upper", "probability_largest", "probability_smallest"),
    *("threshold_above", "probability_above", "threshold_below", "probability_below"),
)
"""What rows of joint groups hold besides: no column of keys is called so in any file, whoever inferred."""
FAILED = "failed"
"""The status of a group that has an error in place of an answer."""


def key_columns(by: Sequence[str]) -> list[str]:
    """Return what the columns of keys are called: where one is called like a column of the answer, all say so.

    >>> key_columns(["store", "week"]), key_columns(["class"]), key_columns(["time"])
    (['store', 'week'], ['group_class'], ['group_time'])
    """
    prefix = "group_" if {*by} & {*COLUMNS, *OF_JOINT} else ""
    return [f"{prefix}{column}" for column in by]


def rows_of_posterior(keys: Mapping[str, Name | None], posterior: Posterior, look: Look) -> list[Row]:
    """Return the rows of one group's answer."""
    summary = look.of(posterior)
    words = {"status": posterior.status, **_codes(posterior.findings), "error": None}
    about = {**keys, "items": _number(posterior.counts.unlabeled)}
    rows: list[Row] = plain([{**about, **row, **words, "corrected": True} for row in summary.rows()])
    return rows


def rows_of_failure(keys: Mapping[str, Name | None], items: Items, classes: Sequence[Name], error: str) -> list[Row]:
    """Return the rows of a group without an answer, of which unlabelled items by output are known."""
    nothing = dict.fromkeys(NUMBERS) | dict(zip(WORDS, (FAILED, "", "", error), strict=True))
    return [{**keys, "items": _number(items), "class": name, **nothing, "corrected": True} for name in classes]


def _codes(findings: Sequence[Finding]) -> dict[str, str]:
    serious = (finding.code for finding in findings if finding.severity == "serious")
    return {"findings": " ".join(finding.code for finding in findings), "serious": " ".join(serious)}


def _number(items: Items) -> int | float:
    number = float(items.sum())
    return int(number) if number.is_integer() else number


def keys_of(columns: Sequence[str], group: Any) -> dict[str, Name | None]:
    """Return a group's keys by column, as JSON can hold them."""
    keys = (group,) if len(columns) == 1 else group
    return dict(zip(columns, map(written, keys), strict=True))


def column_kinds(
    keys: Iterable[Mapping[str, Name | None]], columns: Sequence[str], classes: Sequence[Name]
) -> dict[str, str]:
    """Return what DuckDB calls the type of every column; names of several kinds are text."""
    seen: dict[str, set[type]] = {column: set() for column in columns}
    for each in keys:
        for column, key in each.items():
            seen[column].add(type(key))
    kinds = {column: _kind(types) for column, types in seen.items()}
    kinds |= {"items": "DOUBLE", "class": _kind(set(map(type, classes)))}
    return kinds | dict.fromkeys(NUMBERS, "DOUBLE") | dict.fromkeys(WORDS, "VARCHAR") | {"corrected": "BOOLEAN"}


def _kind(types: set[type]) -> str:
    present = types - {type(None)}
    if present == {int, float}:
        return "DOUBLE"
    named = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    return named.get(next(iter(present)), "VARCHAR") if len(present) == 1 else "VARCHAR"


def rows_alike(rows: Iterable[Mapping[str, Any]], keys: int, findings: Iterable[Finding]) -> list[Row]:
    """Return the rows of a joint answer, or of one population, with the same columns.

    Parameters
    ----------
    rows
        Of the answer; the columns that groups are made by come first.
    keys
        How many these are.
    findings
        Of all groups together, which every row then has.
    """
    words = _codes(list(findings))
    return [
        {**dict(islice(row.items(), keys)), **{name: (row | words).get(name) for name in COLUMNS}}
        for row in map(dict, rows)
    ]
