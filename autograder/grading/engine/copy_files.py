"""Copy the files next to a submitted notebook."""

from fnmatch import fnmatch
from pathlib import Path

from nbgrader.converters.base import BaseConverter

from autograder.grading.submission.handed_in import files_beside
from autograder.grading.submission.plain_files import write_below
from autograder.grading.worker.job import run_path


class CopyPlainFiles(BaseConverter):
    """Copies the files next to a submitted notebook, as far as they are ordinary ones."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        beside = files_beside(Path(self.source_path(assignment_id, student_id)))
        wanted = {name: beside[name] for name in beside if not self._is_ignored(name)}
        write_below(Path(self.result_path(assignment_id, student_id)), wanted)

    def _is_ignored(self, name: str) -> bool:
        parts, own = Path(name).parts, [run_path(Path(path)).name for path in self.notebooks]
        return parts[0] in own or any(
            fnmatch(part, pattern) for part in parts for pattern in self.coursedir.ignore
        )
