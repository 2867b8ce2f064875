"""What the gradebook says about one submitted notebook: points, comments, who and when."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nbgrader.api import BaseCell, Comment, Gradebook, Student, SubmittedNotebook
from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.grading.gradebook.grades import Grade
from autograder.grading.gradebook.lesson_grades import cell_grades, late_by
from autograder.grading.pages.untrusted import LONGEST_NAME, visible
from autograder.grading.term.tables import Term, terms_of


@dataclass(frozen=True)
class NotebookFacts:
    """The gradebook's facts about a learner's notebook.

    comments: the instructor's own, by the name of the cell.
    untouched: solution cells that came back as they were handed out.
    late_percent: the percentage that each day late, or part of one, takes off; None if the tables
        of the term don't say.
    """

    learner: str
    lesson: str
    notebook: str
    grade: Grade
    comments: dict[str, str]
    untouched: tuple[str, ...] = ()
    late_percent: float | None = None


@dataclass(frozen=True)
class Fields:
    """What a person can enter for a submitted notebook, by the names of its cells.

    points: the most that each graded cell can get.
    commented: the cells that take a comment.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    commented: Collection[str] = ()

    @cached_property
    def names(self) -> list[str]:
        """The names of all these cells, each once."""
        return [*dict.fromkeys([*self.points, *self.commented])]


def read_facts(
    gradebook: Gradebook, notebook: str, lesson: str, learner: str, term: Term
) -> NotebookFacts:
    """Read the facts about one notebook. Raises nbgrader's MissingEntry if there are none."""
    found = gradebook.find_submission_notebook(notebook, lesson, learner)
    submission = found.assignment
    only = SubmittedNotebook.id == found.id
    cells = [cell for *_, cell in cell_grades(gradebook, lesson, only)]
    said = _comments(gradebook.db, found.id)
    grade = Grade(
        cells=tuple(sorted(cells, key=lambda cell: cell.name)),
        penalty=found.late_submission_penalty or 0.0,
        late=late_by(submission.timestamp, submission.extension, submission.assignment.duedate),
        submitted=submission.timestamp,
    )
    return NotebookFacts(
        learner=_name(submission.student),
        lesson=lesson,
        notebook=notebook,
        grade=grade.with_adjustments(term.adjustments_for(lesson, learner)),
        comments={name: text for name, text, _ in said if text and text.strip()},
        untouched=tuple(name for name, _, unanswered in said if unanswered),
        late_percent=terms_of(term, lesson).late_percent,
    )


def fields_of(gradebook: Gradebook, submission_id: str) -> Fields:
    """Return what a person can enter for a submitted notebook."""
    found = gradebook.find_submission_notebook_by_id(submission_id)
    only = SubmittedNotebook.id == found.id
    cells = (cell for *_, cell in cell_grades(gradebook, found.assignment.name, only))
    points = {cell.name: cell.most for cell in cells}
    return Fields(points, [name for name, *_ in _comments(gradebook.db, found.id)])


def _comments(session: Session, notebook_id: str) -> list[tuple[str, str | None, str | None]]:
    """List the names of cells with the instructor's and nbgrader's comments."""
    query = (
        select(BaseCell.name, Comment.manual_comment, Comment.auto_comment)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .where(Comment.notebook_id == notebook_id)
        .order_by(BaseCell.name)
    )
    return [tuple(row) for row in session.execute(query)]


def _name(student: Student) -> str:
    """Return a learner's name, or else the id. Either may contain anything."""
    names = [name for name in (student.first_name, student.last_name) if name]
    return visible(" ".join(names), LONGEST_NAME) or visible(student.id, LONGEST_NAME)
