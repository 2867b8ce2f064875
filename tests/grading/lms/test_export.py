"""Grades in plain CSV, and in the form that Canvas reads."""

import csv
import os
import subprocess
import sys
import zipfile

import pytest

from autograder.places import ROOT
from tests.grading.term.made_course import FIRST, SECOND

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_plain_csv_has_nbgraders_columns_and_the_state(course, lms, tmp_path):
    path = tmp_path / "grades.csv"
    assert lms("export", f"--to={path}", FIRST) == 0
    header, *found = rows(path)
    assert {row[0] for row in found} == {FIRST}
    assert ",".join(header) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,"
        "late_submission_penalty,score,max_score,state"
    )
    about = {row[3]: row for row in found}
    assert about["ada"] == [
        FIRST,
        "2026-10-05 12:00:00",
        "2026-10-05 11:00:00",
        "ada",
        'King, Countess "of" Lovelace',
        "Ada",
        "ada@example.org",
        *("14.5", "0", "14.5", "15", "graded"),
    ]
    assert about["zoe"][4:6] == ["Müller-O'Brien", "Zoë"]
    assert {learner: row[7:] for learner, row in about.items()} == {
        "ada": ["14.5", "0", "14.5", "15", "graded"],
        "zoe": ["10", "1", "9", "15", "graded"],  # less than a day late
        "tim": ["", "", "", "15", "not graded"],
        "new": ["", "", "", "15", "missing"],
        "ill": ["", "", "", "15", "excused"],
    }


@pytest.mark.parametrize("command", ["export", "collect"])
def test_what_a_message_quotes_does_not_command_the_terminal(course, lms, tmp_path, capfd, command):
    zip_path = tmp_path / "\x1b[2Jx.zip"
    options = {
        "export": [f"--to={zip_path / 'x.csv'}", FIRST],
        "collect": [FIRST, str(zip_path), "--lms=canvas"],
    }
    assert lms(command, *options[command])
    said = capfd.readouterr().err
    assert "\N{REPLACEMENT CHARACTER}[2Jx.zip" in said
    assert all(map(str.isprintable, said.splitlines()))


def test_all_lessons_are_exported_when_none_is_named(course, lms, tmp_path):
    path = tmp_path / "grades.csv"
    assert lms("export", f"--to={path}") == 0
    assert {row[0] for row in rows(path)[1:]} == {FIRST, SECOND}


def test_those_who_wait_for_a_grade_are_named(course, lms, tmp_path, capfd):
    assert lms("export", "--lms=canvas", f"--to={tmp_path / 'canvas.csv'}") == 0
    told = f"Without a grade for {FIRST}, with work that is not graded yet: .Tim"
    assert told in capfd.readouterr().err


def test_a_grade_for_what_is_no_longer_there_is_named(course, lms, tmp_path, capfd):
    course.write(f"submitted/ada/{FIRST}/{FIRST}.ipynb", "{}")
    lms("export", f"--to={tmp_path / 'grades.csv'}")
    said = capfd.readouterr().err
    gone = f"With a grade for {FIRST}, but without a submission now: "
    assert f"{gone}Zoë Müller-O'Brien (zoe)\n" in said
    assert SECOND not in said


def test_a_submission_that_was_never_graded_is_not_missing(course, lms, tmp_path):
    course.write(f"submitted/new/{FIRST}/{FIRST}.ipynb", "{}")
    path = tmp_path / "grades.csv"
    lms("export", f"--to={path}", FIRST)
    assert {row[3]: row[-1] for row in rows(path)}["new"] == "not graded"


def test_canvas_gets_its_columns(course, lms, tmp_path, capfd):
    path = tmp_path / "canvas.csv"
    assert lms("export", "--lms=canvas", f"--to={path}") == 0
    header, *found = rows(path)
    assert header == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Lesson 1, first (4711)",
    ]
    assert sorted(found) == [
        ["Excused, Ill", "105", "", "", "'=1+1", "EX"],
        ['King, Countess "of" Lovelace, Ada', "101", "007", "aking", "A; morning", "14.5"],
        ["Müller-O'Brien, Zoë", "102", "008", "zmueller", "B", "9"],
        ["Späth, Noor", "104", "", "", "B", ""],
        ["_Under_Score/Slash, .Tim", "103", "", "", "B", ""],
    ]
    assert f"lessons.csv has no Canvas column for it: {SECOND}" in capfd.readouterr().err


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,"Lesson 1, first (4711)",Current Score
,,,,,Manual Posting,
    Points Possible,,,,,{most},(read only)
"Student, Test",99,,,A,,
"King, Ada",101,007,aking,A,7.00,50
"""


@pytest.mark.parametrize(
    ("most", "options", "grade"),
    [
        ("15.00", [], "14.5"),
        ("15,00", [], "14.5"),
        ("20.00", ["--any-maximum"], "14.5"),
        ("100.00", ["--percent"], "96.6667"),
    ],
)
def test_canvas_maximum_is_that_of_its_own_export(course, lms, tmp_path, most, options, grade):
    path = tmp_path / "canvas.csv"
    table = course.write("export.csv", CANVAS.format(most=f'"{most}"'))
    sheet = f"--worksheet={table}"
    assert lms("export", "--lms=canvas", sheet, f"--to={path}", *options, FIRST) == 0
    assert grade in {row[-1] for row in rows(path)}


def test_percentages_are_for_a_system(course, lms, tmp_path, capfd):
    path = tmp_path / "grades.csv"
    assert lms("export", "--percent", f"--to={path}") == 2
    assert "Percentages are for Canvas or Moodle: add LMS=…" in capfd.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (CANVAS.format(most="20.00"), f"is 20 in Canvas, but {FIRST} has 15 points. Set it to 15"),
        (CANVAS.format(most=""), "line 3: Lesson 1, first (4711) has no points, but ''"),
        (CANVAS.replace("    Points Possible", ""), "export.csv has no row 'Points Possible'"),
        (CANVAS.replace("4711", "4712"), "export.csv has no column 'Lesson 1, first (4711)'"),
    ],
    ids=["another", "empty", "no row", "no column"],
)
def test_another_maximum_in_canvas_is_an_error(course, lms, tmp_path, capfd, table, said):
    path = tmp_path / "canvas.csv"
    sheet = f"--worksheet={course.write('export.csv', table)}"
    assert lms("export", "--lms=canvas", sheet, f"--to={path}", FIRST) == 1
    assert said in capfd.readouterr().err and not path.exists()


def test_canvas_needs_a_title_for_a_lesson_that_was_named(course, lms, tmp_path, capfd):
    path = tmp_path / "canvas.csv"
    assert lms("export", "--lms=canvas", f"--to={path}", FIRST, SECOND) == 1
    said = capfd.readouterr().err
    assert f"no Canvas column for {SECOND}" in said and "Lesson 1 (4711)" in said
    assert not path.exists()


def test_who_can_not_be_found_in_canvas_is_listed(course, lms, tmp_path, capfd):
    course.hand_in("nameless", FIRST, 10, 5)
    path = tmp_path / "canvas.csv"
    assert lms("export", "--lms=canvas", f"--to={path}", FIRST) == 1
    said = capfd.readouterr().err
    assert "a name or an id to find these learners; add one in learners.csv: nameless\n" in said
    assert "The file is written, but the lines above name what is missing" in said
    assert ["nameless", "", "", "", "", "15"] in rows(path)


def test_an_unknown_lesson_and_a_bad_table_are_sentences(course, lms, tmp_path, capfd):
    assert lms("export", f"--to={tmp_path / 'x.csv'}", "01_frist") == 1
    assert f"no lesson '01_frist', only {FIRST}, {SECOND}. If the" in capfd.readouterr().err
    course.write("lessons.csv", "lesson,due\n01_first,tomorrow\n")
    assert lms("export", f"--to={tmp_path / 'x.csv'}") == 1
    said = capfd.readouterr().err
    assert "lessons.csv, line 2: due 'tomorrow'" in said and "Traceback" not in said


def test_without_a_gradebook_none_is_made(course, lms, tmp_path, capfd):
    book = course.root / "gradebook.db"
    book.unlink()
    options = "--lms=canvas", f"--to={tmp_path / 'x.zip'}"
    assert (lms("export"), lms("feedback", FIRST, *options)) == (1, 2)
    said = capfd.readouterr().err
    assert said.count("There is no gradebook: there is no file gradebook.db. If the") == 2
    assert said.count("generate_assignment --force LESSON`, then `make grade LESSON=…`") == 2
    assert "Traceback" not in said and not book.exists()


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("command", ["adjust", "learners", "collect"])
def test_a_read_only_disk_is_a_sentence(course, zipped, tmp_path, command):
    roster = tmp_path / "roster.csv"
    roster.write_text("name\nAda King\n", encoding="utf-8")
    arguments = {
        "adjust": [FIRST, "a", "full"],
        "learners": [roster],
        "collect": [FIRST, zipped(f"kingada_101_2001_{FIRST}.ipynb"), "--lms=canvas"],
    }[command]
    program = [sys.executable, "-m", "autograder.course", command, *arguments]
    done = subprocess.run(
        [
            *("bwrap", "--dev-bind", "/", "/", "--ro-bind", course.root, course.root),
            *(*program, f"--course={course.root}"),
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 1, done.stderr
    assert "can't be read or written (Read-only file system). Mend that" in done.stderr
    assert "Traceback" not in done.stderr and str(os.getpid()) not in done.stderr


def test_a_file_that_can_not_be_written_is_a_sentence(course, lms, tmp_path, capfd):
    (tmp_path / "folder").mkdir()
    assert lms("export", f"--to={tmp_path / 'folder'}") == 1
    assert "can't be written (Is a directory): name another file" in capfd.readouterr().err
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_does_not_exist_is_not_made(course, lms, tmp_path, capfd):
    assert lms("export", f"--to={tmp_path / 'no' / 'x.csv'}") == 1
    assert f"There is no folder {tmp_path / 'no'}: name another file" in capfd.readouterr().err
    assert not (tmp_path / "no").exists()


def test_nbgraders_own_command_writes_utf_8_in_any_locale(course, tmp_path):
    path = tmp_path / "grades.csv"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "nbgrader", "export"),
            "--exporter=autograder.grading.lms.export.CsvExporter",
            f"--to={path}",
            f"--CourseDirectory.root={course.root}",
            f"--assignment={FIRST}",
            "--student=zoe",
        ],
        cwd=ROOT,
        env=os.environ | locale,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert [row[5] for row in rows(path)] == ["first_name", "Zoë"]


def test_a_missing_course_is_a_sentence(capsys):
    from autograder.course.__main__ import main

    assert main(["export", "--course=/nowhere"]) == 2
    assert "no course directory /nowhere: name one with --course" in capsys.readouterr().err


def test_an_export_replaces_one_of_its_kind_and_nothing_else(course, lms, capfd):
    table, page = course.root / "learners.csv", course.write("page.html", "<p>mine</p>")
    before = table.read_bytes()
    for path in (table, page):
        assert lms("export", f"--to={path}") == 1
        assert "is another kind of file, and was not replaced" in capfd.readouterr().err
    assert (table.read_bytes(), page.read_text(encoding="utf-8")) == (before, "<p>mine</p>")
    path = course.root / "all.csv"
    assert lms("export", f"--to={path}") == lms("export", f"--to={path}", FIRST) == 0


def test_feedback_replaces_no_other_zip(course, lms, tmp_path, capfd):
    download = tmp_path / "download.zip"
    with zipfile.ZipFile(download, "w") as file:
        file.writestr(f"kingada_101_2001_{FIRST}.ipynb", "{}")
    before = download.read_bytes()
    assert lms("collect", FIRST, "--lms=canvas", download) == 0
    course.write(f"feedback/ada/{FIRST}/{FIRST}.html", "<p>ada</p>")
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={download}") == 2
    assert "is another kind of file" in capfd.readouterr().err
    assert download.read_bytes() == before
    path = tmp_path / "feedback.zip"
    for _ in range(2):
        assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 0
