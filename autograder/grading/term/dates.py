"""Read and write dates with a time. They are kept in UTC without a time zone, as in nbgrader.

nbgrader's own reader takes +0200 for 200 seconds and drops +02:00. People see dates in the course's
time zone: the one in `COURSE_TIME_ZONE`, such as Europe/Berlin, or else the machine's.
"""

import os
import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.errors import CourseError

DATE = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) *"
    r"(?:(Z|UTC|[+-]\d\d:?\d\d)|([A-Z]\w+/[\w/+-]+)|([A-Z]{3,5}))?"
)
FORM = "write it as 2026-10-05 23:59, which is in UTC, or with an offset, 2026-10-05 23:59 +02:00"
ZONE_VARIABLE = "COURSE_TIME_ZONE"


def read_date(text: str) -> datetime:
    """Read a date such as "2026-10-05 23:59 +02:00"; without an offset or a zone it is in UTC.

    Letters such as CEST, which nbgrader's exchange writes, have to be those of the course's zone.
    Raises ValueError.
    """
    found = DATE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a date with a time")
    when, offset, zone, letters = found.groups()
    try:
        date = datetime.fromisoformat(when + (offset or "Z").replace("UTC", "Z"))
        if zone:
            date = date.replace(tzinfo=ZoneInfo(zone))
        if letters:
            date = _in_zone_called(letters, date)
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError, KeyError) as error:  # such as February 30
        raise ValueError(f"{text!r} is not a date with a time") from error


def _in_zone_called(letters: str, date: datetime) -> datetime:
    """Move a date into the course's time zone. Raises ValueError if that has another name then."""
    zone, local = course_zone(), date.replace(tzinfo=None)
    local = local.replace(tzinfo=zone) if zone else local.astimezone()
    if f"{local:%Z}" != letters:
        raise ValueError(letters)
    return local


def course_zone() -> ZoneInfo | None:
    """Return the course's time zone; None for the machine's. Raises CourseError if invalid."""
    name = os.environ.get(ZONE_VARIABLE, "")
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise CourseError(
            f"{ZONE_VARIABLE} is {name!r}, which is not a time zone: write one like Europe/Berlin."
        ) from error


def in_course_zone(when: datetime) -> datetime:
    """Convert a date to the course's time zone; a date without a zone is in UTC."""
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    try:
        return aware.astimezone(course_zone())
    except (OverflowError, OSError):  # in the year 1 or 9999
        return aware


def shown(when: datetime) -> str:
    """Write a date in the course's time zone, as "2026-10-05 23:59 CEST"."""
    return f"{in_course_zone(when):%Y-%m-%d %H:%M %Z}"
