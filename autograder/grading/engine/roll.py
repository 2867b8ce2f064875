"""What an instructor should know of the learners of a run, besides their marks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.grading.submission.folder import submitted_at
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term.gradebook import in_gradebook, late_learners, waiting_to_be_marked
from autograder.grading.term.tables import Term


@dataclass(frozen=True)
class Roll:
    """Learners by what there is to know of them.

    waiting: who has an answer that a person still has to mark, also from earlier runs.
    late: whose submission is late. without_time: whose submission does not say when it was handed
    in, where that costs points. strangers: who is not in learners.csv, where there is one.
    gone: who has marks from an earlier run, and no submission any more.
    """

    waiting: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    without_time: frozenset[str] = frozenset()
    strangers: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


def call_roll(
    gradebook: Gradebook, assignment: str, term: Term, folders: Mapping[str, str], asked: str
) -> Roll:
    """Look at everyone in a run.

    folders: by learner, where the submissions are. asked: the pattern of the learners to grade.
    """

    def here(learners: Iterable[str]) -> frozenset[str]:
        return frozenset(folders.keys() & learners)

    graded = in_gradebook(gradebook, assignment)
    timeless = (learner for learner, folder in folders.items() if _is_timeless(Path(folder)))
    return Roll(
        waiting=here(waiting_to_be_marked(gradebook, assignment)),
        late=here(late_learners(gradebook, assignment)),
        without_time=frozenset(timeless if _is_late_taken_off(assignment, term) else ()),
        strangers=frozenset(folders.keys() - term.learners if term.learners else ()),
        gone=frozenset(one for one in graded if fnmatch(one, asked) and one not in folders),
    )


def _is_late_taken_off(assignment: str, term: Term) -> bool:
    terms = term.lessons.get(assignment)
    return terms is not None and terms.due is not None and bool(terms.late_percent)


def _is_timeless(folder: Path) -> bool:
    try:
        return submitted_at(folder) is None
    except BrokenSubmission:
        return False  # it has a time, which can't be read
