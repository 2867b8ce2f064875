"""A gradebook moves to another database with everything that is in it."""

import pytest
from nbgrader.api import Gradebook

from autograder.course.__main__ import main
from autograder.errors import CourseError
from autograder.grading.gradebook.lesson_grades import lesson_grades
from autograder.grading.gradebook.move import move_gradebook
from autograder.grading.term.tables import Term
from tests.grading.term.made_course import FIRST, make_course
from tests.support.servers import postgresql

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def course(tmp_path):
    course = make_course(tmp_path / "course")
    with course.book() as book:
        book.add_solution_cell("a", FIRST, FIRST)
    course.hand_in("ada", FIRST, 10, None, manual=3.5, penalty=2)
    course.hand_in("ben", FIRST, 1, 2)
    with course.book() as book:
        book.find_comment("a", FIRST, FIRST, "ada").manual_comment = "Well said."
        book.db.commit()
    return course


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def target(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/new.db"
    else:
        with postgresql() as address:
            yield address


def grades(address):
    with Gradebook(address, "c") as book:
        learners = lesson_grades(book, FIRST, Term()).learners
        said = book.find_comment("a", FIRST, FIRST, "ada").comment
        points = {name: (grade.by_name, grade.penalty) for name, grade in learners.items()}
        return points, said


def test_grades_comments_and_points_by_hand_come_along(course, target):
    before = grades(course.address)
    assert "2 submissions are now in" in move_gradebook(course.address, target)
    assert grades(target) == before == grades(course.address) and before[1] == "Well said."


def test_a_gradebook_is_never_written_over(course, target):
    move_gradebook(course.address, target)
    with pytest.raises(CourseError, match="holds a gradebook already"):
        move_gradebook(course.address, target)


@pytest.mark.parametrize("address", ["nowhere", "sqlite:////nowhere/at/all.db"])
def test_an_address_that_leads_nowhere(course, address):
    with pytest.raises(CourseError, match="could not be moved"):
        move_gradebook(course.address, address)


def test_the_command_names_the_address_without_its_password(course, capsys):
    url = "postgresql+psycopg://me:secret@127.0.0.1:9/none"
    assert main(["gradebook", f"--course={course.root}", f"--to={url}"]) == 2
    said = capsys.readouterr().err
    assert "postgresql+psycopg://me:***@127.0.0.1:9/none" in said and "secret" not in said


def test_there_is_nothing_to_move(tmp_path):
    with pytest.raises(CourseError, match=r"no gradebook: there is no file old\.db"):
        move_gradebook(f"sqlite:///{tmp_path}/old.db", f"sqlite:///{tmp_path}/new.db")
