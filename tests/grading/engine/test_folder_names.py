"""Folders in `submitted` that can't be a learner's are refused by name, and shown nowhere."""

import csv
import os
import shutil

import pytest

from autograder.grading.report.write_reports import write_reports
from tests.support.classroom import LESSON, command, gradebook, make_course, nbgrader, scores
from tests.support.commands import run

pytestmark = pytest.mark.usefixtures("sandbox")
HONEST, FORMULA = "learner_000", "=1+1"
REFUSED = {
    b"<img src=x onerror=evil()>": "it has < in it",
    b"<b>bold": "it has < in it",
    b"a&lt;b": "it has & in it",
    b"\x1b[2Jclear": "it has characters that can't be shown",
    b"two\nlines": "it has characters that can't be shown",
    "turned\u202e".encode(): "it has characters that can't be shown",
    b"caf\xe9": "it has characters that can't be shown",
    b"\xff\xfe": "it has characters that can't be shown",
    b".hidden": "it starts with a dot or a dash",
    b"-rf": "it starts with a dot or a dash",
    b"--help": "it starts with a dot or a dash",
    b"x" * 101: "it has more than 100 characters",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    make_course(course, 1)
    honest = course / "submitted" / HONEST
    shutil.copytree(honest, course / "submitted" / FORMULA)
    for name in REFUSED:
        os.symlink(os.fsencode(honest), os.path.join(os.fsencode(course), b"submitted", name))
    left = course / "autograded" / "gone" / f".{LESSON.name}.new.unfinished"
    left.mkdir(parents=True)
    (left / "half.ipynb").write_text("{", encoding="utf-8")
    return course


@pytest.fixture(scope="module")
def graded(course):
    """What grading says; its exit status is 1."""
    done = run(*command(course, "autograde", LESSON.name))
    assert done.status == 1
    return done.said


def test_each_is_named_with_the_reason(graded):
    refusals = [line for line in graded.splitlines() if "refused: " in line]
    assert len(refusals) == len(REFUSED)
    for reason in REFUSED.values():
        assert any(reason in line for line in refusals)
    assert "the folder '<b>bold' in submitted can't have a learner's name" in graded
    assert "2 graded" in graded and "Traceback" not in graded


def test_a_terminal_is_shown_no_control_characters(graded):
    assert all(line.isprintable() for line in graded.replace("\r", "\n").split("\n"))


def test_only_learners_are_graded(course, graded):
    assert set(os.listdir(course / "autograded")) <= {HONEST, FORMULA, "gone"}
    assert set(scores(gradebook(course))) == {HONEST, FORMULA}


def test_what_a_killed_run_left_is_gone(course, graded):
    assert not list(course.glob("autograded/*/.*"))


def test_they_are_not_in_formgraders_lists(course, graded):
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    from autograder.grading.engine.autograde import install

    install()
    api = NbGraderAPI(CourseDirectory(root=str(course)))
    assert api.get_submitted_students(LESSON.name) == {HONEST, FORMULA}


def test_they_are_not_on_the_report(course, graded):
    # As an earlier version would have graded it.
    for name in ("<b>bold", "-rf"):
        (course / "autograded" / name).symlink_to(course / "autograded" / HONEST)
    with gradebook(course) as book:
        book.update_or_create_student("<b>bold")
        book.add_submission(LESSON.name, "<b>bold")
    [(_, page)] = write_reports(LESSON.name, course)
    html = page.read_text(encoding="utf-8")
    assert FORMULA in html and "bold" not in html and "-rf" not in html and "clear" not in html


def test_they_get_no_feedback_and_no_grade_and_formulas_are_text(course, graded):
    nbgrader(course, "generate_feedback", LESSON.name)
    assert set(os.listdir(course / "feedback")) == {HONEST, FORMULA}
    nbgrader(course, "export", f"--to={course / 'grades.csv'}")
    with (course / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["student_id"] for row in rows} == {HONEST, f"'{FORMULA}"}
