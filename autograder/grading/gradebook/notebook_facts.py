"""What the gradebook says about one submitted notebook: points, comments, who and when."""

from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import Gradebook, Student, SubmittedNotebook

from autograder.grading.pages.untrusted import LONGEST_NAME, visible


@dataclass(frozen=True)
class Score:
    """The points of one graded cell.

    auto: what the check gave; manual: what the instructor gave. None means nothing was given.
    waits: whether the instructor has to look at it, or to look again.
    """

    most: float
    auto: float | None
    manual: float | None
    extra: float = 0.0
    waits: bool = False

    @property
    def points(self) -> float | None:
        """The points that count, with extra credit; None if a person still has to give them."""
        given = self.auto if self.manual is None else self.manual
        return None if given is None else given + self.extra


@dataclass(frozen=True)
class Facts:
    """The gradebook's facts about a learner's notebook.

    scores, comments: by the name of the cell. The comments are the instructor's own.
    untouched: solution cells that came back as they were handed out.
    handed_in: in UTC. late_percent: what each day late that has begun takes off, if the tables of
    the term say so.
    """

    learner: str
    assignment: str
    notebook: str
    scores: dict[str, Score]
    comments: dict[str, str]
    untouched: tuple[str, ...] = ()
    penalty: float = 0.0
    handed_in: datetime | None = None
    seconds_late: float = 0.0
    late_percent: float | None = None

    @property
    def points(self) -> float:
        """The points given so far, before a late penalty."""
        return sum(score.points or 0.0 for score in self.scores.values())

    @property
    def mark(self) -> float:
        return max(0.0, self.points - self.penalty)

    @property
    def most(self) -> float:
        return sum(score.most for score in self.scores.values())


def read_facts(gradebook: Gradebook, notebook: str, assignment: str, student: str) -> Facts:
    """Read the facts about one notebook. Raises nbgrader's MissingEntry if there are none."""
    kept = gradebook.find_submission_notebook(notebook, assignment, student)
    said = sorted(kept.comments, key=lambda comment: comment.name)
    return Facts(
        learner=_name(kept.assignment.student),
        assignment=assignment,
        notebook=notebook,
        scores=_scores(kept),
        comments={c.name: c.manual_comment for c in said if (c.manual_comment or "").strip()},
        untouched=tuple(comment.name for comment in said if comment.auto_comment),
        penalty=kept.late_submission_penalty or 0.0,
        handed_in=kept.assignment.timestamp,
        seconds_late=kept.assignment.total_seconds_late,
    )


def _scores(kept: SubmittedNotebook) -> dict[str, Score]:
    return {
        grade.name: Score(
            grade.max_score or 0.0,
            grade.auto_score,
            grade.manual_score,
            grade.extra_credit or 0.0,
            grade.needs_manual_grade,
        )
        for grade in sorted(kept.grades, key=lambda grade: grade.name)
    }


def _name(student: Student) -> str:
    """Return a learner's name, or else the id. Both may hold anything."""
    names = [name for name in (student.first_name, student.last_name) if name]
    return visible(" ".join(names), LONGEST_NAME) or visible(student.id, LONGEST_NAME)
