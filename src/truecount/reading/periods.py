"""A column of times with a frequency: `by={"time": "week"}`."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from truecount.errors import InputError

COARSE = ("day", "week", "month", "quarter", "year")
"""A back end only goes back to the start of the day; the rest is done with the few days that come back."""
FINE = {"minute": "1m", "hour": "1h"}
FREQUENCIES = (*FINE, *COARSE)


def columns_by(by: str | Iterable[str] | Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Give the columns that groups are made by, each with its frequency, if it has one.

    Examples
    --------
    >>> columns_by("region"), columns_by(["region", "age"]), columns_by({"region": None, "time": "week"})
    ({'region': None}, {'region': None, 'age': None}, {'region': None, 'time': 'week'})
    """
    if by is None:
        return {}
    several = by if isinstance(by, Iterable) and not isinstance(by, str) else [by]
    columns = list(by.items()) if isinstance(by, Mapping) else [(column, None) for column in several]
    for column, frequency in columns:
        if not isinstance(column, str) or frequency not in (None, *FREQUENCIES):
            raise InputError(
                "by",
                f"is {by!r}",
                f"columns are names, and a frequency is one of {', '.join(FREQUENCIES)}",
                "Pass by='region', by=['region', 'age'], by={'time': 'week'} or by={'region': None, 'time': 'week'}",
            )
    return dict(columns)


def start_of(frequency: str | None, value: Any) -> Any:
    """Give the first day of the period that a day belongs to; weeks begin on Monday. Hours and minutes stay times.

    Examples
    --------
    >>> str(start_of("week", date(2024, 5, 30))), str(start_of("quarter", datetime(2024, 5, 30)))
    ('2024-05-27', '2024-04-01')
    """
    if value is None or frequency not in COARSE:
        return value
    if not isinstance(value, date):
        found, needed = f"meets {value!r:.60}", f"a {frequency} begins with a date or a time"
        raise InputError("by", found, needed, "Convert the column to times, or leave out the frequency")
    day = value.date() if isinstance(value, datetime) else value
    if frequency == "week":
        return day - timedelta(days=day.weekday())
    if frequency == "day":
        return day
    months = {"month": day.month, "quarter": day.month - (day.month - 1) % 3, "year": 1}
    return day.replace(month=months[frequency], day=1)
