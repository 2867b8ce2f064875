"""Dates with a time are read as they are meant, or refused."""

from datetime import datetime

import pytest

from autograder.grading.term.dates import read_date


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-05 21:59",
        "2026-10-05T21:59Z",
        "2026-10-05 21:59:00 UTC",
        "2026-10-05 21:59:00.000000 UTC",  # as nbgrader writes it
        "2026-10-05 23:59 +02:00",
        "2026-10-05 23:59 +0200",
        "2026-10-05 23:59:00+02:00",
        "2026-10-05 23:59 Europe/Berlin",
        "2026-10-05 17:59 America/New_York",
    ],
)
def test_a_time_is_given_in_utc(text):
    assert read_date(text) == datetime(2026, 10, 5, 21, 59)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday evening",
        "2026-10-05",
        "2026-02-30 10:00",
        "2026-10-05 23:59 CEST",  # summer time somewhere
        "2026-10-05 23:59 Nowhere/Else",
        "2026-10-05 23:59 Europe/../Berlin",
        "0001-01-01 00:00 +14:00",
        "9" * 200,
    ],
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match="is no date with a time"):
        read_date(text)
