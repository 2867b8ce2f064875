"""Put a report together from the notebooks and the gradebook."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from autograder.asking.problem import Problem, ProblemKind
from autograder.grading.gradebook.grades import Grade, LessonGrades
from autograder.grading.report.class_report import NOTHING_CAME, ExerciseReport
from autograder.grading.report.kinds import ByKind, kinds_made
from autograder.grading.report.learner_rows import (
    UNREADABLE,
    Column,
    LearnerRow,
    lesson_columns,
)
from autograder.grading.report.same_code import SameCode
from autograder.grading.report.same_mistakes import SameMistakes
from autograder.grading.report.submissions import Submission
from autograder.grading.report.suspicion import (
    Lead,
    forbidden_calls,
    only_public,
    place_of,
    shared_code,
    shared_mistakes,
)
from autograder.grading.term.dates import in_course_zone
from autograder.grading.worker.job import Outcome
from autograder.judging.code_marks import count
from autograder.judging.explain_problem import explain_problem

# Every check after the place where a notebook stopped says "not run".
ENDED_EARLY = NOTHING_CAME - {ProblemKind.NOT_RUN} | {
    ProblemKind.TIME,
    ProblemKind.WAITING,
    ProblemKind.MEMORY,
    ProblemKind.RECURSION,
}


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
    due: when the lesson is due, in UTC, according to the gradebook.
    kinds: which kinds of mistakes were made.
    names: full names by learner, where they are known.
    notes: what readers have to know about the data, one sentence each.
    """

    lesson: str
    made: datetime
    graded: datetime | None
    most: float
    columns: list[Column]
    rows: list[LearnerRow]
    exercises: dict[str, ExerciseReport]
    not_graded: list[tuple[str, str]]
    requests: list[Lead]
    ended_early: list[Lead]
    forbidden: list[Lead]
    only_public: list[Lead]
    same_code: list[SameCode]
    same_mistakes: list[SameMistakes]
    kinds: ByKind
    notebooks: list[str]
    due: datetime | None = None
    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many submissions had each outcome."""
        counts = Counter(row.outcome for row in self.rows)
        return {o: counts[o] for o in (*Outcome, UNREADABLE) if counts[o] or o != UNREADABLE}

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
        """The mistakes, most frequent first; ties are in lesson order."""
        made = [
            MadeMistake(exercise, diagnosis.mistake, _usual(told.values()), [*told])
            for exercise, report in self.exercises.items()
            for diagnosis, told in report.wrong.items()
        ]
        return sorted(made, key=lambda mistake: -len(mistake.learners))


def _usual(sentences: Iterable[str]) -> str:
    """Return the sentence that most were shown."""
    return Counter(sentences).most_common(1)[0][0]


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
    apart = _one_of_each_group(submissions)
    alike = shared_code(apart, known.released, solutions)
    columns = lesson_columns(submissions, known, list(solutions))
    rows = [LearnerRow(submission, known, columns) for submission in submissions]
    times = [submission.graded for submission in submissions if submission.graded]
    return Report(
        lesson=lesson,
        made=in_course_zone(datetime.now(UTC)),
        graded=in_course_zone(datetime.fromtimestamp(max(times), UTC)) if times else None,
        most=sum(column.most for column in columns),
        columns=columns,
        rows=rows,
        exercises=_exercises(submissions, rows, columns),
        not_graded=[(row.learner, row.why_no_grade) for row in rows if row.has_no_grade],
        requests=_requests(submissions),
        ended_early=_ended_early(submissions),
        forbidden=forbidden_calls(submissions),
        only_public=only_public(submissions),
        same_code=alike,
        same_mistakes=shared_mistakes(apart),
        kinds=kinds_made(submissions),
        notebooks=known.notebooks or [lesson],
        due=known.due,
        names=known.names,
        notes=[*notes, *_waiting(lesson, submissions, known)],
    )


def _requests(submissions: Iterable[Submission]) -> list[Lead]:
    return [
        Lead(submission.learner, exercise, why or "No reason is given.")
        for submission in submissions
        for exercise, why in submission.requests.items()
    ]


def _one_of_each_group(submissions: Iterable[Submission]) -> list[Submission]:
    """Return those to compare: a group's members have the same submission."""
    found: dict[tuple[str, str], Submission] = {}
    for one in submissions:
        found.setdefault((one.group, "" if one.group else one.learner), one)
    return [*found.values()]


def _drop_strange_verdicts(submission: Submission, known: LessonGrades) -> None:
    checked = set(known.checks.values())
    strange = [exercise for exercise in submission.verdicts if checked and exercise not in checked]
    for exercise in strange:
        del submission.verdicts[exercise]
        submission.note(f"A verdict is on {exercise!r}, which is not in the lesson.")


def _settle(submission: Submission, grade: Grade | None) -> None:
    """Count what could not be graded as graded, once a person has given all the points."""
    given = grade and (grade.by_hand or grade.adjusted_cells) and not grade.waiting
    if submission.outcome == Outcome.NOT_GRADED and given:
        submission.outcome, submission.reason = Outcome.GRADED, ""


def _exercises(
    submissions: Sequence[Submission], rows: Sequence[LearnerRow], columns: Sequence[Column]
) -> dict[str, ExerciseReport]:
    """Report on each exercise, and each other cell with points, based on those who have points."""
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
        # Aspects found in only a few notebooks are from another version of the lesson, or made up.
        aspects = report.aspects.items()
        report.aspects = {n: a for n, a in aspects if 2 * a.submissions > report.judged}
    return {title: report for title, report in reports.items() if report.submissions}


def _waiting(lesson: str, submissions: Sequence[Submission], known: LessonGrades) -> list[str]:
    """Say how many have no grade just because a person still has to give points."""
    read = [one.learner for one in submissions if one.outcome not in (Outcome.NOT_GRADED, None)]
    waiting = sum(known.learners[one].waiting for one in read if one in known.learners)
    told = f"{lesson}: {count(waiting, 'submission')} to grade by hand, in formgrader."
    return [told] if waiting else []


def _ended_early(submissions: Sequence[Submission]) -> list[Lead]:
    """List answers that did not come in, or not in time, although the rest of the notebook did."""
    return [
        Lead(submission.learner, exercise, _explained(problem, exercise))
        for submission in submissions
        for exercise, verdict in submission.verdicts.items()
        for problem in verdict["problems"]
        if problem["kind"] in ENDED_EARLY
    ]


def _explained(problem: Mapping[str, Any], exercise: str) -> str:
    kind = ProblemKind(problem["kind"])
    return explain_problem(Problem(kind, problem["detail"], place_of(problem)), exercise)
