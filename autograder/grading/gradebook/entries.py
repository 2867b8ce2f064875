"""Write what grading found into the rows of a submission."""

from collections.abc import Collection, Iterable, Mapping

from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from sqlalchemy import select
from sqlalchemy.orm import joinedload


def save_points(
    gradebook: Gradebook,
    submitted: tuple[str, str, str],
    points: Mapping[str, float | None],
    unanswered: Collection[str],
    settled: Collection[str],
) -> None:
    """Save the judge's points for a submitted notebook, in one transaction.

    nbgrader writes them one by one. This way a concurrent reader sees the points of one grading,
    and a killed run leaves nothing half done.

    submitted: the notebook, the lesson and the learner.
    points: by cell; None where they are not known.
    unanswered: the cells that came back as they were handed out.
    settled: the cells for which points given by hand are still valid.
    """
    kept = gradebook.find_submission_notebook(*submitted)
    for grade in _with_cells(gradebook, Grade, kept):
        if grade.name in points:
            _save(points[grade.name], grade, grade.name in settled)
    for comment in _with_cells(gradebook, Comment, kept):
        comment.auto_comment = "No response." if comment.name in unanswered else None
    gradebook.db.commit()


def forget_time(gradebook: Gradebook, lesson: str, learner: str) -> None:
    """Forget when a submission came in."""
    gradebook.find_submission(lesson, learner).timestamp = None
    gradebook.db.commit()


def _with_cells(
    gradebook: Gradebook, kind: type[Grade | Comment], kept: SubmittedNotebook
) -> Iterable[Grade | Comment]:
    """Read a notebook's rows of one kind, with their cells, in one query."""
    return gradebook.db.scalars(
        select(kind).where(kind.notebook_id == kept.id).options(joinedload(kind.cell))
    )


def _save(points: float | None, grade: Grade, settled: bool) -> None:
    """Save a cell's points. If they are not known, a person has to look at the cell.

    Points given by hand stay. They are flagged for another look unless they are still valid
    (`settled`) and the judge's points are the same too.
    """
    by_hand = grade.manual_score is not None
    if by_hand and not grade.needs_manual_grade and settled and grade.auto_score == points:
        return
    grade.auto_score = points
    grade.needs_manual_grade = by_hand or points is None
