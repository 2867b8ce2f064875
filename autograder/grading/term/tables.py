"""What the tables of a term say: learners.csv, lessons.csv, extensions.csv and adjustments.csv.

All are optional. Dates are kept as nbgrader keeps them: in UTC, without a time zone. A date
without an offset is taken to be in UTC.
"""

import math
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path

from autograder.grading.term.adjustments import COLUMNS, FORMS, Adjustment, read_points
from autograder.grading.term.adjustments import TABLE as ADJUSTMENTS
from autograder.grading.term.dates import FORM, read_date
from autograder.grading.term.learner_names import printable, why_no_name
from autograder.grading.term.read_table import TableRow, check_unique, read_number, read_table

EXCUSED = "excused"
DAY = 24 * 60 * 60  # seconds


IDENTIFIERS = (
    "learner",
    "email",
    "canvas_id",
    "sis_user_id",
    "sis_login_id",
    "moodle_id",
    "github",
)


@dataclass(frozen=True)
class Learner:
    """A learner, with the identifiers of learning management systems; "" where unknown.

    group: the name in the system of the group that hands in together.
    moodle_id: the participant number, a new one for each assignment in Moodle.
    github: the user's name there.
    """

    learner: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    section: str = ""
    canvas_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    moodle_id: str = ""
    github: str = ""
    group: str = ""

    @property
    def full_name(self) -> str:
        """First and last name; "" if unknown."""
        return f"{self.first_name} {self.last_name}".strip()

    def __str__(self) -> str:
        return f"{self.full_name} ({self.learner})" if self.full_name else self.learner


@dataclass(frozen=True)
class LessonTerms:
    """The terms of a lesson.

    due: in UTC.
    late_percent: the percentage of the grade that each day late, or part of one, takes off; None
        if there is no rule.
    canvas: the title of its column in Canvas's gradebook.
    """

    due: datetime | None = None
    late_percent: float | None = None
    canvas: str = ""


@dataclass(frozen=True)
class Extension:
    """A learner's own due date for a lesson, or an excuse from it."""

    due: datetime | None = None
    excused: bool = False


@dataclass(frozen=True)
class Term:
    """The tables of a term: learners by id, lessons by name, extensions by both.

    all_extensions: whether there is an extensions.csv, so that nobody else has an extension.
    """

    learners: Mapping[str, Learner] = field(default_factory=dict)
    lessons: Mapping[str, LessonTerms] = field(default_factory=dict)
    extensions: Mapping[tuple[str, str], Extension] = field(default_factory=dict)
    all_extensions: bool = False
    adjustments: tuple[Adjustment, ...] = ()

    def adjustments_for(self, lesson: str, learner: str) -> dict[str, float | None]:
        """Return what adjustments.csv gives a learner, by cell of a lesson.

        A learner's own row comes before everyone's.
        """
        rows = [
            one for one in self.adjustments if one.lesson == lesson and one.learner in ("", learner)
        ]
        return {one.cell: one.points for one in sorted(rows, key=lambda one: bool(one.learner))}

    def strangers(self, people: Set[str]) -> frozenset[str]:
        """Return those who are not in learners.csv, if there is one."""
        return frozenset(people - self.learners.keys() if self.learners else ())


def read_term(folder: Path, known_lessons: Collection[str] | None = None) -> Term:
    """Read the tables in a course directory; a missing one is empty.

    Raises CourseError, which names file, line, value and remedy.

    known_lessons: if given, the only lessons that the tables may name.
    """
    learners = read_learners(folder / "learners.csv")
    lessons = _read_lessons(folder / "lessons.csv", known_lessons)
    known_learners = learners if (folder / "learners.csv").exists() else None
    path = folder / "extensions.csv"
    extensions = _read_extensions(path, known_lessons, known_learners)
    adjustments = _read_adjustments(folder / ADJUSTMENTS, known_lessons, known_learners)
    return Term(learners, lessons, extensions, path.exists(), adjustments)


def terms_of(term: Term, lesson: str) -> LessonTerms:
    """Return the terms of a lesson; empty ones if it is not in lessons.csv."""
    return term.lessons.get(lesson, LessonTerms())


def due_for(term: Term, learner: str, lesson: str) -> datetime | None:
    """Return when a lesson is due for a learner, in UTC; None if it never is.

    An extension only ever adds time: if the lesson's own date is later, that one counts.
    """
    dates = [
        terms_of(term, lesson).due,
        term.extensions.get((learner, lesson), Extension()).due,
    ]
    return max(filter(None, dates), default=None)


def late_penalty(points: float, seconds_late: float, percent: float) -> float | None:
    """Return what lateness takes off: `percent` of the points for each day, or part of one.

    None, as in nbgrader's gradebook, if the submission is on time.
    """
    if seconds_late <= 0:
        return None
    days = math.ceil(seconds_late / DAY)
    return max(0.0, min(points, points * percent / 100 * days))


def is_excused(term: Term, learner: str, lesson: str) -> bool:
    """Whether a learner need not hand in a lesson."""
    return term.extensions.get((learner, lesson), Extension()).excused


def read_learners(path: Path) -> dict[str, Learner]:
    """Read a table of learners by name; none if it is missing. Raises CourseError."""
    required, *optional = (column.name for column in fields(Learner))
    rows = read_table(path, [required], optional)
    for column in IDENTIFIERS:
        check_unique(rows, column)
    for row in rows:
        if why := why_no_name(row["learner"]):
            raise row.error(
                f"learner {printable(row['learner'])!r} can't be the name of a folder: {why}."
            )
    return {row["learner"]: Learner(**row.cells) for row in rows}


def _read_lessons(path: Path, known: Collection[str] | None) -> dict[str, LessonTerms]:
    rows = read_table(path, ["lesson"], ["due", "late_percent", "canvas"])
    check_unique(rows, "lesson")
    check_unique(rows, "canvas")
    for row in rows:
        _check_lesson(row, known)
    return {
        row["lesson"]: LessonTerms(_date(row) if row["due"] else None, _percent(row), row["canvas"])
        for row in rows
    }


def _read_extensions(
    path: Path, known_lessons: Collection[str] | None, known_learners: Collection[str] | None
) -> dict[tuple[str, str], Extension]:
    rows = read_table(path, ["learner", "lesson", "due"])
    check_unique(rows, "learner", "lesson")
    for row in rows:
        _check_lesson(row, known_lessons)
        _check_learner(row, known_learners)
    return {(row["learner"], row["lesson"]): _extension(row) for row in rows}


def _check_lesson(row: TableRow, known: Collection[str] | None) -> None:
    if known is not None and row["lesson"] not in known:
        raise row.error(
            f"there is no lesson {row['lesson']!r}. The lessons are {', '.join(sorted(known))}."
        )


def _check_learner(row: TableRow, known: Collection[str] | None) -> None:
    if known is not None and row["learner"] not in known:
        raise row.error(f"learner {row['learner']!r} is not in learners.csv; add it there.")


def _read_adjustments(
    path: Path, known_lessons: Collection[str] | None, known_learners: Collection[str] | None
) -> tuple[Adjustment, ...]:
    required, optional = COLUMNS[:-1], COLUMNS[-1:]
    rows = read_table(path, required, optional)
    check_unique(rows, "lesson", "cell", "learner")
    for row in rows:
        _check_lesson(row, known_lessons)
        if row["learner"]:
            _check_learner(row, known_learners)
    return tuple(_adjustment(row) for row in rows)


def _adjustment(row: TableRow) -> Adjustment:
    try:
        points = read_points(row["points"])
    except ValueError:
        raise row.error(f"points {row['points']!r} can't be read: {FORMS}.") from None
    return Adjustment(row["lesson"], row["cell"], points, row["learner"])


def _extension(row: TableRow) -> Extension:
    if row["due"].casefold() == EXCUSED:
        return Extension(excused=True)
    return Extension(due=_date(row, f"; or write {EXCUSED!r}"))


def _date(row: TableRow, otherwise: str = "") -> datetime:
    try:
        return read_date(row["due"])
    except ValueError as error:
        raise row.error(f"due {error}: {FORM}{otherwise}.") from None


def _percent(row: TableRow) -> float | None:
    if not row["late_percent"]:
        return None
    try:
        percent = read_number(row["late_percent"].removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise row.error(
            f"late_percent {row['late_percent']!r} is not a number from 0 to 100: write what each "
            "day late takes off the grade, such as 10."
        )
    return percent
