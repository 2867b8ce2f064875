"""The report over a term: how learners progress, who is missing, which mistakes persist."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations

from autograder.errors import CourseError
from autograder.grading.gradebook.course_files import CourseFiles
from autograder.grading.gradebook.grades import Standing
from autograder.grading.report.gather import gather, shown_path
from autograder.grading.report.make_report import Report
from autograder.grading.report.persistent import Persistent, persistent_mistakes
from autograder.grading.report.same_code import SameCode
from autograder.grading.report.same_mistakes import SameMistakes
from autograder.grading.report.standings import TermStanding, term_standings
from autograder.grading.term.dates import in_course_zone
from autograder.grading.term.tables import Term, read_term

OFTEN = 0.1  # a share of the learners


@dataclass(frozen=True)
class TermReport:
    """What the page on a term shows.

    lessons: the reports on the graded ones, in order.
    names: full names by learner, if known.
    alike: pairs of learners whose answers are alike in several lessons, with these lessons.
    strangers: those who are in the gradebook or handed in, but are not in learners.csv, if there
        is one.
    """

    made: datetime
    lessons: list[Report]
    standings: list[TermStanding]
    persistent: list[Persistent]
    alike: dict[tuple[str, str], list[str]]
    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    strangers: frozenset[str] = frozenset()

    @property
    def enrolled(self) -> list[TermStanding]:
        """The standings of those who are expected to hand in."""
        return [one for one in self.standings if one.learner not in self.strangers]

    def learners(self, lesson: str, standing: Standing) -> list[str]:
        """List the learners with a certain standing in a lesson."""
        return [one.learner for one in self.standings if one.by_lesson[lesson].standing == standing]

    def handed_in(self, lesson: str) -> int:
        """Count those of learners.csv who handed in."""
        return sum(one.by_lesson[lesson].handed_in for one in self.enrolled)

    def expected(self, lesson: str) -> int:
        """Count those of learners.csv who are not excused."""
        return sum(one.by_lesson[lesson].standing != Standing.EXCUSED for one in self.enrolled)

    def strangers_in(self, lesson: str) -> int:
        """Count those who handed in and are not in learners.csv."""
        handed_in = sum(one.by_lesson[lesson].handed_in for one in self.standings)
        return handed_in - self.handed_in(lesson)

    def late(self, lesson: str) -> int:
        """Count those who handed in late."""
        return sum(bool(one.by_lesson[lesson].late) for one in self.standings)

    @property
    def again(self) -> list[Persistent]:
        """The mistakes that learners made again, those of the most learners first."""
        made = [one for one in self.persistent if one.again]
        return sorted(made, key=lambda one: -len(one.again))

    @property
    def gone(self) -> list[str]:
        """The learners who should have handed in something, but handed in nothing at all."""
        silent = (one for one in self.standings if one.missing)
        return [
            one.learner
            for one in silent
            if not any(standing.handed_in for standing in one.by_lesson.values())
        ]

    @property
    def often(self) -> list[Persistent]:
        """The mistakes that many of the learners still make in a later lesson."""
        return [one for one in self.persistent if one.later >= OFTEN]


def gather_term(files: CourseFiles) -> TermReport:
    """Gather the reports on all graded lessons, and what they show together.

    Raises CourseError if nothing is graded, or a table of the term can't be read.
    """
    term = read_term(files.root)
    graded = [lesson for lesson in files.lessons() if any(files.learners(files.graded, lesson))]
    if not graded:
        raise CourseError(
            f"Nothing is graded in {shown_path(files.root)}: there is nothing to report on until "
            "`make grade LESSON=…` has graded a lesson."
        )
    return make_term_report([gather(lesson, files) for lesson in graded], term, files)


def make_term_report(lessons: Sequence[Report], term: Term, files: CourseFiles) -> TermReport:
    """Make the report from those on the graded lessons."""
    names = {learner: name for report in lessons for learner, name in report.names.items()}
    names |= {id: one.full_name for id, one in term.learners.items() if one.full_name}
    learners = {row.learner for report in lessons for row in report.rows} | names.keys()
    strangers = term.strangers(learners)
    submitted = {one: set(files.learners(files.submitted, one)) for one in files.lessons()}
    now = datetime.now(UTC)
    return TermReport(
        made=in_course_zone(now),
        lessons=list(lessons),
        standings=term_standings(
            sorted({*learners, *term.learners}),
            lessons,
            term,
            submitted,
            now.replace(tzinfo=None),
            strangers,
        ),
        persistent=persistent_mistakes(lessons),
        alike=_alike(lessons),
        names=names,
        notes=_notes(lessons, submitted),
        strangers=strangers,
    )


def _alike(lessons: Sequence[Report]) -> dict[tuple[str, str], list[str]]:
    """Return the pairs named in several lessons' reports with these lessons, the most first."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for report in lessons:
        groups: list[SameCode | SameMistakes] = [*report.same_code, *report.same_mistakes]
        for pair in sorted({pair for one in groups for pair in combinations(one.learners, 2)}):
            found[pair].append(report.lesson)
    several = {pair: names for pair, names in found.items() if len(names) > 1}
    return dict(sorted(several.items(), key=lambda item: -len(item[1])))


def _notes(lessons: Sequence[Report], submitted: dict[str, set[str]]) -> list[str]:
    """Collect the notes of all lessons, each once, and say which lessons the page leaves out."""
    notes = dict.fromkeys(note for report in lessons for note in report.notes)
    graded = {report.lesson for report in lessons}
    for lesson, learners in submitted.items():
        if learners and lesson not in graded:
            notes[
                f"{lesson} is not on this page: {len(learners)} handed it in, and nobody is graded "
                f"yet. `make grade LESSON={lesson}` does that."
            ] = None
    return list(notes)
