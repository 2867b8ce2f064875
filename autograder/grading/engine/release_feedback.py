"""Release pages of feedback through nbgrader's exchange."""

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograder.atomic_writes import write_whole
from autograder.grading.engine.patches import find, names_in
from autograder.grading.submission.folder import SECRET
from autograder.grading.term.learner_names import listed
from autograder.judging.code_marks import count


class ReleasePages(ExchangeReleaseFeedback):
    """nbgrader's ExchangeReleaseFeedback, for our folders of feedback, which hold only pages.

    The secret that names a page in the exchange is with the graded submission.
    """

    def copy_files(self) -> None:
        """Release the pages, and say whose work did not come through the exchange."""
        course = self.coursedir
        excluded, released, without = course.student_id_exclude.split(","), 0, set()
        for page in map(Path, find(f"{self.src_path}/*.html")):
            learner = names_in(course, course.feedback_directory, str(page.parent))["student"]
            if learner in excluded:
                continue
            if secret := self._secret(learner):
                self._release(page, secret)
                released += 1
            else:
                without.add(learner)
        pages = count(released, "page")
        self.log.info("%s of feedback on %s released", pages, course.assignment_id)
        if without:
            self.log.warning(
                "Not submitted through the exchange, so not released: %s", listed(without)
            )

    def _secret(self, learner: str) -> str:
        course = self.coursedir
        folder = course.format_path(course.autograded_directory, learner, course.assignment_id)
        path = Path(folder, SECRET)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def _release(self, page: Path, secret: str) -> None:
        name = notebook_hash(secret=secret, notebook_id=page.stem)
        released = Path(self.dest_path, f"{name}.html")
        write_whole(released, page.read_bytes())
        released.chmod(0o664 if self.coursedir.groupshared else 0o644)
