"""What lateness costs: in the formula, in nbgrader's plugin, and through nbgrader's own steps."""

from datetime import datetime, timedelta

import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_notebook
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.errors import CourseError
from autograder.grading.engine.plugins import LatePercent, SetDueDate, course_directory
from autograder.grading.term.tables import late_penalty
from tests.grading.term.made_course import FIRST, SECOND, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
HOUR, DAY = 3600, 24 * 3600
DUE = datetime(2026, 10, 5, 12)


@pytest.mark.parametrize(
    ("seconds", "percent", "penalty"),
    [
        (0, 10, None),
        (1, 10, 1.5),
        (DAY, 10, 1.5),
        (DAY + 1, 10, 3),
        (30 * DAY, 10, 15),
        (HOUR, 0, 0),
        (HOUR, 100, 15),
    ],
)
def test_each_day_that_has_begun_costs_a_part_and_at_most_all(seconds, percent, penalty):
    assert late_penalty(15, seconds, percent) == penalty


def test_no_points_cost_nothing():
    assert late_penalty(0, HOUR, 10) == late_penalty(-2, HOUR, 10) == 0


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "course")


def run(course, *steps, lesson=FIRST):
    """Put ada's notebook through preprocessors, as nbgrader's converters do."""
    config = Config()
    config.AssignLatePenalties.plugin_class = "autograder.grading.engine.plugins.LatePercent"
    converter = BaseConverter(coursedir=CourseDirectory(root=str(course.root)), config=config)
    exporter = NotebookExporter(parent=converter, config=converter.config)
    about = {"notebook": lesson, "assignment": lesson, "student": "ada"}
    about["db_url"] = f"sqlite:///{course.root}/gradebook.db"
    for step in steps:
        step(parent=exporter).preprocess(new_notebook(), {"nbgrader": about})


def test_nbgrader_takes_the_percentage_off(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=DUE + timedelta(hours=25))
    course.write("lessons.csv", f"lesson,late_percent\n{FIRST},10\n")
    run(course, AssignLatePenalties)
    assert course.submission("ada", FIRST)[2] == 3


def test_without_a_rule_nothing_is_taken_off(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=DUE + timedelta(hours=25), penalty=2)
    course.write("lessons.csv", f"lesson,late_percent\n{SECOND},10\n")
    run(course, AssignLatePenalties)
    assert course.submission("ada", FIRST)[2] == 0


def test_an_extension_counts_when_a_submission_is_first_graded(course):
    course.hand_in("ada", SECOND, 10, 5, timestamp=DUE + timedelta(hours=25))
    course.write("lessons.csv", f"lesson,due,late_percent\n{SECOND},2026-10-05 12:00,10\n")
    course.write("extensions.csv", f"learner,lesson,due\nada,{SECOND},2026-10-06 12:30\n")
    run(course, SetDueDate, AssignLatePenalties, lesson=SECOND)
    assert course.submission("ada", SECOND) == (datetime(2026, 10, 6, 12, 30), 1800, 1.5)


def test_nbgraders_own_method_holds_where_there_is_no_rule(course):
    plugin = LatePercent(parent=AssignLatePenalties(), penalty_method="zero")
    plugin.parent.assignment_id = FIRST
    assert plugin.late_submission_penalty("ada", 15, HOUR) == 15


def test_a_mistake_in_a_table_is_an_error_not_a_grade(course):
    course.hand_in("ada", FIRST, 10, 5, timestamp=DUE + timedelta(hours=25))
    course.write("lessons.csv", f"lesson,late_percent\n{FIRST},ten\n")
    with pytest.raises(CourseError, match=r"lessons.csv, line 2: late_percent 'ten'"):
        run(course, AssignLatePenalties)


def test_the_course_directory_is_the_owners_or_the_configured_one(course):
    config = Config()
    config.CourseDirectory.root = str(course.root)
    assert course_directory(LatePercent(config=config)).root == str(course.root)
    owner = BaseConverter(coursedir=CourseDirectory(root=str(course.root / "other")), config=config)
    plugin = LatePercent(parent=AssignLatePenalties(parent=owner))
    assert course_directory(plugin) is owner.coursedir
