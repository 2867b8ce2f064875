"""Write the judge's points into nbgrader's gradebook."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.engine.provenance import SETTLED_CELLS
from autograder.grading.gradebook.entries import save_points
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.worker.graded_cells import notebook_points

POINTS = "notebook_points"  # in nbgrader's resources: a worker's `NotebookPoints`


class SavePoints(NbGraderPreprocessor):
    """Saves the points that a worker gave, or those of a notebook that was graded unsealed."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        submitted = about["notebook"], about["assignment"], about["student"]
        settled = about.get(SETTLED_CELLS, frozenset())
        given = about[POINTS] if POINTS in about else notebook_points(nb)
        with Gradebook(about["db_url"]) as gradebook:
            save_points(gradebook, submitted, given.by_name, given.unanswered, settled)
        return nb, resources
