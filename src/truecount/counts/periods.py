"""Groups that are periods of time: when each was, and the periods between them that nothing was seen in."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from truecount.errors import InputError

MOST_PERIODS = 10_000
ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


def key_times(keys: Sequence[Any]) -> list[date] | None:
    """Return the time of each group where exactly one part of all keys is a date, or text such as ``"2024-05-27"``.

    >>> key_times([("north", "2024-05-27"), ("south", "2024-06-03")])
    [datetime.date(2024, 5, 27), datetime.date(2024, 6, 3)]
    >>> key_times(["2024-05-27", "later"]) is None
    True
    """
    place = time_place(keys)
    return None if place is None else [_as_time(part_of(key, place)) for key in keys]


def time_place(keys: Sequence[Any]) -> int | None:
    """Return which part of the groups' keys is a time; None where none or several are."""
    parts = zip(*(key if isinstance(key, tuple) else (key,) for key in keys), strict=True)
    places = [
        place
        for place, part in enumerate(parts)
        if all(map(_is_time, part)) and len({type(_as_time(each)) for each in part}) == 1
    ]
    return places[0] if len(places) == 1 else None


def part_of(key: Any, place: int) -> Any:
    """Return one part of a group's key."""
    return key[place] if isinstance(key, tuple) else key


def missing_periods(keys: Sequence[Any], frequency: str) -> list[Any]:
    """Return the keys of periods between the first and the last that are not among them, for each of the other parts.

    >>> missing_periods([date(2024, 5, 6), date(2024, 5, 27)], "week")
    [datetime.date(2024, 5, 13), datetime.date(2024, 5, 20)]
    """
    place = time_place(keys)
    if place is None:
        found, needed = f"are {', '.join(map(str, keys[:3]))}", "periods between two times need a time in every group"
        raise InputError("groups", found, needed, "Remove rows without a time, or group by one column of times")
    times = {_as_time(part_of(key, place)): part_of(key, place) for key in keys}
    known = set(keys)
    others = dict.fromkeys(key[:place] + key[place + 1 :] if isinstance(key, tuple) else () for key in keys)
    is_text = isinstance(next(iter(times.values())), str)
    missing, time = [], min(times)
    while time <= max(times):
        part = times.get(time, time.isoformat() if is_text else time)
        for rest in others:
            key = (*rest[:place], part, *rest[place:]) if isinstance(keys[0], tuple) else part
            missing += [] if key in known else [key]
        if len(missing) + len(keys) > MOST_PERIODS:
            needed = f"at most {MOST_PERIODS:,} periods are inferred in one run"
            raise InputError("groups", f"leave gaps of very many {frequency}s", needed, "Choose a longer period")
        time = _next(time, frequency)
    return missing


def _is_time(part: Any) -> bool:
    if isinstance(part, date):
        return True
    try:
        return isinstance(part, str) and ISO_TIME.fullmatch(part) is not None and bool(_as_time(part))
    except ValueError:
        return False


def _as_time(part: date | str) -> date:
    if not isinstance(part, str):
        return part
    return datetime.fromisoformat(part) if len(part) > len("2024-05-27") else date.fromisoformat(part)


def _next(time: date, frequency: str) -> date:
    """Return the beginning of the period after the one that begins here."""
    if frequency in LENGTHS:
        return time + LENGTHS[frequency]
    months = 12 * time.year + time.month - 1 + MONTHS[frequency]
    return time.replace(year=months // 12, month=months % 12 + 1)
