"""Make a report from a course directory: read what is there, and note what is missing."""

from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.engine.history import earlier_grades
from autograder.grading.engine.stale_grades import stale_grades
from autograder.grading.gradebook.course_files import CourseFiles
from autograder.grading.gradebook.grades import LessonGrades
from autograder.grading.gradebook.lesson_grades import lesson_grades
from autograder.grading.gradebook.opening import NoGradebook, reading
from autograder.grading.pages.untrusted import LONGEST_NAME, visible
from autograder.grading.report.make_report import Report, make_report
from autograder.grading.report.submissions import (
    Submission,
    read_submissions,
    solution_cells,
)
from autograder.grading.term.learner_names import listed
from autograder.grading.term.tables import Learner, Term, read_term
from autograder.places import ROOT

LOST = "It is in the gradebook, and there is no autograded notebook: grade it again."


def gather(lesson: str, files: CourseFiles) -> Report:
    """Gather the report on a lesson.

    Raises CourseError if there is no such lesson, nothing is graded yet, or a table of the term
    can't be read.
    """
    _require_lesson(lesson, files)
    term = read_term(files.root)
    known, notes = _grades(lesson, files, term)
    submissions = read_submissions(files.graded, lesson, known.notebooks)
    if not submissions:
        raise CourseError(
            f"Nothing of {lesson} is graded in {shown_path(files.root)}: "
            f"run `make grade LESSON={lesson}` first."
        )
    graded = {submission.learner for submission in submissions}
    # nbgrader enters a submission before grading it.
    lost = [Submission(learner, troubles=[LOST]) for learner in known.learners.keys() - graded]
    submissions = sorted([*submissions, *lost], key=lambda submission: submission.learner)
    for submission in submissions:
        submission.earlier = earlier_grades(files.root, submission.learner, lesson)
        submission.group = term.learners.get(submission.learner, Learner("")).group.casefold()
    if waiting := set(files.learners(files.submitted, lesson)) - graded:
        told = f"`make grade LESSON={lesson}` grades what is new."
        names = listed(visible(one, LONGEST_NAME) for one in waiting)
        notes.append(f"Handed in and not graded: {names}. {told}")
    if told := stale_grades(files, lesson, graded):
        notes.append(told)
    return make_report(lesson, submissions, known, _solutions(lesson, files), notes)


def shown_path(path: Path) -> str:
    """Shorten a path for display."""
    path = path.absolute()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) and path != ROOT else str(path)


def _require_lesson(lesson: str, files: CourseFiles) -> None:
    known = files.lessons()
    if lesson not in known:
        there = f"choose one of {', '.join(known)}" if known else "there is none at all"
        said = f"There is no lesson {visible(lesson)!r}"
        raise CourseError(f"{said} in {shown_path(files.root)}: {there}.")


def _grades(lesson: str, files: CourseFiles, term: Term) -> tuple[LessonGrades, list[str]]:
    """Read the grades, and what to know about them.

    Raises CourseError if there is a gradebook that can't be read.
    """
    adjusted = [one for one in term.adjustments if one.lesson == lesson]
    try:
        with reading(files.db_url, lesson) as gradebook:
            told = [f"By adjustments.csv, {visible(str(one))}." for one in adjusted]
            return lesson_grades(gradebook, lesson, term), told
    except NoGradebook as error:
        said = f"{error} Until then, the points are the judge's: none by hand, no late penalties."
        return LessonGrades(), [said]


def _solutions(lesson: str, files: CourseFiles) -> dict[str, str]:
    found: dict[str, str] = {}
    for notebook in sorted((files.source / lesson).glob("*.ipynb")):
        found |= solution_cells(notebook)
    return found
