"""Copy the files next to a submitted notebook."""

from fnmatch import fnmatch
from pathlib import Path

from nbgrader.converters.base import BaseConverter

from autograder.grading.submission.folder import files_beside
from autograder.grading.submission.plain_files import write_below
from autograder.grading.worker.job import RUN


class CopyPlainFiles(BaseConverter):
    """Copies the files next to a submitted notebook, as far as they are ordinary ones.

    None can take the place of what the engine keeps of a run.
    """

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        beside = files_beside(Path(self.source_path(assignment_id, student_id)))
        wanted = {name: beside[name] for name in beside if not self._is_ignored(name)}
        write_below(Path(self.result_path(assignment_id, student_id)), wanted)

    def _is_ignored(self, name: str) -> bool:
        parts = Path(name).parts
        return parts[0].endswith(RUN) or any(
            fnmatch(part, pattern) for part in parts for pattern in self.coursedir.ignore
        )
