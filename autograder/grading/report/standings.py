"""How each learner of a term stands in each lesson: the grade, or why there isn't one."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.grading.gradebook.grades import Standing
from autograder.grading.report.learner_rows import LearnerRow
from autograder.grading.report.make_report import Report
from autograder.grading.term.tables import Term, due_for, is_excused


@dataclass(frozen=True)
class LessonStanding:
    """How a learner stands in a lesson: the grade out of `most`, and how late it was handed in."""

    standing: Standing
    grade: float = 0.0
    most: float = 0.0
    late: timedelta = timedelta(0)

    @property
    def handed_in(self) -> bool:
        return self.standing in (Standing.GRADED, Standing.NOT_GRADED)

    @property
    def share(self) -> float:
        """The grade in percent of the lesson's points; 0 if it has none."""
        return _share(self.grade, self.most)


@dataclass(frozen=True)
class TermStanding:
    """How one learner stands in each lesson of the term."""

    learner: str
    by_lesson: Mapping[str, LessonStanding]

    @property
    def grade(self) -> float:
        """The grades of all lessons together."""
        return sum(one.grade for one in self.by_lesson.values())

    @property
    def most(self) -> float:
        """The points of the lessons that have a grade or are missing."""
        counted = (Standing.GRADED, Standing.MISSING)
        return sum(one.most for one in self.by_lesson.values() if one.standing in counted)

    @property
    def share(self) -> float:
        """The grades in percent of `most`."""
        return _share(self.grade, self.most)

    @property
    def missing(self) -> int:
        return sum(one.standing is Standing.MISSING for one in self.by_lesson.values())


def _share(grade: float, most: float) -> float:
    return 100 * grade / most if most else 0.0


def term_standings(
    learners: Iterable[str],
    reports: Iterable[Report],
    term: Term,
    submitted: Mapping[str, set[str]],
    now: datetime,
    strangers: Collection[str],
) -> list[TermStanding]:
    """Say how each learner stands.

    submitted: who handed in, by lesson.
    now: in UTC, without a time zone, as due dates are.
    strangers: the learners who are not expected to hand in anything.
    """
    found: dict[str, dict[str, LessonStanding]] = {learner: {} for learner in learners}
    for report in reports:
        rows = {row.learner: row for row in report.rows}
        waiting = submitted.get(report.lesson, set())
        for learner, by_lesson in found.items():
            if is_excused(term, learner, report.lesson):
                one = LessonStanding(Standing.EXCUSED)
            elif learner in rows:
                one = _handed_in(rows[learner], report)
            elif learner in waiting:
                one = LessonStanding(Standing.NOT_GRADED)
            elif learner in strangers:
                one = LessonStanding(Standing.NOT_EXPECTED)
            else:
                one = _absent(report, due_for(term, learner, report.lesson), now)
            by_lesson[report.lesson] = one
    return [TermStanding(learner, by_lesson) for learner, by_lesson in found.items()]


def _handed_in(row: LearnerRow, report: Report) -> LessonStanding:
    if row.grade is None:
        return LessonStanding(Standing.NOT_GRADED, late=row.late)
    return LessonStanding(Standing.GRADED, row.grade, report.most, row.late)


def _absent(report: Report, due: datetime | None, now: datetime) -> LessonStanding:
    due = due or report.due
    if due and due > now:
        return LessonStanding(Standing.NOT_DUE)
    return LessonStanding(Standing.MISSING, 0, report.most)
