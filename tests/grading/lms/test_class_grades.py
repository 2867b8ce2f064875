"""Which learners have which grades, and why others have none."""

from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.grading.gradebook.grades import Standing
from autograder.grading.lms.class_grades import class_list, exact, read_class_grades
from autograder.grading.term.tables import Extension, Learner, Term
from tests.grading.term.made_course import FIRST, SECOND, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
DUE = datetime(2026, 10, 5, 12)


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


def read(course, term=Term(), submitted=lambda learner, lesson: False, **only):  # noqa: B008
    with course.book() as book:
        return read_class_grades(book, term, submitted, **only).grades


def test_a_grade_is_the_points_after_the_penalty_and_never_below_0(course):
    course.hand_in("ada", FIRST, 10, 3.5, timestamp=DUE, penalty=2)
    course.hand_in("tim", FIRST, 1, 0, penalty=3)
    course.hand_in("zoe", FIRST, 10, 2, manual=5)
    grades = read(course, lessons=[FIRST])
    ada = grades["ada", FIRST]
    assert (ada.standing, ada.most) == (Standing.GRADED, 15)
    assert (ada.grade.before_penalty, ada.grade.penalty) == (13.5, 2)
    assert ada.grade.submitted == DUE
    points = {learner: one.points for (learner, _), one in grades.items()}
    assert points == {"ada": 11.5, "tim": 0, "zoe": 15}


def test_who_has_no_grade_has_a_reason_and_not_zero(course):
    course.hand_in("ada", FIRST, 10, None)
    course.hand_in("bob", FIRST, None, 5, waiting=False)
    course.hand_in("tim", FIRST, 10, 5, waiting=True)
    course.hand_in("zoe", FIRST, 10, 5)
    term = Term({"new": Learner("new")}, {}, {("zoe", FIRST): Extension(excused=True)})
    grades = read(course, term, lambda learner, lesson: lesson == SECOND and learner == "tim")
    assert {pair: one.standing.value for pair, one in grades.items()} == {
        ("ada", FIRST): "not graded",
        ("bob", FIRST): "not graded",
        ("tim", FIRST): "not graded",
        ("zoe", FIRST): "excused",
        ("new", FIRST): "missing",
        ("ada", SECOND): "missing",
        ("bob", SECOND): "missing",
        ("tim", SECOND): "not graded",  # it is in the course directory
        ("zoe", SECOND): "missing",
        ("new", SECOND): "missing",
    }
    assert {one.points for one in grades.values()} == {None}
    assert {one.most for one in grades.values()} == {15}


def test_a_submission_without_its_grades_is_not_graded(course):
    course.hand_in("ada", FIRST, 10, 5)
    with course.book() as book:
        book.db.delete(book.find_grade("b", FIRST, FIRST, "ada"))
        book.db.commit()
    assert read(course)["ada", FIRST].standing is Standing.NOT_GRADED


def test_the_class_is_sorted_by_name_and_takes_names_from_both_sides(course):
    with course.book() as book:
        book.add_student("zoe", last_name="Adams", first_name="Zoë", email="zoe@example.org")
        book.add_student("tim", last_name="Old", first_name="Tim")
        term = Term({"ada": Learner("ada", "King"), "tim": Learner("tim", "Berners-Lee")})
        assert class_list(book, term) == [
            Learner("zoe", "Adams", "Zoë", "zoe@example.org"),
            Learner("tim", "Berners-Lee", "Tim"),
            Learner("ada", "King"),
        ]


def test_only_what_was_asked_for_in_that_order(course):
    for learner in ("ada", "tim", "zoe"):
        course.hand_in(learner, FIRST, 10, 5)
    grades = read(course, lessons=[SECOND, FIRST], learners=["tim"])
    assert list(grades) == [("tim", SECOND), ("tim", FIRST)]


def test_unknown_names_are_errors(course):
    course.hand_in("ada", FIRST, 10, 5)
    with pytest.raises(CourseError, match=f"no lesson '01', only {FIRST}, {SECOND}"):
        read(course, lessons=["01"])
    with pytest.raises(CourseError, match="no learner 'bob', only ada"):
        read(course, learners=["bob"])


@pytest.mark.parametrize(
    ("value", "written"),
    [(15.0, "15"), (0.0, "0"), (100, "100"), (0.1 + 0.2, "0.3"), (11.25, "11.25"), (None, "")],
)
def test_numbers_have_no_needless_digits(value, written):
    assert exact(value) == written
