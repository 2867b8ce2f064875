"""Dates with a time are read as they are meant, or refused."""

import time
from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.grading.term.dates import course_zone, read_date, shown

SUMMER, WINTER = datetime(2026, 7, 5, 21, 59), datetime(2026, 12, 5, 21, 59)


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
        "2026-10-05 23:59 CEST",  # daylight saving time somewhere
        "2026-10-05 23:59 Nowhere/Else",
        "2026-10-05 23:59 Europe/../Berlin",
        "0001-01-01 00:00 +14:00",
        "9" * 200,
    ],
)
def test_an_invalid_time_is_refused(text):
    with pytest.raises(ValueError, match="is not a date with a time"):
        read_date(text)


def test_people_see_the_courses_time(monkeypatch):
    monkeypatch.setenv("COURSE_TIME_ZONE", "Europe/Berlin")
    assert (shown(SUMMER), shown(WINTER)) == ("2026-07-05 23:59 CEST", "2026-12-05 22:59 CET")
    assert shown(datetime.max).startswith("9999-12-31")


def test_without_a_zone_people_see_the_machines_time(monkeypatch):
    try:
        for zone, expected in (("UTC", "21:59 UTC"), ("America/New_York", "17:59 EDT")):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert shown(SUMMER) == f"2026-07-05 {expected}"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "when"),
    [("2026-07-05 23:59 CEST", SUMMER), ("2026-12-05 22:59:00.0 CET", WINTER)],
)
def test_letters_of_a_zone_are_those_of_the_courses(monkeypatch, text, when):
    monkeypatch.setenv("COURSE_TIME_ZONE", "Europe/Berlin")
    assert read_date(text) == when
    monkeypatch.setenv("COURSE_TIME_ZONE", "America/New_York")
    with pytest.raises(ValueError, match="is not a date with a time"):
        read_date(text)


@pytest.mark.parametrize("name", ["Berlin", "CEST", "../etc/hostname", "/etc/localtime", "a\nb"])
def test_an_invalid_zone_is_reported(monkeypatch, name):
    monkeypatch.setenv("COURSE_TIME_ZONE", name)
    with pytest.raises(CourseError, match="which is not a time zone: write one like Europe/Berlin"):
        course_zone()
