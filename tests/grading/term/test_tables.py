"""The tables of a term: what they may look like, and the message for each mistake in them."""

from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.grading.term.tables import (
    Extension,
    Learner,
    LessonTerms,
    Term,
    due_for,
    is_excused,
    read_term,
)

KNOWN = {"01_first", "02_second"}
DUE = datetime(2026, 10, 5, 21, 59)


def write(folder, name, text, encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))


def test_a_course_without_tables_is_a_course(tmp_path):
    assert read_term(tmp_path) == Term()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_excel_and_editors_write_the_same_table(tmp_path, encoding, end, mark):
    lines = [
        mark.join(["learner", "last_name", "first_name", "email"]),
        mark.join(["ada", '"King, Countess; of ""Lovelace"""', "Ada", "ada@example.org"]),
        mark.join(["", "", "", ""]),
        mark.join(["zoe", "Müller-O'Brien", "Zoë", ""]),
        "",
    ]
    write(tmp_path, "learners.csv", end.join(lines), encoding)
    learners = read_term(tmp_path).learners
    assert learners == {
        "ada": Learner("ada", 'King, Countess; of "Lovelace"', "Ada", "ada@example.org"),
        "zoe": Learner("zoe", "Müller-O'Brien", "Zoë"),
    }
    assert [str(one) for one in learners.values()] == [
        'Ada King, Countess; of "Lovelace" (ada)',
        "Zoë Müller-O'Brien (zoe)",
    ]


@pytest.mark.parametrize(
    "due",
    [
        "2026-10-05 21:59",
        "2026-10-05T21:59:00",
        "2026-10-05 21:59Z",
        "2026-10-05 21:59 UTC",
        "2026-10-05 23:59 +02:00",
        "2026-10-05 23:59+0200",
        "2026-10-06 03:29:00 +05:30",
    ],
)
def test_a_date_is_in_utc_unless_it_has_an_offset(tmp_path, due):
    write(tmp_path, "lessons.csv", f"lesson,due\n01_first,{due}\n")
    assert read_term(tmp_path).lessons["01_first"].due == DUE


@pytest.mark.parametrize(
    ("written", "percent"), [("10", 10), ("12.5", 12.5), ('"12,5"', 12.5), ("20%", 20), ("", None)]
)
def test_late_percent(tmp_path, written, percent):
    write(tmp_path, "lessons.csv", f"lesson,late_percent,canvas\n01_first,{written},One (4711)\n")
    assert read_term(tmp_path).lessons == {"01_first": LessonTerms(None, percent, "One (4711)")}


def test_an_extension_adds_time_for_one_learner(tmp_path):
    write(tmp_path, "lessons.csv", "lesson,due\n01_first,2026-10-05 21:59\n02_second,\n")
    write(
        tmp_path,
        "extensions.csv",
        "learner,lesson,due\n"
        "ada,01_first,2026-10-12 21:59\n"
        "ada,02_second,2026-11-01 00:00\n"
        "zoe,01_first,Excused\n"
        "tim,01_first,2026-10-01 00:00\n",
    )
    term = read_term(tmp_path)
    assert due_for(term, "ada", "01_first") == datetime(2026, 10, 12, 21, 59)
    assert due_for(term, "ada", "02_second") == datetime(2026, 11, 1)
    assert due_for(term, "bob", "01_first") == DUE
    assert due_for(term, "bob", "02_second") is None
    assert due_for(term, "tim", "01_first") == DUE  # the class has more time than he was given
    assert is_excused(term, "zoe", "01_first") and due_for(term, "zoe", "01_first") == DUE
    assert not is_excused(term, "zoe", "02_second")
    assert term.extensions["zoe", "01_first"] == Extension(excused=True)


LEARNERS = "learner,email\nada,ada@example.org\n"
BAD = {
    "unknown column": ("learners.csv", "learner,e-mail\nada,x\n", "line 1", "'e-mail'", "email"),
    "column twice": ("learners.csv", "learner,email,email\n", "line 1", "'email'", "remove one"),
    "no learner column": ("learners.csv", "email\nx\n", "line 1", "'learner'", "add it"),
    "empty file": ("lessons.csv", "", "line 1", "'lesson'", "add it"),
    "learner twice": (
        "learners.csv",
        "learner\nada\nzoe\nAda\n",
        "line 4",
        "learner 'Ada' is on line 2 too",
        "remove one",
    ),
    "e-mail twice": (
        "learners.csv",
        "learner,email\nada,a@b.c\nzoe,A@b.c\n",
        "line 3",
        "email 'A@b.c' is on line 2 too",
        "remove one",
    ),
    "id twice": (
        "learners.csv",
        "learner,canvas_id\nada,7\nzoe,7\n",
        "line 3",
        "canvas_id '7'",
        "remove one",
    ),
    "no id": (
        "learners.csv",
        "learner,email\n,a@b.c\n",
        "line 2",
        "learner is empty",
        "fill it in",
    ),
    "path": (
        "learners.csv",
        "learner\n../ada\n",
        "line 2",
        "'../ada'",
        "a dot or a dash",
    ),
    "too many cells": (
        "learners.csv",
        "learner,last_name\nada,King, Countess\n",
        "line 2",
        "3 cells, but 2 columns",
        "quotation marks",
    ),
    "open quotation": ("learners.csv", 'learner\n"ada\n', "line 2", "not a CSV file", ""),
    "unknown lesson": (
        "lessons.csv",
        "lesson\n01_frist\n",
        "line 2",
        "'01_frist'",
        "01_first, 02_second",
    ),
    "lesson twice": (
        "lessons.csv",
        "lesson\n01_first\n01_first\n",
        "line 3",
        "'01_first'",
        "line 2",
    ),
    "title twice": (
        "lessons.csv",
        "lesson,canvas\n01_first,One\n02_second,One\n",
        "line 3",
        "canvas 'One'",
        "line 2",
    ),
    "german date": (
        "lessons.csv",
        "lesson,due\n01_first,05.10.2026 23:59\n",
        "line 2",
        "'05.10.2026 23:59'",
        "2026-10-05 23:59",
    ),
    "date alone": (
        "lessons.csv",
        "lesson,due\n01_first,2026-10-05\n",
        "line 2",
        "'2026-10-05'",
        "",
    ),
    "no such day": (
        "lessons.csv",
        "lesson,due\n01_first,2026-02-30 12:00\n",
        "line 2",
        "'2026-02-30 12:00'",
        "in UTC",
    ),
    "percent above 100": (
        "lessons.csv",
        "lesson,late_percent\n01_first,101\n",
        "line 2",
        "'101'",
        "from 0 to 100",
    ),
    "percent below 0": (
        "lessons.csv",
        "lesson,late_percent\n01_first,-1\n",
        "line 2",
        "'-1'",
        "10",
    ),
    "no number": ("lessons.csv", "lesson,late_percent\n01_first,nan\n", "line 2", "'nan'", "10"),
    "unknown learner": (
        "extensions.csv",
        "learner,lesson,due\nbob,01_first,excused\n",
        "line 2",
        "'bob'",
        "learners.csv; add",
    ),
    "extension for no lesson": (
        "extensions.csv",
        "learner,lesson,due\nada,03_third,excused\n",
        "line 2",
        "'03_third'",
        "01_first",
    ),
    "extension twice": (
        "extensions.csv",
        "learner,lesson,due\nada,01_first,excused\nada,01_first,2026-10-12 12:00\n",
        "line 3",
        "learner 'ada', lesson '01_first' is on line 2 too",
        "remove one",
    ),
    "extension until never": (
        "extensions.csv",
        "learner,lesson,due\nada,01_first,soon\n",
        "line 2",
        "'soon'",
        "or write 'excused'",
    ),
    "extension without a date": (
        "extensions.csv",
        "learner,lesson,due\nada,01_first,\n",
        "line 2",
        "due is empty",
        "fill it in",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_reported_with_file_line_value_and_remedy(tmp_path, name):
    table, text, *said = BAD[name]
    write(tmp_path, "learners.csv", LEARNERS)
    write(tmp_path, table, text)
    with pytest.raises(CourseError) as error:
        read_term(tmp_path, KNOWN)
    assert str(error.value).startswith(f"{table}, ")
    for part in said:
        assert part in str(error.value)


def test_another_encoding_is_named_with_its_line(tmp_path):
    write(tmp_path, "learners.csv", "learner,last_name\nada,King\nzoe,Müller\n", "latin-1")
    with pytest.raises(CourseError, match=r'learners.csv, line 3: the byte 0xfc .* "CSV UTF-8"'):
        read_term(tmp_path)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\3\4...lesson.ipynb...", "a zip"),
        (b"PK\3\4...xl/workbook.xml...", "a workbook"),
        (b"\xd0\xcf\x11\xe0...", "a workbook"),
        (b"%PDF-1.7", "a PDF"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html>", "a web page"),
        (b'[{"user_id": 101}]', "JSON, like the answers of Canvas's API"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, data, kind):
    (tmp_path / "learners.csv").write_bytes(data)
    with pytest.raises(CourseError, match=f"learners.csv is {kind}. Name a table, as a CSV file"):
        read_term(tmp_path)


def test_only_a_file_can_be_read(tmp_path):
    (tmp_path / "lessons.csv").mkdir()
    with pytest.raises(CourseError, match=r"lessons.csv can't be read \(Is a directory\)"):
        read_term(tmp_path)


def test_without_learners_csv_an_extension_may_be_for_anybody(tmp_path):
    write(tmp_path, "extensions.csv", "learner,lesson,due\nbob,anything,excused\n")
    assert is_excused(read_term(tmp_path), "bob", "anything")
