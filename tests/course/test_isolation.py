"""A wrong answer costs only its own points, and those of exercises declared to build on it.

Each exercise of each lesson is broken in turn, and the class goes through nbgrader's command.
"""

import shutil
import subprocess

import nbformat
import pytest

from autograder.grading.demo.made_up_class import SOLUTION, MadeUpSubmission
from autograder.grading.report.class_report import read_verdicts
from autograder.lessons.lesson import ROOT, Lesson, lesson_names
from autograder.lessons.variants import Variant

BROKEN = Variant("broken", "raise RuntimeError('broken on purpose')")


def without_demonstrations(cells, lesson):
    """Keep definitions and nbgrader's cells: the others take most of a lesson's time."""
    for number, cell in enumerate(cells):
        if number in lesson.definitions or "nbgrader" in cell.metadata:
            yield cell


@pytest.fixture(scope="module", params=lesson_names())
def broken_class(request, tmp_path_factory):
    """A lesson, and the verdicts on submissions with one broken exercise each."""
    lesson, course = Lesson(request.param), tmp_path_factory.mktemp("course")
    shutil.copytree(lesson.notebook_path.parent, course / "solutions" / lesson.name)
    names = [exercise.name for exercise in lesson.exercises]
    for broken in names:
        answers = {name: SOLUTION for name in names} | {broken: BROKEN}
        folder = course / "submitted" / broken / lesson.name
        folder.mkdir(parents=True)
        notebook = MadeUpSubmission(broken, answers).notebook(lesson)
        notebook.cells = list(without_demonstrations(notebook.cells, lesson))
        nbformat.write(notebook, folder / f"{lesson.name}.ipynb")
    for command in ("generate_assignment", "autograde"):
        arguments = ["nbgrader", command, lesson.name, f"--CourseDirectory.root={course}"]
        subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True)
    return lesson, read_verdicts(course / "autograded", lesson.name)


def test_each_broken_exercise_costs_only_its_own_points(broken_class):
    lesson, verdicts = broken_class
    needs = {exercise.name: set(exercise.builds_on) for exercise in lesson.exercises}
    for broken, marks in verdicts.items():
        lost = {
            name for name, verdict in marks.items() if verdict["points"] < verdict["max_points"]
        }
        assert lost - {broken} == {name for name in lost if broken in needs[name]}
        assert marks[broken]["points"] == 0
        for name in lost - {broken}:
            assert f"Fix `{broken}` first" in marks[name]["sentence"]
