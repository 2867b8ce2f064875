"""Write the judge's marks into nbgrader's gradebook."""

from collections.abc import Iterable

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from autograder.grading.engine.provenance import SETTLED_CELLS
from autograder.grading.worker.cell_points import cell_points

POINTS = "cell_points"  # in nbgrader's resources: a worker's `CellPoints`


class SaveMarks(NbGraderPreprocessor):
    """Saves a worker's marks, or those of a notebook that was graded unsealed.

    It writes a notebook's marks in one transaction, where nbgrader writes them one by one. So a
    concurrent reader sees the marks of one grading, and a killed run leaves nothing half done.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        place = about["notebook"], about["assignment"], about["student"]
        same = about.get(SETTLED_CELLS, frozenset())
        given = about[POINTS] if POINTS in about else cell_points(nb)
        with Gradebook(about["db_url"]) as gradebook:
            kept = gradebook.find_submission_notebook(*place)
            for grade in _with_cells(gradebook, Grade, kept):
                if grade.name in given.by_name:
                    _save_points(given.by_name[grade.name], grade, grade.name in same)
            for comment in _with_cells(gradebook, Comment, kept):
                _save_comment(comment.name in given.unanswered, comment)
            gradebook.db.commit()
        return nb, resources


def _with_cells(
    gradebook: Gradebook, kind: type[Grade | Comment], kept: SubmittedNotebook
) -> Iterable[Grade | Comment]:
    """Read a notebook's rows of a kind, and the cells that they are about, in one query."""
    return gradebook.db.scalars(
        select(kind).where(kind.notebook_id == kept.id).options(joinedload(kind.cell))
    )


def _save_points(points: float | None, grade: Grade, same: bool) -> None:
    """Save a cell's points, if they are known. A person has to look at it if they are not.

    Manual scores stay. They are flagged for another look unless they were given for the same, and
    the judge's points are the same too.
    """
    by_hand = grade.manual_score is not None
    settled = by_hand and not grade.needs_manual_grade
    if settled and same and grade.auto_score == points:
        return
    grade.auto_score = points
    grade.needs_manual_grade = by_hand or points is None


def _save_comment(unanswered: bool, comment: Comment) -> None:
    """Call an unchanged released cell "No response", as nbgrader does."""
    comment.auto_comment = "No response." if unanswered else None
