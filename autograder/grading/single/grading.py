"""Grade a notebook as `make grade` would, if it were all that a learner handed in.

What loads nbgrader or torch is imported once the sandbox has begun to start.
"""

from dataclasses import replace
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.folder import read_single
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.worker.job import TIDYING, Graded, Job
from autograder.grading.worker.lesson_job import read_standard, template
from autograder.grading.worker.own_sandbox import close_own_sandbox, own_sandbox
from autograder.grading.worker.source import Source, read_source
from autograder.lessons.lesson import Lesson
from autograder.sandbox.walls import NoSandbox

IN_CONTAINER = "Or grade in a container that is the wall: --in-container."


def grade_notebook(notebook: Path, lesson: Lesson, secret: str = "") -> tuple[Job, Graded]:
    """Grade a notebook; return the job, and its result.

    notebook: as it was handed in, or the folder that was.
    secret: what hidden cases are drawn from; "" for the course's.

    Raises CourseError, also if this machine can't have a sandbox.
    """
    source = read_source(lesson.notebook_path)
    try:
        # It gets ready while nbgrader and torch are loaded here.
        own_sandbox(Job("", Blueprint([]), imports=source.imports))
        job = _job(notebook, lesson, source)
        return job, _grade_fairly(read_standard(lesson.name, [job.blueprint], secret).added_to(job))
    except NoSandbox as error:
        raise CourseError(f"{error.sealed} {IN_CONTAINER}") from error
    finally:
        close_own_sandbox()


def _job(notebook: Path, lesson: Lesson, source: Source) -> Job:
    """Make the job that grades a notebook, without what it is judged by. Raises CourseError."""
    from autograder.grading.single.released import released_blueprint

    job = template(
        released_blueprint(lesson),
        source,
        lesson.notebook_path.parent,
        lesson.name,
        tidying={step: {} for step in TIDYING},
    )
    try:
        return replace(job, path=str(notebook), data=read_single(notebook, f"{lesson.name}.ipynb"))
    except BrokenSubmission as error:
        return replace(job, path=str(notebook), broken=error)


def _grade_fairly(job: Job) -> Graded:
    """Grade a job; once more if the machine may have been to blame for what went wrong."""
    graded = _attempt(job)
    return _attempt(job) if graded.doubtful else graded


def _attempt(job: Job) -> Graded:
    from autograder.grading.worker import task

    try:
        return task.grade(job)
    except NoSandbox:
        raise
    except Exception as error:
        return task.failed(job, error)
