"""`nbgrader generate_feedback` writes our pages from the gradebook and the graded notebooks."""

import errno
import json
import logging
import shutil
from datetime import timedelta
from unittest.mock import Mock

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.grading.engine import write_feedback
from autograder.grading.engine.write_feedback import GenerateFeedback
from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.gradebook.notebook_facts import NotebookFacts, read_facts
from autograder.grading.term.tables import Term
from tests.grading.feedback.made import (
    LESSON,
    MISTAKE,
    MONDAY,
    exercise,
    markdown,
    notebook,
    parsed,
    solution,
    words,
)

# nbgrader 0.9.6 with SQLAlchemy 2.1 causes dozens, all harmless.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
PLACE = LESSON, LESSON, "ada"


class Course:
    """A course directory with one graded notebook, whose grades can be changed."""

    def __init__(self, root):
        self.root = root
        self.page = root / "feedback" / "ada" / LESSON / f"{LESSON}.html"
        self.url = f"sqlite:///{root}/gradebook.db"

    def fill(self):
        cells = [*exercise("softmax", 1, MISTAKE), *exercise("attend", 4)]
        self.write("autograded/ada", cells)
        with self.gradebook() as book:
            _enter(book, [cell.metadata["nbgrader"]["grade_id"] for cell in cells])

    def gradebook(self):
        return Gradebook(self.url, "course")

    def write(self, place, cells):
        path = self.root / place / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = [
            {
                "cell_type": cell.kind,
                "source": cell.source,
                "metadata": cell.metadata,
                "outputs": list(cell.outputs),
            }
            for cell in notebook(*cells)
        ]
        path.write_text(json.dumps({"cells": raw, "metadata": {}}), encoding="utf-8")

    def change(self, **values):
        """Change the grade of the first check in the gradebook."""
        with self.gradebook() as book:
            grade = book.find_grade("check_softmax", *PLACE)
            for name, value in values.items():
                setattr(grade, name, value)
            book.db.commit()

    def facts(self):
        with self.gradebook() as book:
            return read_facts(book, *PLACE, Term())

    def softmax(self):
        return self.facts().grade.by_name["check_softmax"]

    def feedback(self, **options):
        """Generate feedback; return whether the page was written."""
        before = self.page.stat().st_ino if self.page.exists() else 0
        config = Config()
        config.CourseDirectory.root = str(self.root)
        config.CourseDirectory.assignment_id = LESSON
        course = CourseDirectory(config=config)
        GenerateFeedback(coursedir=course, config=config, **options).start()
        return self.page.stat().st_ino != before

    def shown(self):
        return parsed(self.page.read_text(encoding="utf-8"))


def _enter(book, names):
    """Enter a lesson in a gradebook, and a submission with the check's points."""
    book.add_assignment(LESSON, duedate=MONDAY)
    book.add_notebook(LESSON, LESSON)
    for name in names:
        if name.startswith("check_"):
            book.add_grade_cell(name, LESSON, LESSON, max_score=4, cell_type="code")
        else:
            book.add_solution_cell(name, LESSON, LESSON)
    book.add_student("ada")
    book.add_submission(LESSON, "ada")
    for name, points in (("check_softmax", 1), ("check_attend", 4)):
        grade = book.find_grade(name, *PLACE)
        grade.auto_score, grade.needs_manual_grade = points, False
    book.db.commit()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A course directory to copy: making a gradebook takes a second or two."""
    root = tmp_path_factory.mktemp("course")
    Course(root).fill()
    return root


@pytest.fixture
def course(filled, tmp_path):
    return Course(shutil.copytree(filled, tmp_path / "course"))


def test_the_facts_of_a_plain_submission(course):
    cells = CellGrade("check_attend", 4, 4, None), CellGrade("check_softmax", 4, 1, None)
    found = course.facts()
    assert found == NotebookFacts("ada", LESSON, LESSON, Grade(cells), {})
    assert (found.grade.points, found.grade.most) == (5, 8)


def test_all_that_a_gradebook_can_say(course):
    with course.gradebook() as book:
        student = book.find_student("ada")
        student.first_name, student.last_name = "Ada\n", "King\u202e"
        book.find_submission(LESSON, "ada").timestamp = MONDAY + timedelta(hours=2)
        book.find_submission_notebook(*PLACE).late_submission_penalty = 0.5
        book.find_comment("softmax", *PLACE).manual_comment = "Well said."
        book.find_comment("softmax", *PLACE).auto_comment = "No response."
        book.find_comment("attend", *PLACE).manual_comment = " "
        book.db.commit()
    course.change(manual_score=2.5, extra_credit=1)
    found = course.facts()
    assert found.learner == "Ada King�" and found.comments == {"softmax": "Well said."}
    assert course.softmax() == CellGrade("check_softmax", 4, 1, 2.5, 1)
    assert found.grade.points == 7
    assert found.untouched == ("softmax",)
    assert found.grade.penalty == 0.5 and found.grade.late == timedelta(hours=2)
    assert found.grade.submitted == MONDAY + timedelta(hours=2)


def test_points_that_nobody_gave_are_unknown(course):
    course.change(auto_score=None)
    assert course.softmax().points is None and course.facts().grade.points == 4
    course.change(manual_score=0)
    assert course.softmax().points == 0


def test_points_that_wait_for_another_look_are_not_final(course):
    course.change(manual_score=3, needs_manual_grade=True)
    assert course.softmax() == CellGrade("check_softmax", 4, 1, 3, waits=True)
    assert course.feedback()
    assert "7 of 8 points so far" in words(course.shown())
    assert "Your instructor will look at it again." in words(course.shown())
    course.change(needs_manual_grade=False)
    assert course.feedback()
    assert "so far" not in words(course.shown()) and "look at it" not in words(course.shown())


def test_the_page_is_ours(course):
    assert course.feedback()
    assert words(course.shown().h1) == "01 of two exercises"
    assert "Feedback for ada" in words(course.shown())
    assert "◐ some points Where is exp ?" in words(course.shown())


def test_the_source_gives_title_and_order(course):
    cells = [markdown("# 1. Of *two*\n\nText"), *exercise("attend", 4), *exercise("softmax", 4)]
    course.write("source/.", [*cells, solution("x", "")])
    course.feedback()
    assert words(course.shown().h1) == "1. Of *two*"
    assert [words(title) for title in course.shown().find_all("h3")][:2] == ["attend", "softmax"]


def test_a_page_is_written_when_it_would_show_something_else(course):
    assert course.feedback() and not course.feedback()
    course.change(manual_score=3)
    assert course.feedback() and not course.feedback()
    assert "Your instructor gave 3 of 4 points; the check gave 1." in words(course.shown())
    with course.gradebook() as book:
        book.find_student("ada").first_name = "Ada"
        book.find_comment("attend", *PLACE).manual_comment = "Well said."
        book.db.commit()
    assert course.feedback() and not course.feedback()
    assert "Well said." in words(course.shown()) and "Feedback for Ada" in words(course.shown())
    course.write("autograded/ada", exercise("softmax", 0, "Another."))
    assert course.feedback() and not course.feedback()
    assert course.feedback(force=True)


def lose(course, how, monkeypatch):
    """Lose the gradebook or the disk; return what the command says."""
    if how in ("gone", "new"):
        (course.root / "gradebook.db").unlink()
    if how == "new":
        course.gradebook().close()
    if how == "learner":
        with course.gradebook() as book:
            book.remove_student("ada")
    if how == "disk":
        failing = Mock(side_effect=OSError(errno.EROFS, "Read-only file system"))
        monkeypatch.setattr(write_feedback, "write_whole", failing)
    return {
        "gone": "There is no gradebook: there is no file gradebook.db. If",
        "new": "The gradebook has no lesson. If",
        "learner": f"has no grade (`make grade LESSON={LESSON}` makes one): ada",
        "disk": "No new page, because Read-only file system: ada",
    }[how]


@pytest.mark.parametrize("how", ["gone", "new", "learner", "disk"])
def test_what_can_not_be_written_leaves_the_page_and_no_traceback(course, how, monkeypatch, caplog):
    course.feedback()
    before = course.page.read_bytes()
    told = lose(course, how, monkeypatch)
    with pytest.raises(NbGraderException):
        course.feedback(force=True, log=logging.getLogger("feedback"))
    assert told in caplog.text and "Traceback" not in caplog.text
    assert course.page.read_bytes() == before
    assert (course.root / "gradebook.db").exists() == (how != "gone")


def test_another_time_zone_makes_another_page(course, monkeypatch):
    with course.gradebook() as book:
        book.find_submission(LESSON, "ada").timestamp = MONDAY
        book.db.commit()
    assert course.feedback() and not course.feedback()
    monkeypatch.setenv("COURSE_TIME_ZONE", "Europe/Berlin")
    assert course.feedback() and not course.feedback()
    assert "CEST" in words(course.shown())
    monkeypatch.setenv("COURSE_TIME_ZONE", "Nowhere")
    with pytest.raises(NbGraderException, match="COURSE_TIME_ZONE is 'Nowhere'"):
        course.feedback()


def test_only_the_page_is_handed_back(course):
    graded = course.root / "autograded" / "ada" / LESSON
    for name in (f"{LESSON}.run.json", "notes.txt", "evil.html"):
        (graded / name).write_text("{}", encoding="utf-8")
    (graded / f"{LESSON}.html").mkdir()
    (graded / f"{LESSON}.html" / "more.txt").write_text("in the page's place")
    assert course.feedback()
    assert [path.name for path in course.page.parent.iterdir()] == [f"{LESSON}.html"]


def test_a_page_of_nbgraders_is_replaced(course):
    course.page.parent.mkdir(parents=True)
    course.page.write_text("<html>\n<!-- made from 0123 -->\n", encoding="utf-8")
    assert course.feedback() and "some points" in words(course.shown())


def test_invalid_unicode_does_not_stop_it(course):
    cells = exercise("softmax", 1, "\ud800")
    cells[0].metadata["nbgrader"] |= {"more": "\udfff"}
    course.write("autograded/ada", [*cells, *exercise("attend", 4)])
    assert course.feedback() and "some points" in words(course.shown())
