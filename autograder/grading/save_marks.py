"""Writing the judge's marks into nbgrader's gradebook."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from autograder.grading.judge_notebook import VERDICT


class SaveMarks(SaveAutoGrades):
    """Saves the points of a verdict; cells without one are marked as nbgrader always does."""

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        if VERDICT not in cell.metadata:
            super()._add_score(cell, resources)
            return
        about = resources["nbgrader"]
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader["grade_id"],
            about["notebook"],
            about["assignment"],
            about["student"],
        )
        grade.auto_score = cell.metadata[VERDICT]["points"]
        grade.needs_manual_grade = grade.manual_score is not None
        self.gradebook.db.commit()
