"""Points for a cell, given to many at once: `adjustments.csv`, and the command that writes it."""

import json
from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.grading.gradebook.adjust import adjust
from autograder.grading.gradebook.course_files import course_files
from autograder.grading.gradebook.follow_tables import bring_up_to_date
from autograder.grading.gradebook.lesson_grades import lesson_grades
from autograder.grading.gradebook.notebook_facts import read_facts
from autograder.grading.term.tables import read_term
from autograder.grading.worker.job import run_path
from tests.grading.term.made_course import FIRST, SECOND, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
LATE = datetime(2026, 10, 6, 12)


@pytest.fixture
def course(tmp_path):
    """Cell `a` has 10 points, `b` 5. Tim's `a` waits for a person."""
    made = make_course(tmp_path)
    made.hand_in("ada", FIRST, 10, 2)
    made.hand_in("bob", FIRST, 4, 5, timestamp=LATE)
    made.hand_in("tim", FIRST, None, 0)
    return made


def give(course, cell, points, *who, lesson=FIRST):
    return adjust(course_files(course.root), lesson, cell, points, who)


def grades(course, lesson=FIRST):
    with course.book() as book:
        found = lesson_grades(book, lesson, read_term(course.root)).learners
    return {who: None if grade.waiting else grade.points for who, grade in found.items()}


@pytest.mark.parametrize(
    ("cell", "points", "after"),
    [
        ("b", "3", {"ada": 13, "bob": 9, "tim": None}),  # at least: bob keeps his 5
        ("b", "full", {"ada": 15, "bob": 9, "tim": None}),
        ("b", "excused", {"ada": 15, "bob": 6, "tim": None}),  # 10 of 10, 4 of 10
        ("a", "full", {"ada": 12, "bob": 15, "tim": 10}),  # nobody has to look any more
        ("a", "excused", {"ada": 6, "bob": 15, "tim": 0}),
        ("a", "7,5", {"ada": 12, "bob": 12.5, "tim": None}),
    ],
)
def test_everyone_gets_it(course, cell, points, after):
    give(course, cell, points)
    assert grades(course) == after


def test_it_can_be_taken_back(course):
    before = grades(course)
    give(course, "a", "full")
    give(course, "b", "2", "ada", "tim")
    assert grades(course) == {"ada": 12, "bob": 15, "tim": 12}
    assert give(course, "b", "none", "ada", "tim").splitlines() == [
        "everyone gets all points for `a`."
    ]
    assert give(course, "a", "none") == f"adjustments.csv has nothing on {FIRST} now."
    assert grades(course) == before


def test_a_learners_own_row_comes_before_everyones(course):
    give(course, "b", "full")
    told = give(course, "b", "3", "ada")
    assert told.splitlines() == [
        "everyone gets all points for `b`.",
        "ada gets at least 3 points for `b`.",
    ]
    assert grades(course)["ada"] == 13
    give(course, "b", "4", "ada")
    assert grades(course)["ada"] == 14
    give(course, "b", "none")
    assert grades(course)["ada"] == 12


@pytest.mark.parametrize(
    ("cell", "who", "told"),
    [
        ("a", ["ada"], "No row of their own for `a`, and the one for everyone holds: ada."),
        ("b", ["ada", "tim"], "No row of their own for `b`: ada."),
        ("b", ["tim"], ""),
        ("a", [], ""),
    ],
)
def test_what_is_not_there_to_be_taken_back_is_named(course, cell, who, told):
    give(course, "a", "full")
    give(course, "b", "2", "tim")
    said = give(course, cell, "none", *who).splitlines()
    assert (told in said) if told else not any("No row" in line for line in said)
    give(course, cell, "none")
    assert "There was nothing to remove" in give(course, cell, "none")


def test_all_cells_left_out_leave_all_points(course):
    give(course, "a", "excused")
    give(course, "b", "excused")
    assert grades(course) == {"ada": 15, "bob": 15, "tim": 15}


def test_other_lessons_and_extra_credit_stay(course):
    course.hand_in("ada", SECOND, 1, 1)
    with course.book() as book:
        book.find_grade("b", FIRST, FIRST, "ada").extra_credit = 4
        book.db.commit()
    give(course, "b", "full")
    assert (grades(course)["ada"], grades(course, SECOND)["ada"]) == (16, 2)


def test_lateness_takes_off_a_share_of_the_adjusted_points(course):
    course.write("lessons.csv", f"lesson,due,late_percent\n{FIRST},2026-10-05 13:00,10\n")
    for points, penalty in (("full", 1.5), ("none", 0.9)):
        give(course, "a", points)
        with course.book() as book:
            term = read_term(course.root)
            bring_up_to_date(book, term)
            facts = read_facts(book, FIRST, FIRST, "bob", term)
        assert (facts.grade.penalty, facts.late_percent) == (pytest.approx(penalty), 10)


def test_those_whose_submission_had_no_cell(course):
    for learner, absent in (("ada", []), ("bob", ["b"]), ("tim", ["a", "b"])):
        notebook = course.root / "autograded" / learner / FIRST / f"{FIRST}.ipynb"
        notebook.parent.mkdir(parents=True)
        notebook.write_text("{}")
        run_path(notebook).write_text(json.dumps({"absent": absent}))
    assert give(course, "b", "excused", "lacking").splitlines() == [
        "`b` doesn't count for bob.",
        "`b` doesn't count for tim.",
    ]
    assert give(course, "a", "full", "lacking").splitlines()[2:] == ["tim gets all points for `a`."]


@pytest.mark.parametrize(
    ("cell", "points", "who", "told"),
    [
        ("c", "full", [], "01_first has no graded cell 'c'. It has a, b."),
        ("a", "11", [], "a has 10 points: give no more than that."),
        ("a", "-1", [], "POINTS=-1 can't be read: write a number, 'full' or 'excused', or 'none'"),
        ("a", "nan", [], "POINTS=nan can't be read"),
        ("a", "full", ["zoe", "ada"], "With no submission to 01_first in the gradebook: zoe."),
        ("a", "full", ["lacking"], "Every submission to 01_first had a cell for a."),
    ],
)
def test_what_makes_no_sense_changes_nothing(course, cell, points, who, told):
    with pytest.raises(CourseError) as error:
        give(course, cell, points, *who)
    assert told in str(error.value)
    assert not (course.root / "adjustments.csv").exists()


def test_without_a_gradebook_or_lesson(course, tmp_path):
    with pytest.raises(CourseError, match="no lesson '03_third'"):
        give(course, "a", "full", lesson="03_third")
    (tmp_path / "gradebook.db").unlink()
    with pytest.raises(CourseError, match="There is no gradebook"):
        give(course, "a", "full")


def test_a_cell_that_the_lesson_does_not_have_is_named(course):
    course.write("adjustments.csv", f"lesson,cell,points\n{FIRST},c,full\n")
    told = "adjustments.csv: 01_first has no graded cell 'c'. It has a, b."
    with pytest.raises(CourseError, match=told):
        grades(course)
    assert grades(course, SECOND) == {}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (f"{FIRST},a,much,\n", "line 2: points 'much' can't be read: write a number"),
        (f"{FIRST},a,1,\n{FIRST},a,2,\n", "line 3: lesson '01_first', cell 'a', learner '' is on"),
        (f"{FIRST},,1,\n", "line 2: cell is empty"),
        (f"{FIRST},a,1,zoe\n", "line 2: learner 'zoe' is not in learners.csv; add it there."),
    ],
)
def test_a_malformed_table_is_named(course, rows, told):
    course.write("learners.csv", "learner\nada\n")
    course.write("adjustments.csv", f"lesson,cell,points,learner\n{rows}")
    with pytest.raises(CourseError) as error:
        read_term(course.root)
    assert told in str(error.value)
