"""The grades of a lesson are read all at once, and every kind of graded cell counts."""

from datetime import timedelta

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event

from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.gradebook.lesson_grades import (
    lesson_grades,
    read_grade,
)
from autograder.grading.gradebook.opening import NoGradebook, reading
from autograder.grading.term.tables import Term
from tests.grading.term.made_course import FIRST, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


def queries(course):
    """Count the queries for all grades of a lesson."""
    asked = []
    with course.book() as book:
        event.listen(book.engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
        lesson_grades(book, FIRST, Term())
    return len(asked)


def test_a_class_costs_as_many_queries_as_one_learner(course):
    course.hand_in("ada", FIRST, 10, 5)
    one = queries(course)
    for learner in ("ben", "cleo", "dan"):
        course.hand_in(learner, FIRST, 10, 5)
    assert queries(course) == one


def test_the_grade_of_one_is_the_same_as_in_the_class(course):
    course.hand_in("ada", FIRST, 10, None, manual=3.5, penalty=2)
    course.hand_in("ben", FIRST, 1, 2)
    cells = CellGrade("a", 10, 10, None), CellGrade("b", 5, None, 3.5)
    with course.book() as book:
        known = lesson_grades(book, FIRST, Term())
        assert known.learners["ada"] == read_grade(book, FIRST, "ada") == Grade(cells, 2)
        assert read_grade(book, FIRST, "nobody") == Grade()
    assert (known.learners["ada"].points, known.points) == (11.5, 15)


def test_a_task_counts_among_the_points(course):
    with course.book() as book:
        book.add_task_cell("plot", FIRST, FIRST, max_score=4, cell_type="markdown")
    course.hand_in("ada", FIRST, 10, 5)
    with course.book() as book:
        known = lesson_grades(book, FIRST, Term())
        assert known.most == {"a": 10, "b": 5, "plot": 4} and known.points == 19
        assert not known.is_graded("ada") and known.learners["ada"].waiting_for == {"plot"}
        grade = book.find_grade("plot", FIRST, FIRST, "ada")
        grade.manual_score, grade.needs_manual_grade = 3, False
        book.db.commit()
        assert lesson_grades(book, FIRST, Term()).is_graded("ada")


def test_an_extended_submission_is_not_late(course):
    course.hand_in("ada", FIRST, 10, 5)
    with course.book() as book:
        submission = book.find_submission(FIRST, "ada")
        submission.timestamp = submission.assignment.duedate + timedelta(hours=30)
        submission.extension = timedelta(days=1)
        book.db.commit()
        assert read_grade(book, FIRST, "ada").late == timedelta(hours=6)


@pytest.mark.parametrize(
    ("name", "wanted", "told"),
    [
        ("gone.db", "", r"There is no gradebook: there is no file gone\.db\. If the gradebook was"),
        ("empty.db", "", r"The gradebook has no lesson\. If the gradebook was lost"),
        ("new.db", "", r"The gradebook has no lesson\. If the gradebook was lost"),
        ("gradebook.db", "03_third", r"has no lesson '03_third', only 01_first, 02_second\. If"),
    ],
)
def test_reading_makes_no_gradebook_and_needs_the_lesson(course, name, wanted, told):
    (course.root / "empty.db").touch()
    Gradebook(f"sqlite:///{course.root}/new.db").close()
    before = {path.name for path in course.root.iterdir()}
    with pytest.raises(NoGradebook, match=told), reading(f"sqlite:///{course.root}/{name}", wanted):
        pass
    assert {path.name for path in course.root.iterdir()} == before
