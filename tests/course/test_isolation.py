"""A wrong answer costs only its own points, and those of exercises declared to build on it.

Each exercise of each lesson is broken in turn. The checks of all lessons judge in this process, and
those of one go through nbgrader's command too.
"""

import contextlib
import shutil

import nbformat
import pytest

from autograder import check
from autograder.asking.learners_code import names_used
from autograder.errors import CheckFailed
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Variant
from autograder.notebook.calls import _verdicts
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission, without_demonstrations
from tests.support.classroom import nbgrader, read_verdicts

BROKEN = Variant("broken", "raise RuntimeError('broken on purpose')")


def checked(lesson, broken):
    """Return the verdicts on a broken exercise and on all whose code reaches it."""
    namespace = lesson.namespace({broken: BROKEN})
    names = [exercise.name for exercise in lesson.exercises]
    affected = [name for name in names if broken in {name, *names_used(namespace[name])}]
    for name in affected:
        with contextlib.suppress(CheckFailed):
            check(namespace[name])
    return {name: _verdicts[name].summary() for name in affected}


def graded(lesson, course):
    """Return the verdicts on submissions with one broken exercise each, by that exercise."""
    shutil.copytree(lesson.notebook_path.parent, course / "solutions" / lesson.name)
    names = [exercise.name for exercise in lesson.exercises]
    for broken in names:
        answers = {name: SOLUTION for name in names} | {broken: BROKEN}
        folder = course / "submitted" / broken / lesson.name
        folder.mkdir(parents=True)
        notebook = MadeUpSubmission(broken, answers).notebook(lesson)
        nbformat.write(without_demonstrations(notebook, lesson), folder / f"{lesson.name}.ipynb")
    for command in ("generate_assignment", "autograde"):
        nbgrader(course, command, lesson.name)
    return read_verdicts(course / "autograded", lesson.name)


def require_own_points_only(lesson, broken, marks):
    needs = {exercise.name: set(exercise.builds_on) for exercise in lesson.exercises}
    lost = {name for name, verdict in marks.items() if verdict["points"] < verdict["max_points"]}
    assert lost - {broken} == {name for name in lost if broken in needs[name]}
    assert marks[broken]["points"] == 0
    for name in lost - {broken}:
        assert marks[name]["sentence"].startswith(f"Fix `{broken}` first: ")


@pytest.mark.first_is_enough
def test_a_broken_exercise_costs_only_its_own_points(lesson):
    for exercise in lesson.exercises:
        require_own_points_only(lesson, exercise.name, checked(lesson, exercise.name))


@pytest.mark.usefixtures("sandbox")
@pytest.mark.long
def test_grading_finds_the_same(tmp_path):
    lesson = Lesson("03_multi_head")
    found = graded(lesson, tmp_path)
    assert found.keys() == {exercise.name for exercise in lesson.exercises}
    for broken, marks in found.items():
        require_own_points_only(lesson, broken, marks)
