"""An answer for many groups as plain values: JSON, and rows for CSV, Parquet and data frames."""

from collections.abc import Collection
from typing import Any

from truecount._types import FloatArray, Name
from truecount.counts import Groups
from truecount.results.export.values import plain
from truecount.results.groups.summary import GroupSummary, PairSummary
from truecount.results.separate.rows import key_columns, keys_of

SCHEMA = "truecount.estimates/2"


def to_dict(summary: GroupSummary, data: Groups) -> dict[str, Any]:
    """Return the summary in schema ``truecount.estimates/2``: plain values, no NaN, ready for strict JSON.

    Without an answer, all numbers that are read off the draws are None.
    """
    result = {
        "schema": SCHEMA,
        "status": summary.status,
        "corrected": True,
        "by": list(summary.by),
        "class_of_interest": summary.of,
        "level": summary.level,
        "interval": summary.kind,
        "target": summary.target,
        "groups": [_group(summary, at) for at in range(len(summary.groups))],
        "spread": [_of_class(name, row) for name, row in zip(summary.classes, summary.spread, strict=True)],
        "total": [_of_class(name, row) for name, row in zip(summary.classes, summary.total, strict=True)],
        "baseline": None if summary.baseline is None else _keys(summary, summary.baseline),
        "comparisons": [row for pair in summary.pairs for row in _pair(summary, pair)],
        "changes": [row for pair in summary.changes for row in _pair(summary, pair)],
        "changes_since": [row for pair in summary.since for row in _pair(summary, pair)],
        "alerts": [{"group": _keys(summary, alert.group), **alert.to_dict()} for alert in summary.alerts],
        "findings": [finding.to_dict() for finding in summary.findings],
        "counts": data.to_dict(),
        "model": summary.model,
        "seed": summary.origin.seed,
        "version": summary.origin.version,
    }
    if not summary.has_answer:
        emptied = ("spread", "total", "comparisons", "changes", "changes_since", "alerts")
        result |= {name: [] for name in emptied}
    values: dict[str, Any] = plain(result)
    return values


def rows_of(summary: GroupSummary, classes: Collection[Name] | None = None) -> list[dict[str, Any]]:
    """Return a row of plain values for each group and class."""
    found, columns = [], key_columns(summary.by)
    for at, group in enumerate(summary.groups):
        for row in _class_rows(summary, at):
            if classes is None or row["class"] in classes:
                row = {**_about(summary, at), **row, "status": summary.status, "corrected": True}
                found.append(keys_of(columns, group) | row)
    rows: list[dict[str, Any]] = plain(found)
    return rows


def _keys(summary: GroupSummary, group: Any) -> list[Any]:
    """Return the keys of a group as JSON can hold them, one for each column."""
    return list(keys_of(summary.by, group).values())


def _about(summary: GroupSummary, at: int) -> dict[str, Any]:
    """Return when a group was, if groups have times, and how many items it has."""
    items = summary.items[at]
    time = {} if summary.times is None else {"time": _time(summary.times[at])}
    return {**time, "items": int(items) if float(items).is_integer() else float(items)}


def _time(time: Any) -> float | str:
    found = time.item()
    return found if isinstance(found, float) else str(found.isoformat())


def _group(summary: GroupSummary, at: int) -> dict[str, Any]:
    return {
        "group": _keys(summary, summary.groups[at]),
        **_about(summary, at),
        "classes": _class_rows(summary, at),
    }


def _class_rows(summary: GroupSummary, at: int) -> list[dict[str, Any]]:
    """Return what is known of each class in a group; ranks are those of the class of interest."""
    rows = []
    for place, name in enumerate(summary.classes):
        of_draws = {
            "own": None if summary.own is None else summary.own[at, place],
            "mean": summary.mean[at, place],
            "median": summary.median[at, place],
            "sd": summary.sd[at, place],
            "lower": summary.interval[at, place, 0],
            "upper": summary.interval[at, place, 1],
            "borrowed": None if summary.borrowed is None else summary.borrowed[at],
            **_rank(summary, at, name),
            **_claims(summary, at, name),
        }
        rows.append(
            {
                "class": name,
                "counted": None if summary.counted is None else summary.counted[at, place],
                **(of_draws if summary.has_answer else dict.fromkeys(of_draws)),
                "effective_draws": summary.effective_draws[at, place],
                "rhat": summary.rhat[at, place],
            }
        )
    return rows


def _rank(summary: GroupSummary, at: int, name: Name) -> dict[str, Any]:
    ranks = summary.ranks
    if ranks is None:
        return {}
    values = {
        "rank": ranks.mean[at],
        "rank_lower": ranks.interval[at, 0],
        "rank_upper": ranks.interval[at, 1],
        "probability_largest": ranks.largest[at],
        "probability_smallest": ranks.smallest[at],
    }
    return values if name == summary.of else dict.fromkeys(values)


def _claims(summary: GroupSummary, at: int, name: Name) -> dict[str, Any]:
    """Return thresholds and how probable it is to lie beyond; all rows have the same columns."""
    values: dict[str, Any] = {}
    for claim in summary.claims:
        values.setdefault(f"threshold_{claim.side}", None)
        values.setdefault(f"probability_{claim.side}", None)
        if claim.name == name:
            values |= {f"threshold_{claim.side}": claim.threshold, f"probability_{claim.side}": claim.probability[at]}
    return values


def _of_class(name: Name, row: FloatArray) -> dict[str, Any]:
    return {"class": name, "mean": row[0], "lower": row[1], "upper": row[2]}


def _pair(summary: GroupSummary, pair: PairSummary) -> list[dict[str, Any]]:
    """Return a row for each class."""
    return [
        {
            "first": _keys(summary, pair.first),
            "second": _keys(summary, pair.second),
            "class": name,
            "difference": pair.difference[place],
            "lower": pair.interval[place, 0],
            "upper": pair.interval[place, 1],
            "ratio": pair.ratio[place],
            "ratio_lower": pair.ratio_interval[place, 0],
            "ratio_upper": pair.ratio_interval[place, 1],
            "probability_larger": pair.larger[place],
        }
        for place, name in enumerate(summary.classes)
    ]
