"""What an instructor should know about the learners of a run, besides their grades."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from autograder.grading.gradebook.grades import Grade
from autograder.grading.submission.folder import submitted_at
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term.tables import Term


@dataclass(frozen=True)
class Roll:
    """Groups of learners that the instructor should know about.

    waiting: those with an answer that a person still has to grade, also from earlier runs.
    late: those whose submission is late.
    without_time: those whose submission does not say when it came in, where lateness costs points.
    strangers: those who are not in learners.csv, if there is one.
    here: how many handed in.
    gone: those with a grade from an earlier run, but no submission any more.
    """

    waiting: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    without_time: frozenset[str] = frozenset()
    strangers: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    here: int = 0


def call_roll(
    grades: Mapping[str, Grade], lesson: str, term: Term, folders: Mapping[str, str], asked: str
) -> Roll:
    """Look at everyone in a run.

    grades: those in the gradebook, by learner.
    folders: the submissions' folders, by learner.
    asked: the pattern of the learners to grade.
    """

    def here(learners: Iterable[str]) -> frozenset[str]:
        return frozenset(folders.keys() & learners)

    timeless = (learner for learner, folder in folders.items() if _is_timeless(Path(folder)))
    return Roll(
        waiting=here(who for who, grade in grades.items() if grade.waiting),
        late=here(who for who, grade in grades.items() if grade.late),
        without_time=frozenset(timeless if _is_late_taken_off(lesson, term) else ()),
        strangers=term.strangers(folders.keys()),
        gone=frozenset(one for one in grades if fnmatch(one, asked) and one not in folders),
        here=len(folders),
    )


def _is_late_taken_off(lesson: str, term: Term) -> bool:
    terms = term.lessons.get(lesson)
    return terms is not None and terms.due is not None and bool(terms.late_percent)


def _is_timeless(folder: Path) -> bool:
    try:
        return submitted_at(folder) is None
    except BrokenSubmission:
        return False  # it has a time, but an unreadable one
