"""Release a lesson as nbgrader does, but completely or not at all, and also in mid-term.

Once there are submissions, nbgrader refuses to add or remove cells, and by then it has removed the
notebook that learners open. Here the gradebook follows the new version, and points and comments
given by hand stay.
"""

import os
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import converters
from nbgrader.preprocessors import ClearMarkScheme, ClearSolutions
from nbgrader.utils import is_locked

from autograder.grading.engine import patches
from autograder.grading.engine.messages import errors_as_sentences
from autograder.grading.gradebook.new_version import follow_version
from autograder.grading.gradebook.opening import open_gradebook, readable, require_readable
from autograder.lessons.cells import BEGINNING

RELEASED = "%s is released already; --force releases it again, and enters it in a new gradebook."


class ClearReadOnly(ClearMarkScheme):
    """nbgrader's ClearMarkScheme, also for read-only cells, which grading restores whole."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        self.enforce_metadata = not is_locked(cell)
        return super().preprocess_cell(cell, resources, cell_index)


class ClearToBeginning(ClearSolutions):
    """nbgrader's ClearSolutions, except that learners may get code to repair instead of a stub."""

    code_stub: dict[str, str]

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        usual = self.code_stub
        if beginning := cell.metadata.get(BEGINNING):
            self.code_stub = dict.fromkeys(usual, beginning)
        try:
            return super().preprocess_cell(cell, resources, cell_index)
        finally:
            self.code_stub = usual


class GenerateAssignment(patches.OpenConverter, converters.GenerateAssignment):
    """nbgrader's GenerateAssignment, but the old release stays until the new one is complete."""

    preprocessors: list[type]

    def start(self) -> None:
        own = {ClearMarkScheme: ClearReadOnly, ClearSolutions: ClearToBeginning}
        self.preprocessors = [own.get(step, step) for step in self.preprocessors]
        if not self.no_database:
            with errors_as_sentences(self.log):
                require_readable(self.coursedir)
        super().start()

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Remove nothing, unlike nbgrader's; `convert_notebooks` knows whether to release."""
        return True

    def convert_notebooks(self) -> None:
        """Release the assignment. If it raises NbGraderException, the old release is unchanged."""
        assignment = self.coursedir.assignment_id
        if not self.force and Path(self.result_path(assignment, ".")).exists():
            self.log.warning(RELEASED, assignment)
            return
        with errors_as_sentences(self.log), self.aside(assignment, "."):
            if not self.no_database:
                self._follow_changes()
            super().convert_notebooks()
        folder = os.path.relpath(self.result_path(assignment, "."), self.coursedir.root)
        self.log.info("%s is released: learners get %s", assignment, folder)

    def _follow_changes(self) -> None:
        with readable(), open_gradebook(self.coursedir) as gradebook:
            for path in (Path(path) for paths in self.assignments.values() for path in paths):
                follow_version(gradebook, self.coursedir.assignment_id, path)
