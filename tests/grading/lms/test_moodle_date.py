"""Dates as Moodle's language packs write them, and the worksheet column that has them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from autograder.grading.lms.moodle_date import LANGUAGES, read_moodle_date
from autograder.grading.lms.worksheet import Worksheet
from tests.grading.lms.worksheets import BLIND, ENGLISH, GERMAN, MARKERS, PROFILE

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "text",
    [
        "Monday, 5 October 2026, 11:09 PM",
        "Monday, October 5, 2026, 11:09 pm",
        "Montag, 5. Oktober 2026, 23:09",
        "lundi 5 octobre 2026, 23:09",
        "lunes, 5 de octubre de 2026, 23:09",
        "lunedì, 5 ottobre 2026, 23:09",
        "segunda-feira, 5 de outubro de 2026 às 23:09",
        "maandag, 5 oktober 2026, 23:09",
        "måndag, 5 oktober 2026, 23:09",
        "mandag den 5. oktober 2026, 23.09",
        "poniedziałek, 5 października 2026, 23:09",
        "понедельник, 5 октября 2026, 23:09",
        "2026年10月5日(月曜日) 23:09",
        "2026年10月5日 星期一 23:09",
    ],
)
def test_a_date_is_read_in_many_languages(text):
    assert read_moodle_date(text, BERLIN) == datetime(2026, 10, 5, 21, 9)


def test_noon_and_midnight():
    assert read_moodle_date("5 May 2026, 12:05 AM", ZoneInfo("UTC")).hour == 0
    assert read_moodle_date("5 May 2026, 12:05 PM", ZoneInfo("UTC")).hour == 12


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "5 October 2026", "Monday, 5 Oktobr 2026, 11:00", "31 February 2026, 11:00"),
        *("5 October 2026, 25:00", "5 October 2026, 11:00 6", "1 2 October 2026, 11:00"),
        *("5 May or June 2026, 11:00", "5 October 2026 2027, 11:00", "1 January 0001, 00:00"),
        *("2026-10-05 11:00", "9" * 3_000_000, ":" * 3_000_000),
    ],
    ids=lambda text: text[:30],
)
def test_an_ambiguous_text_is_not_a_date(text):
    assert read_moodle_date(text, ZoneInfo("Asia/Tokyo")) is None


def test_every_language_names_twelve_months():
    assert {len(names.split()) for names in LANGUAGES} == {12}


def times(tmp_path, text):
    path = tmp_path / "sheet.csv"
    path.write_bytes(text.encode())
    return Worksheet(path).times


def test_the_first_of_two_such_columns_tells_when_it_was_handed_in(tmp_path):
    assert times(tmp_path, ENGLISH) == {
        "1001": "Monday, 5 October 2026, 11:00 AM",
        "1002": "Tuesday, 6 October 2026, 11:00 AM",
        "1003": "Monday, 5 October 2026, 11:30 AM",
    }
    german = {"1001": "Montag, 5. Oktober 2026, 11:00", "1002": "Dienstag, 6. Oktober 2026, 11:00"}
    assert times(tmp_path, GERMAN) == german


@pytest.mark.parametrize("text", [MARKERS, PROFILE, BLIND])
def test_without_such_columns_there_are_no_times(tmp_path, text):
    assert times(tmp_path, text) == {}
    graded = text.replace("Yes,-", 'Yes,"Monday, 5 October 2026, 11:00 AM"')
    assert times(tmp_path, graded) == {}
