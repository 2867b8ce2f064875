"""Grades of submissions that have changed since: grading again would make others."""

from collections.abc import Container
from pathlib import Path

from autograder.grading.engine.jobs import with_submission
from autograder.grading.engine.provenance import is_stale
from autograder.grading.gradebook.course_files import CourseFiles
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.folder import files_beside
from autograder.grading.term.learner_names import listed
from autograder.grading.worker.job import Job, earlier_run


def stale_grades(files: CourseFiles, lesson: str, among: Container[str]) -> str:
    """Say whose submission has changed since it was graded; "" if nobody's.

    among: the learners to look at.
    """
    course = Job("", Blueprint([]), files=files_beside(files.source / lesson))
    found = filter(among.__contains__, files.learners(files.graded, lesson))
    stale = [learner for learner in found if _is_stale(files, Path(learner, lesson), course)]
    told = f"Submissions to {lesson} that have changed since they were graded: {listed(stale)}."
    return f"{told} `make grade LESSON={lesson}` grades them again." if stale else ""


def _is_stale(files: CourseFiles, place: Path, course: Job) -> bool:
    """Whether a submission is another one than was graded; if it is gone, its grade stays.

    course: a job with the course's own files.
    """
    submitted, graded = files.submitted / place, sorted((files.graded / place).glob("*.ipynb"))
    return submitted.is_dir() and any(
        is_stale(earlier_run(one), with_submission(course, submitted / one.name, len(graded) == 1))
        for one in graded
    )
