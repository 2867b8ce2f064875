"""A course directory for tests: a lesson, submissions to it, and the results of grading."""

import os
import shutil
import subprocess
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbgrader.api import Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.grading.report.submissions import read_submissions
from autograder.grading.worker.graded_cells import VERDICT
from autograder.lessons.cells import exercise_checked
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.demo.made_up_class import COUNT, make_class
from tests.support.commands import run

COURSE_ID = "attention-from-scratch"
LESSON = Lesson("01_dot_product_attention")


def make_course(course: Path, count: int, *options: str) -> dict[str, float]:
    """Release the lesson and hand in `count` answers; return the true grades by learner.

    options: nbgrader's options for the release.
    """
    made = make_class(LESSON, min(count, COUNT))
    grades = {}
    for number, submission in enumerate(islice(cycle(made), count)):
        learner = f"learner_{number:03}"
        hand_in(course, learner, submission.notebook(LESSON))
        grades[learner] = submission.true_grade
    release(course, LESSON, *options)
    return grades


def release(course: Path, lesson: Lesson = LESSON, *options: str) -> None:
    """Release a lesson in a course without a gradebook.

    The first time, nbgrader does it; later, its files are copied, unless there are options.
    """
    if options:
        _release(course, lesson.name, *options)
    else:
        shutil.copytree(_released(lesson.name).name, course, dirs_exist_ok=True)


@cache
def _released(name: str) -> TemporaryDirectory[str]:
    course = TemporaryDirectory()
    _release(Path(course.name), name)
    return course


def _release(course: Path, name: str, *options: str) -> None:
    source = Lesson(name).notebook_path.parent
    shutil.copytree(source, course / "solutions" / name, dirs_exist_ok=True)
    nbgrader(course, "generate_assignment", name, *options)


def hand_in(
    course: Path, learner: str, notebook: nbformat.NotebookNode, lesson: Lesson = LESSON
) -> None:
    folder = course / "submitted" / learner / lesson.name
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{lesson.name}.ipynb")


def command(course: Path, *arguments: str) -> list[str]:
    """Make an nbgrader command for a course directory."""
    return ["nbgrader", *arguments, f"--CourseDirectory.root={course}"]


def nbgrader(course: Path, *arguments: str, check: bool = True) -> str:
    """Run an nbgrader command; return its output. check: whether it must succeed."""
    done = run(*command(course, *arguments))
    assert not check or done.status == 0, done.said[-3000:]
    return done.said


def api(config: Config) -> NbGraderAPI:
    """Make nbgrader's API, as formgrader uses it, for a configuration."""
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def configuration(course: Path) -> Config:
    """Load the course's configuration of nbgrader, for a course directory."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.CourseDirectory.root = str(course)
    return config


def start(course: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    """Start an nbgrader command; its output goes to a file in the course directory."""
    return start_program(command(course, *arguments), course / "said.txt", **environment)


def start_program(
    program: list[str], said: Path, cwd: Path = ROOT, **environment: str
) -> subprocess.Popen:
    """Start a program in a new session; its output goes to a file."""
    with said.open("wb") as file:
        return subprocess.Popen(
            program,
            cwd=cwd,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def gradebook(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course}/gradebook.db", COURSE_ID)


def scores(book: Gradebook, lesson: Lesson = LESSON) -> dict[str, float]:
    """Return the scores in a gradebook, by learner."""
    with book:
        return {row.student.id: row.score for row in book.assignment_submissions(lesson.name)}


def exercise_scores(book: Gradebook, lesson: Lesson = LESSON) -> dict[str, dict[str, float]]:
    """Return the scores in a gradebook, by learner and exercise."""
    with book:
        cells = book.find_notebook(lesson.name, lesson.name).source_cells
        exercises = {cell.name: exercise_checked(cell.source) for cell in cells}
        return {
            row.student.id: {exercises[one.name]: one.score for one in row.notebooks[0].grades}
            for row in book.assignment_submissions(lesson.name)
        }


def records(book: Gradebook) -> list[tuple[Any, ...]]:
    """Return a gradebook's rows with grades or comments, sorted, without ids and times."""
    with book:
        rows = [("learner", row.id) for row in book.db.query(Student)]
        for row in book.db.query(SubmittedAssignment):
            rows.append(("submission", row.student.id, row.name, str(row.timestamp)))
        for row in book.db.query(SubmittedNotebook):
            about = (row.student.id, row.name)
            rows.append(("notebook", *about, str(row.late_submission_penalty)))
            rows += [("grade", *about, g.cell.name, *_points(g)) for g in row.grades]
            rows += [("comment", *about, c.cell.name, str(c.comment)) for c in row.comments]
        return sorted(rows)


def autograded(course: Path, learner: str) -> nbformat.NotebookNode:
    """Read a learner's autograded notebook."""
    path = course / "autograded" / learner / LESSON.name / f"{LESSON.name}.ipynb"
    return nbformat.read(path, as_version=4)


def verdicts(course: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the verdicts in the autograded notebooks, which must be valid, by learner."""
    found = {}
    for path in course.glob(f"autograded/*/{LESSON.name}/*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        cells = [cell for cell in notebook.cells if VERDICT in cell.metadata]
        found[path.parts[-3]] = [cell.metadata[VERDICT] for cell in cells]
    return found


def read_verdicts(autograded: Path, lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Read verdicts by learner and exercise from the autograded notebooks."""
    submissions = read_submissions(autograded, lesson)
    return {submission.learner: submission.verdicts for submission in submissions}


def _points(grade: Any) -> tuple[str, ...]:
    numbers = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.score)
    return *map(str, numbers), str(bool(grade.needs_manual_grade))
