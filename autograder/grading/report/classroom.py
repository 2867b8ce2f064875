"""Put together everything in a report from the notebooks and the gradebook."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from autograder.asking.answer import Problem
from autograder.grading.gradebook.grades import Grade, LessonGrades
from autograder.grading.pages.filters import duration
from autograder.grading.report.class_report import NOTHING_CAME, ExerciseReport
from autograder.grading.report.kinds import Made, kinds_made
from autograder.grading.report.same_code import SameCode
from autograder.grading.report.same_mistakes import SameMistakes
from autograder.grading.report.submissions import Submission
from autograder.grading.report.suspicion import (
    Lead,
    forbidden_calls,
    only_public,
    shared_code,
    shared_mistakes,
)
from autograder.grading.term.dates import in_course_zone
from autograder.grading.worker.job import NOT_GRADED, OUTCOMES
from autograder.judging.explain_problem import explain_problem

UNREADABLE = "unreadable"
# "not run" is what a notebook that stopped says of each check after that.
ENDED_EARLY = NOTHING_CAME - {"not run"} | {"time", "waiting", "memory", "recursion"}


@dataclass(frozen=True)
class Column:
    """One graded cell: its name, its title, its points, and the exercise that it checks."""

    cell: str
    title: str
    most: float
    exercise: str


@dataclass(frozen=True)
class CellPoints:
    """One learner's points for one column; "full", "partial", "none", "unanswered" or ""."""

    points: float | None
    state: str


@dataclass(frozen=True)
class LearnerRow:
    """One learner.

    outcome: "not graded" also if points are missing that only a person can give.
    judged: whether the checks judged an answer.
    grade: the points of the lesson, if there is a grade.
    late: how long after the due date it was handed in.
    """

    learner: str
    outcome: str
    judged: bool
    grade: float | None
    late: timedelta
    points: list[CellPoints]
    remarks: list[str]


@dataclass(frozen=True)
class MadeMistake:
    exercise: str
    name: str
    words: str
    learners: list[str]


@dataclass
class Report:
    """What the page shows.

    notebooks: their names.
    due: when it is due, in UTC, as the gradebook has it.
    kinds: which kinds of mistakes were made.
    names: full names by learner, where they are known.
    notes: what the reader has to know about the data, one sentence each.
    """

    lesson: str
    made: datetime
    graded: datetime | None
    most: float
    columns: list[Column]
    rows: list[LearnerRow]
    exercises: dict[str, ExerciseReport]
    not_graded: list[tuple[str, str]]
    ended_early: list[Lead]
    forbidden: list[Lead]
    only_public: list[Lead]
    same_code: list[SameCode]
    same_mistakes: list[SameMistakes]
    kinds: Made
    notebooks: list[str]
    due: datetime | None = None
    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many submissions had each outcome."""
        counts = Counter(row.outcome for row in self.rows)
        return {o: counts[o] for o in (*OUTCOMES, UNREADABLE) if counts[o] or o in OUTCOMES}

    @property
    def grades(self) -> list[float]:
        return [row.grade for row in self.rows if row.grade is not None]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.grades) if self.grades else 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.grades) if self.grades else 0.0

    @property
    def mistakes(self) -> list[MadeMistake]:
        """Mistakes, the most frequent first; ties in lesson order."""
        made = [
            MadeMistake(exercise, name, words, learners)
            for exercise, report in self.exercises.items()
            for (name, words), learners in report.wrong.items()
        ]
        return sorted(made, key=lambda mistake: -len(mistake.learners))


def make_report(
    lesson: str,
    submissions: Sequence[Submission],
    known: LessonGrades,
    solutions: Mapping[str, str],
    notes: Sequence[str] = (),
) -> Report:
    """Make the report on a lesson from what was read.

    solutions: the course's own, by grade_id.
    """
    for submission in submissions:
        _drop_strange_verdicts(submission, known)
        _settle(submission, known.learners.get(submission.learner))
    alike = shared_code(submissions, known.released, solutions)
    columns = _columns(submissions, known, list(solutions))
    rows = [_row(submission, columns, known) for submission in submissions]
    times = [submission.graded for submission in submissions if submission.graded]
    return Report(
        lesson=lesson,
        made=in_course_zone(datetime.now(UTC)),
        graded=in_course_zone(datetime.fromtimestamp(max(times), UTC)) if times else None,
        most=sum(column.most for column in columns),
        columns=columns,
        rows=rows,
        exercises=_exercises(submissions, rows, columns),
        not_graded=_not_graded(submissions, rows, known),
        ended_early=_ended_early(submissions),
        forbidden=forbidden_calls(submissions),
        only_public=only_public(submissions),
        same_code=alike,
        same_mistakes=shared_mistakes(submissions),
        kinds=kinds_made(submissions),
        notebooks=known.notebooks or [lesson],
        due=known.due,
        names=known.names,
        notes=[*notes, *_waiting(lesson, submissions, known)],
    )


def _drop_strange_verdicts(submission: Submission, known: LessonGrades) -> None:
    checked = set(known.checks.values())
    strange = [exercise for exercise in submission.verdicts if checked and exercise not in checked]
    for exercise in strange:
        del submission.verdicts[exercise]
        submission.note(f"A verdict is on {exercise!r}, which is not in the lesson.")


def _settle(submission: Submission, grade: Grade | None) -> None:
    """Count what could not be graded as graded, once a person has given all the points."""
    if submission.outcome == NOT_GRADED and grade and grade.by_hand and not grade.waiting:
        submission.outcome, submission.reason = "graded", ""


def _columns(
    submissions: Sequence[Submission], known: LessonGrades, answers: Sequence[str]
) -> list[Column]:
    """List the graded cells in lesson order, which the gradebook does not store.

    answers: the lesson's answer cells in its order; [] if that is not known.
    """
    longest = max(submissions, key=lambda s: len(s.verdicts), default=None)
    order = answers or (list(longest.verdicts) if longest else [])
    if not known.most:
        facts = longest.verdicts.items() if longest else []
        return [Column("", name, verdict["max_points"], name) for name, verdict in facts]
    exercises = {cell: known.checks.get(cell, "") for cell in known.most}
    columns = [
        Column(cell, exercise or cell, known.most[cell], exercise)
        for cell, exercise in exercises.items()
    ]
    places = {name: place for place, name in enumerate(order)}
    return sorted(columns, key=lambda c: (places.get(c.exercise or c.cell, len(places)), c.title))


def _exercises(
    submissions: Sequence[Submission], rows: Sequence[LearnerRow], columns: Sequence[Column]
) -> dict[str, ExerciseReport]:
    """Report on each exercise, and each other cell with points, from those who have points."""
    reports = {column.title: ExerciseReport(column.most) for column in columns}
    for submission, row in zip(submissions, rows, strict=True):
        for column, points in zip(columns, row.points, strict=True):
            if points.points is None:
                continue
            report, verdict = reports[column.title], submission.verdicts.get(column.exercise)
            report.count(points.points, points.state)
            if verdict and verdict["graded"]:
                report.judge(verdict, submission.learner, points.state)
    for report in reports.values():
        # Aspects in few notebooks are from another version of the lesson, or made up.
        aspects = report.aspects.items()
        report.aspects = {n: a for n, a in aspects if 2 * a.submissions > report.judged}
    return {title: report for title, report in reports.items() if report.submissions}


def _waiting(lesson: str, submissions: Sequence[Submission], known: LessonGrades) -> list[str]:
    """Say how many have no grade only because a person still has to give points."""
    read = [one.learner for one in submissions if one.outcome not in (NOT_GRADED, "")]
    count = sum(known.learners[one].waiting for one in read if one in known.learners)
    told = f"{count} submission{'' if count == 1 else 's'} to grade by hand, in formgrader."
    return [f"{lesson}: {told}"] if count else []


def _row(submission: Submission, columns: Sequence[Column], known: LessonGrades) -> LearnerRow:
    grade = known.learners.get(submission.learner)
    points = _lesson_points(submission, grade, known)
    return LearnerRow(
        learner=submission.learner,
        outcome=_outcome(submission, grade, known, points),
        judged=any(one["graded"] and one["answered"] for one in submission.verdicts.values()),
        grade=points,
        late=grade.late if grade else timedelta(0),
        points=[_points(submission, column, grade, known) for column in columns],
        remarks=submission.troubles + _remarks(submission, grade, known),
    )


def _outcome(
    submission: Submission, grade: Grade | None, known: LessonGrades, points: float | None
) -> str:
    """Return the outcome: not graded if there is no grade yet, whatever the notebook states.

    A notebook that states none, such as an instructor's own, is graded if it is complete.
    """
    whole = submission.graded is not None and grade is not None
    if not submission.outcome and (known.checks or not whole):
        return UNREADABLE
    return NOT_GRADED if points is None else submission.outcome or "graded"


def _lesson_points(
    submission: Submission, grade: Grade | None, known: LessonGrades
) -> float | None:
    if grade.waiting if grade else submission.outcome == NOT_GRADED:
        return None
    if grade:
        return grade.points if math.isfinite(grade.points) else None
    if known.most or not submission.verdicts:
        return None
    return sum(verdict["points"] for verdict in submission.verdicts.values())


def _points(
    submission: Submission, column: Column, grade: Grade | None, known: LessonGrades
) -> CellPoints:
    verdict = submission.verdicts.get(column.exercise)
    judged = verdict["points"] if verdict and verdict["graded"] else None
    cell = grade.by_name.get(column.cell) if grade else None
    points = cell.points if cell else judged
    if points is None:
        return CellPoints(None, "")
    untouched = submission.sources.get(column.cell) == known.released.get(column.cell, "")
    if not points and (untouched if verdict is None else not verdict["answered"]):
        return CellPoints(points, "unanswered")
    return CellPoints(points, "full" if points >= column.most else "partial" if points else "none")


def _remarks(submission: Submission, grade: Grade | None, known: LessonGrades) -> list[str]:
    remarks = []
    if known.checks and submission.graded and not submission.verdicts:
        remarks.append("The autograded notebook holds no verdicts: grade it again.")
    if known.most and not grade:
        remarks.append("There is no grade in the gradebook.")
    if grade and (grade.late or grade.penalty):
        late = duration(grade.late.total_seconds())
        remarks.append(f"Late by {late}: {grade.penalty:g} taken off.")
    if submission.earlier:
        before = ", ".join("none" if m is None else f"{m:g}" for m in submission.earlier)
        remarks.append(f"Handed in again. Grades before: {before}.")
    if grade and grade.by_hand:
        remarks.append("Partly graded by hand.")
    if grade and grade.waiting:
        remarks.append(_to_grade(grade, known))
    return remarks


def _to_grade(grade: Grade, known: LessonGrades) -> str:
    """Say what a person still has to grade."""
    cells = [cell for cell in known.most if cell in grade.waiting_for]
    names = ", ".join(f"`{known.checks.get(cell, cell)}`" for cell in cells)
    return f"To grade by hand: {'everything' if len(cells) == len(known.most) else names}."


def _not_graded(
    submissions: Sequence[Submission], rows: Sequence[LearnerRow], known: LessonGrades
) -> list[tuple[str, str]]:
    """List who has no grade, and why."""
    return [
        (row.learner, submission.reason or _why(row, known.learners.get(row.learner), known))
        for submission, row in zip(submissions, rows, strict=True)
        if row.outcome in (NOT_GRADED, UNREADABLE)
    ]


def _why(row: LearnerRow, grade: Grade | None, known: LessonGrades) -> str:
    if row.outcome == NOT_GRADED and grade and grade.waiting:
        return _to_grade(grade, known)
    return " ".join(row.remarks)


def _ended_early(submissions: Sequence[Submission]) -> list[Lead]:
    """List answers that did not come in, or not in time, where the rest of the notebook did."""
    return [
        Lead(submission.learner, exercise, explain_problem(Problem(**problem), exercise))
        for submission in submissions
        for exercise, verdict in submission.verdicts.items()
        for problem in verdict["problems"]
        if problem["kind"] in ENDED_EARLY
    ]
