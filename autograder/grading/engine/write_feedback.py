"""The feedback on an assignment: nbgrader's, written anew whenever what it shows has changed."""

import hashlib
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook

from autograder.atomic_writes import write_whole
from autograder.grading.engine import seams


class GenerateFeedback(seams.OpenGenerateFeedback):
    """nbgrader's GenerateFeedback, in which each page says what it was made from.

    That is a digest of the graded notebook, and of marks and comments in the gradebook.
    """

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Whether a page is missing, stale or forced. Removes nothing, unlike nbgrader's."""
        if student_id in self.coursedir.student_id_exclude.split(","):
            return False
        return self.force or not all(map(self._is_fresh, self.notebooks))

    def write_single_notebook(self, output: str, resources: ResourcesDict) -> None:
        graded = Path(self.source_path(*_submission(resources)), f"{resources['unique_key']}.ipynb")
        page = output + self._made_from(graded, resources)
        write_whole(self._page(resources), page.encode())

    def _is_fresh(self, graded: str) -> bool:
        resources = self.init_single_notebook_resources(graded)
        page = self._page(resources)
        return page.is_file() and page.read_text(encoding="utf-8").endswith(
            self._made_from(Path(graded), resources)
        )

    def _page(self, resources: ResourcesDict) -> Path:
        folder = self.result_path(*_submission(resources))
        return Path(folder, f"{resources['unique_key']}.html")

    def _made_from(self, graded: Path, resources: ResourcesDict) -> str:
        """Return the last line of a page: a digest of all that it shows."""
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            known = gradebook.find_submission_notebook(
                resources["unique_key"], *_submission(resources)
            )
            grades = [(g.name, g.auto_score, g.manual_score, g.extra_credit) for g in known.grades]
            comments = [(c.name, c.comment) for c in known.comments]
            shown = sorted(grades), sorted(comments), known.late_submission_penalty
        digest = hashlib.sha256(graded.read_bytes() + repr(shown).encode())
        return f"\n<!-- made from {digest.hexdigest()} -->\n"


def _submission(resources: ResourcesDict) -> tuple[str, str]:
    about = resources["nbgrader"]
    return about["assignment"], about["student"]
