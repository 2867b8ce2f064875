"""Write the judge's marks into nbgrader's gradebook."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task

from autograder.grading.engine.made_from import SAME_TO_MARK
from autograder.grading.worker.judge_notebook import VERDICT, was_run
from autograder.lessons.nbgrader_metadata import grade_id_of


class SaveMarks(NbGraderPreprocessor):
    """Saves the points of verdicts; cells without one are marked as nbgrader always does.

    It writes a notebook's marks in one transaction, where nbgrader writes them one by one. So a
    concurrent reader sees the marks of one grading, and a killed run leaves nothing half done.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        place = about["notebook"], about["assignment"], about["student"]
        with Gradebook(about["db_url"]) as gradebook:
            kept = gradebook.find_submission_notebook(*place)
            grades = {grade.name: grade for grade in kept.grades}
            comments = {comment.name: comment for comment in kept.comments}
            for cell in nb.cells:
                if is_grade(cell):
                    same = about.get(SAME_TO_MARK, False)
                    _save_points(cell, grades[grade_id_of(cell)], same)
                if is_solution(cell) or is_task(cell):
                    _save_comment(cell, comments[grade_id_of(cell)])
            gradebook.db.commit()
        return nb, resources


def _save_points(cell: NotebookNode, grade: Grade, same: bool) -> None:
    """Save a cell's points, if they are known. A person has to look at it if they are not.

    Manual scores stay. They are flagged for another look unless they were given for the same, and
    the judge's points are the same too.
    """
    points, by_hand = points_of(cell), grade.manual_score is not None
    settled = by_hand and not grade.needs_manual_grade
    if settled and same and grade.auto_score == points:
        return
    grade.auto_score = points
    grade.needs_manual_grade = by_hand or points is None


def points_of(cell: NotebookNode) -> float | None:
    """Return the points for a graded cell that has been run; None if they are not known."""
    if VERDICT in cell.metadata:
        verdict = cell.metadata[VERDICT]
        return verdict["points"] if verdict["graded"] else None
    return determine_grade(cell)[0] if was_run(cell) else None


def _save_comment(cell: NotebookNode, comment: Comment) -> None:
    """Call an unchanged released cell "No response", as nbgrader does."""
    released = cell.metadata.nbgrader.get("checksum")
    untouched = released == compute_checksum(cell) and not is_task(cell)
    comment.auto_comment = "No response." if untouched else None
