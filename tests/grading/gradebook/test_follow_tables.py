"""The gradebook follows the tables of the term, and changes only where they differ."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import event

from autograder.grading.gradebook.follow_tables import bring_up_to_date
from autograder.grading.term.tables import read_term
from tests.grading.term.made_course import FIRST, SECOND, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
DUE = datetime(2026, 10, 5, 12)
LATE = DUE + timedelta(hours=25)  # the second day late has begun


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "my coursé [2]")


def update(course):
    with course.book() as book:
        return bring_up_to_date(book, read_term(course.root))


def students(course):
    with course.book() as book:
        return {
            one.id: (one.last_name, one.first_name, one.email)
            for one in sorted(book.students, key=lambda one: one.id)
        }


def test_without_tables_nothing_changes(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=LATE, penalty=3)
    assert update(course) == []
    assert course.submission("ada", FIRST) == (DUE, 25 * 3600, 3)


def test_learners_are_added_and_named_and_nobody_is_removed(course):
    course.hand_in("ada", FIRST, 10, 5)
    course.hand_in("old", FIRST, 10, 5)
    course.write(
        "learners.csv",
        "learner,last_name,first_name,email\n"
        'ada,"King, Countess",Ada,ada@example.org\nzoe,Müller,Zoë,\n',
    )
    assert update(course) == ["Ada King, Countess (ada) renamed", "Zoë Müller (zoe) added"]
    assert students(course) == {
        "ada": ("King, Countess", "Ada", "ada@example.org"),
        "old": (None, None, None),
        "zoe": ("Müller", "Zoë", None),
    }


def test_a_name_that_a_table_leaves_open_stays(course):
    with course.book() as book:
        book.add_student("ada", last_name="King", first_name="Ada", email="ada@example.org")
    course.write("learners.csv", "learner,last_name\nada,\n")
    assert update(course) == []
    assert students(course)["ada"] == ("King", "Ada", "ada@example.org")


def test_due_dates_of_known_lessons_are_set(course):
    course.write(
        "lessons.csv",
        f"lesson;due\n{FIRST};2026-10-06 14:00 +02:00\n{SECOND};\n03_third;2026-12-24 12:00\n",
    )
    assert update(course) == [f"{FIRST} is due 2026-10-06 12:00 UTC"]
    with course.book() as book:
        assert {one.name: one.duedate for one in book.assignments} == {
            FIRST: DUE + timedelta(days=1),
            SECOND: None,
        }


def test_an_extension_is_nbgraders_own_and_follows_the_tables(course):
    for learner in ("ada", "zoe"):
        course.hand_in(learner, FIRST, 10, 5, timestamp=LATE)
    course.write("lessons.csv", f"lesson,due\n{FIRST},2026-10-05 12:00\n")
    extensions = f"learner,lesson,due\nada,{FIRST},2026-10-06 12:30\n"
    course.write("extensions.csv", extensions)
    assert update(course) == [f"ada, {FIRST}: due 2026-10-06 12:30 UTC"]
    assert course.submission("ada", FIRST)[:2] == (datetime(2026, 10, 6, 12, 30), 1800)
    assert course.submission("zoe", FIRST)[:2] == (DUE, 25 * 3600)
    # The class gets more time than ada was given; she has as much as everyone else.
    course.write("lessons.csv", f"lesson,due\n{FIRST},2026-10-08 12:00\n")
    update(course)
    assert course.submission("ada", FIRST)[:2] == (datetime(2026, 10, 8, 12), 0)
    # The class gets less time again, and the extension is withdrawn.
    course.write("lessons.csv", f"lesson,due\n{FIRST},2026-10-05 12:00\n")
    course.write("extensions.csv", "learner,lesson,due\n")
    update(course)
    assert course.submission("ada", FIRST)[:2] == (DUE, 25 * 3600)


def test_extensions_given_otherwise_stay_unless_there_is_a_table_of_them(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=LATE)
    with course.book() as book:
        book.grant_extension(FIRST, "ada", days=2)
    course.write("lessons.csv", f"lesson,due\n{FIRST},2026-10-06 12:00\n")
    update(course)
    assert course.submission("ada", FIRST)[:2] == (DUE + timedelta(days=3), 0)
    course.write("extensions.csv", "learner,lesson,due\n")
    update(course)
    assert course.submission("ada", FIRST)[:2] == (DUE + timedelta(days=1), 3600)


def test_an_extension_without_a_due_date_does_nothing(course):
    course.hand_in("ada", SECOND, 10, 5, timestamp=LATE)
    course.write("extensions.csv", f"learner,lesson,due\nada,{SECOND},2026-10-06 12:30\n")
    assert update(course) == []
    assert course.submission("ada", SECOND)[:2] == (None, 0)


def test_penalties_follow_points_given_by_hand_and_extensions_given_late(course):
    course.hand_in("ada", FIRST, 10, None, manual=5, timestamp=LATE, penalty=2)
    course.write("lessons.csv", f"lesson,late_percent\n{FIRST},10\n")
    assert update(course) == [f"ada, {FIRST}: late penalty 3"]
    assert course.submission("ada", FIRST)[2] == 3  # 10 percent of 15 for each of two days
    course.write("extensions.csv", f"learner,lesson,due\nada,{FIRST},2026-10-06 12:30\n")
    update(course)
    assert course.submission("ada", FIRST)[1:] == (1800, 1.5)
    course.write("extensions.csv", f"learner,lesson,due\nada,{FIRST},2026-10-06 13:00\n")
    update(course)
    assert course.submission("ada", FIRST)[1:] == (0, 0)


def test_a_gradebook_that_is_right_is_left_alone(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=LATE)
    course.write("learners.csv", "learner,last_name\nada,King\n")
    course.write("lessons.csv", f"lesson,due,late_percent\n{FIRST},2026-10-05 12:00,10\n")
    course.write("extensions.csv", f"learner,lesson,due\nada,{FIRST},2026-10-06 12:30\n")
    assert len(update(course)) == 3
    commits = []
    with course.book() as book:
        event.listen(book.engine, "commit", commits.append)
        assert bring_up_to_date(book, read_term(course.root)) == []
    assert commits == []
