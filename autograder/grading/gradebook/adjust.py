"""Give points for one cell to many at once, or take that back."""

from collections.abc import Iterator, Mapping, Sequence

from autograder.errors import CourseError
from autograder.grading.gradebook.course_files import CourseFiles
from autograder.grading.gradebook.grades import LessonGrades
from autograder.grading.gradebook.lesson_grades import lesson_grades, require_cell
from autograder.grading.gradebook.opening import reading
from autograder.grading.term.adjustments import (
    FORMS,
    NONE,
    TABLE,
    Adjustment,
    read_points,
    write_adjustments,
)
from autograder.grading.term.learner_names import listed
from autograder.grading.term.tables import Term, read_term
from autograder.grading.worker.job import earlier_run
from autograder.judging.code_marks import count

EVERYONE = ("",)
WITHOUT_CELL = "lacking"  # those whose submission had no cell for the answer


def adjust(files: CourseFiles, lesson: str, cell: str, points: str, who: Sequence[str]) -> str:
    """Enter an adjustment into adjustments.csv, in place of earlier ones, or remove it.

    cell: the exercise, or nbgrader's name of the cell.
    points: a number, "full", "excused", or "none" to remove it.
    who: names of learners; ("lacking",) for those whose submission had no cell for the answer;
        everyone if it is empty.
    Returns what the table says about the lesson now. Raises CourseError; nothing is written then.
    """
    with reading(files.db_url, lesson) as gradebook:
        known = lesson_grades(gradebook, lesson, Term())
    cell = _cell(known, lesson, cell)
    learners = _learners(files, known, lesson, cell, who)
    all_rows = points == NONE and not who
    rows = [] if points == NONE else _rows(known, lesson, cell, points, learners)
    before = read_term(files.root).adjustments
    of_cell = {one.learner: one for one in before if (one.lesson, one.cell) == (lesson, cell)}
    gone = [one for one in of_cell.values() if all_rows or one.learner in learners]
    after = [*(one for one in before if one not in gone), *rows]
    if gone or rows:
        write_adjustments(files.root / TABLE, after)
    told = [] if rows else [*_nothing_to_remove(cell, learners, of_cell)]
    told += [f"{one}." for one in after if one.lesson == lesson]
    return "\n".join(told) or f"{TABLE} has nothing on {lesson} now."


def _nothing_to_remove(
    cell: str, learners: Sequence[str], of_cell: Mapping[str, Adjustment]
) -> Iterator[str]:
    """Say for whom the table had no row.

    of_cell: its rows on the cell, by learner.
    """
    if not of_cell:
        yield f"There was nothing to remove for `{cell}`."
    elif without := listed(set(learners) - of_cell.keys()):
        rest = ", and the one for everyone holds" if "" in of_cell else ""
        yield f"No row of their own for `{cell}`{rest}: {without}."


def _cell(known: LessonGrades, lesson: str, name: str) -> str:
    """Return nbgrader's name of a cell. Raises CourseError if the lesson has none."""
    by_exercise = {exercise: cell for cell, exercise in known.checks.items()}
    cell = by_exercise.get(name, name)
    require_cell(known.most, cell, lesson)
    return cell


def _learners(
    files: CourseFiles, known: LessonGrades, lesson: str, cell: str, who: Sequence[str]
) -> Sequence[str]:
    if list(who) == [WITHOUT_CELL]:
        found = sorted(_without_cell(files, lesson, cell))
        if not found:
            raise CourseError(f"Every submission to {lesson} had a cell for {cell}.")
        return found
    if strange := set(who) - known.learners.keys():
        raise CourseError(f"With no submission to {lesson} in the gradebook: {listed(strange)}.")
    return who or EVERYONE


def _without_cell(files: CourseFiles, lesson: str, cell: str) -> Iterator[str]:
    """Yield those whose submission, as it was graded last, had no cell for the answer."""
    for learner in files.learners(files.graded, lesson):
        runs = map(earlier_run, (files.graded / learner / lesson).glob("*.ipynb"))
        if any(cell in run.get("absent", ()) for run in runs):
            yield learner


def _rows(
    known: LessonGrades, lesson: str, cell: str, points: str, learners: Sequence[str]
) -> list[Adjustment]:
    try:
        given = read_points(points)
    except ValueError:
        told = f"POINTS={points} can't be read: {FORMS}, or {NONE!r} to remove it."
        raise CourseError(told) from None
    most = known.most[cell]
    if given is not None and most < given < float("inf"):
        raise CourseError(f"{cell} has {count(most, 'point')}: give no more than that.")
    return [Adjustment(lesson, cell, given, learner) for learner in learners]
