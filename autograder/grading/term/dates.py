"""Dates with a time, as they are written; kept as nbgrader keeps them, in UTC without a time zone.

nbgrader's own reader takes +0200 for 200 seconds and drops +02:00.
"""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

DATE = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) *"
    r"(?:(Z|UTC|[+-]\d\d:?\d\d)|([A-Z]\w+/[\w/+-]+))?"
)
FORM = "write it as 2026-10-05 23:59, which is in UTC, or with an offset, 2026-10-05 23:59 +02:00"


def read_date(text: str) -> datetime:
    """Read a date such as "2026-10-05 23:59 +02:00"; without an offset or a zone it is in UTC.

    Raises ValueError.
    """
    found = DATE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no date with a time")
    when, offset, zone = found.groups()
    try:
        date = datetime.fromisoformat(when + (offset or "Z").replace("UTC", "Z"))
        if zone:
            date = date.replace(tzinfo=ZoneInfo(zone))
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError, KeyError) as error:  # such as February 30
        raise ValueError(f"{text!r} is no date with a time") from error
