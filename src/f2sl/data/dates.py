r"""Dates and times as numbers, or by their parts.

A column of dates is read as *days since 1970-01-01*, with fractions where there are times: the same number
for the same day in every table, so that what was learned from one can be used on another. Times of day and
durations are *seconds*. Libraries and files have types for them; of labels, all must be written in one of
the :data:`FORMS`. Where day and month could be either, a day above 12 in any row decides; without one, the
month is first between slashes, and the day between dots or hyphens.

A :class:`DateReader` converts the values of one column, part by part, and can be sent to workers.

>>> import numpy as np
>>> days = RawColumn("labels", np.array([1, 0]), labels=("31/12/1969", "2/1/1970"))
>>> reader = reader_of(days)
>>> reader.form, reader(days).values.tolist()
('day/month/year', [1, -1])
>>> weekdays = replace(reader, part="weekday")(days)
>>> [weekdays.labels[code] for code in weekdays.values]
['Friday', 'Wednesday']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from f2sl.data.values import RawColumn, reals

DAYS, SECONDS, YEARS = "days since 1970-01-01", "seconds", "years"
"""Units of dates, of times of day and durations, and of the years of dates."""

PARTS = ("year", "month", "weekday")
"""Parts of a date; the year is continuous, month and weekday are discrete."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTHS_BY_NAME = {
    form: number for number, name in enumerate(MONTHS, 1) for form in (name.lower(), name[:3].lower())
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY, _MONTH, _YEAR = r"(?P<day>\d\d?)", r"(?P<month>\d\d?)", r"(?P<year>\d{4})"
_TIME = (
    r"(?:(?:T| +)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?"
    r" ?(?P<half>[AaPp][Mm])?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
FORMS = {
    form: re.compile(pattern + _TIME)
    for form, pattern in {
        "year-month-day": rf"{_YEAR}(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY}",
        "month/day/year": rf"{_MONTH}(?P<mark>[/.-]){_DAY}(?P=mark){_YEAR}",
        "day/month/year": rf"{_DAY}(?P<mark>[/.-]){_MONTH}(?P=mark){_YEAR}",
        "month/day/short year": rf"{_MONTH}/{_DAY}/(?P<short>\d\d)",
        "day/month/short year": rf"{_DAY}/{_MONTH}/(?P<short>\d\d)",
        "day-month name-year": rf"{_DAY}[ -](?P<name>[A-Za-z]{{3}})[ -](?:{_YEAR}|(?P<short>\d\d))",
        "year-month": rf"{_YEAR}-{_MONTH}",
        "month name day, year": rf"(?P<name>[A-Za-z]{{3,9}})\.? {_DAY},? {_YEAR}",
        "year month name": rf"{_YEAR} (?P<name>[A-Za-z]{{3}})",
        "year quarter": rf"{_YEAR}[ -]?Q(?P<quarter>[1-4])",
    }.items()
}
"""Written forms of dates, by name; a time may follow. In other forms labels stay labels."""

TIMES = "hours:minutes"
"""Form of times of day and of durations; seconds may follow. Other libraries need two digits for hours."""

_TIMES = re.compile(r"(?P<hours>\d{1,4}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?")

_MONTH_FIRST = "/"
"""The separator that has the month first where day and month may be either, as most programs write it."""

FEW_WORDS = 5
"""Labels that are no numbers or dates up to which they count as exceptions among others that are."""

FIRST_SHORT_YEAR = 69
"""Years of two digits from this one on are in the 20th century, as POSIX has it."""


@dataclass(frozen=True)
class DateReader:
    """Reader of the dates of a column, or of one of their parts.

    `form` says how labels are written; it is empty for columns that hold dates and not labels.
    """

    form: str = ""
    part: str = ""

    def __call__(self, column: RawColumn) -> RawColumn:
        """Return days or seconds as numbers, or the part asked for."""
        if column.form == "labels":
            numbers = np.array([_number_of(label, self.form) for label in column.labels], np.float64)
            at = np.minimum(column.values, len(numbers) - 1)  # where missing, a value may be anything
            unit = SECONDS if self.form == TIMES else DAYS
            column = replace(reals(numbers[at], column.missing), weights=column.weights, unit=unit)
        return part_of(column, self.part) if self.part else column


def reader_of(column: RawColumn) -> DateReader | None:
    """Return the reader of a column of labels that are all dates; None if they are not.

    Examples
    --------
    >>> other = RawColumn("labels", np.array([0, 1]), labels=("2020-01-01", "2020"))
    >>> reader_of(other) is None
    True
    """
    form = date_form(column.labels)
    return None if form is None else DateReader(form)


def date_form(labels: Sequence[object]) -> str | None:
    """Return how labels are written as dates, one of `FORMS`; None if they are not all dates of one form.

    Examples
    --------
    >>> date_form(["1/2/2021", "31/12/2020"]), date_form(["1/2/2021", "2/2/2021"]), date_form(["1.2.2021"])
    ('day/month/year', 'month/day/year', 'day/month/year')
    >>> date_form(["30/2/2021"]), date_form(["13/1/2021", "1/13/2021"]), date_form(["1.2.2021", "?"])
    (None, None, None)
    """
    first = labels[0] if labels else None
    if not isinstance(first, str):
        return None
    fitting = [form for form, pattern in FORMS.items() if pattern.fullmatch(first.strip())]
    if _MONTH_FIRST not in first:
        fitting.sort(key=lambda form: form.startswith("month"))
    return next((form for form in fitting if all(_day_of(label, form) is not None for label in labels)), None)


def _number_of(label: object, form: str) -> float | None:
    """Return the days since 1970 of a date, or the seconds of a time; None if a label is not of this form."""
    if form != TIMES:
        return _day_of(label, form)
    found = _TIMES.fullmatch(label.strip()) if isinstance(label, str) else None
    if found is None:
        return None
    return 3600 * int(found["hours"]) + 60 * int(found["minutes"]) + float(found["seconds"] or 0)


def are_times(labels: Sequence[object]) -> bool:
    """Return whether all labels are times such as 0:04 or 13:05:30.

    Examples
    --------
    >>> are_times(["0:04", "13:05:30"]), are_times(["1:10", "1:100"])
    (True, False)
    """
    return bool(labels) and all(_number_of(label, TIMES) is not None for label in labels)


def not_dates(labels: Sequence[object]) -> tuple[str, list[str]]:
    """Return the commonest form of dates among labels, and those that are none, if they are few.

    Examples
    --------
    >>> not_dates([*(f"2020-02-{day:02}" for day in range(1, 31)), "soon"])
    ('year-month-day', ['2020-02-30', 'soon'])
    >>> not_dates(["a", "2020-02-01", "b"])
    ('', [])
    """
    middle = labels[len(labels) // 2] if labels else None
    if not isinstance(middle, str):
        return "", []
    for form, pattern in FORMS.items():
        if pattern.fullmatch(middle.strip()):
            wrong = [str(label) for label in labels if _day_of(label, form) is None]
            if len(wrong) <= FEW_WORDS < len(labels) - len(wrong):
                return form, wrong
    return "", []


def _day_of(label: object, form: str) -> float | None:
    """Return the days since 1970 of a label, or None if it is no date of this form, such as 30 February."""
    found = FORMS[form].fullmatch(label.strip()) if isinstance(label, str) else None
    try:
        when = None if found is None else _date_of(found.groupdict())
    except (ValueError, OverflowError):
        return None
    return None if when is None else (when - _EPOCH) / timedelta(days=1)


def _date_of(fields: dict[str, str | None]) -> datetime | None:
    year = int(fields["year"] or 0) if fields.get("year") else int(fields["short"] or 0)
    if not fields.get("year"):
        year += 1900 if year >= FIRST_SHORT_YEAR else 2000
    if name := fields.get("name"):
        month = _MONTHS_BY_NAME.get(name.lower(), 0)  # there is no such month, so that the date is refused
    elif quarter := fields.get("quarter"):
        month = 3 * int(quarter) - 2
    else:
        month = int(fields["month"] or 0)
    when = datetime(year, month, int(fields.get("day") or 1), tzinfo=UTC)
    hour, seconds = int(fields["hour"] or 0), float(fields["second"] or 0)
    minute = int(fields["minute"] or 0)
    if half := fields["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half.lower() == "pm")
    if hour > 24 or minute > 59 or seconds >= 61:
        return None
    when += timedelta(hours=hour, minutes=minute, seconds=seconds)
    if (zone := fields["zone"]) and zone != "Z":
        shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        when += shift if zone[0] == "-" else -shift
    return when


def part_of(column: RawColumn, part: str) -> RawColumn:
    """Return the year, the month or the weekday of a column of days.

    The years are integers; months and weekdays are labels in the order of the calendar, those that occur.
    """
    days = np.floor(np.where(np.isfinite(column.values), column.values, 0)).astype("M8[D]")
    months = days.astype("M8[M]").astype(np.int64)
    if part == "year":
        return replace(column, form="integers", values=months // 12 + 1970, unit=YEARS)
    names, codes = (MONTHS, months % 12) if part == "month" else (WEEKDAYS, (days.astype(np.int64) + 3) % 7)
    known = codes if column.missing is None else codes[~column.missing]
    there = np.isin(np.arange(len(names)), known)
    codes = np.where(there[codes], (there.cumsum() - 1)[codes], 0)
    labels = tuple(name for name, occurs in zip(names, there.tolist(), strict=True) if occurs)
    return replace(column, form="labels", values=codes, labels=labels, unit="")


def written(day: float) -> str:
    """Write days since 1970 as a date, with the time if there is one.

    Examples
    --------
    >>> written(-1), written(0.5)
    ('1969-12-31', '1970-01-01 12:00:00')
    """
    try:
        when = _EPOCH + timedelta(days=float(day))
    except OverflowError:
        return f"{day:g}"
    return f"{when:%Y-%m-%d}" if when.time() == datetime.min.time() else f"{when:%Y-%m-%d %H:%M:%S}"
