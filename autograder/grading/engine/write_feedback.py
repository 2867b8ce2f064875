"""The feedback on a lesson: pages of our own, written again when what they show has changed."""

import os
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader import converters
from nbgrader.converters.base import NbGraderException
from tqdm import tqdm

from autograder.atomic_writes import write_whole
from autograder.grading import feedback, pages
from autograder.grading.engine import patches
from autograder.grading.engine.messages import errors_as_sentences
from autograder.grading.engine.plugins import course_term
from autograder.grading.engine.provenance import digest
from autograder.grading.engine.stale_grades import stale_grades
from autograder.grading.feedback.make_page import make_page
from autograder.grading.gradebook.course_files import files_of
from autograder.grading.gradebook.follow_tables import bring_up_to_date
from autograder.grading.gradebook.lesson_grades import submitted_grades
from autograder.grading.gradebook.notebook_facts import NotebookFacts, read_facts
from autograder.grading.gradebook.opening import (
    open_gradebook,
    readable,
    reading,
    require_readable,
)
from autograder.grading.pages.notebook import Outline, read_outline
from autograder.grading.term.dates import course_zone, shown
from autograder.grading.term.learner_names import listed
from autograder.grading.worker.job import earlier_run
from autograder.judging.code_marks import count

NO_GRADE = "the gradebook has no grade (`make grade LESSON={}` makes one)"


class GenerateFeedback(patches.OpenConverter, converters.GenerateFeedback):
    """nbgrader's GenerateFeedback, with our pages.

    Each page ends with a digest of all that it was made from: the graded notebook, what the
    gradebook and the source say about it, and the code that makes the page.
    """

    def start(self) -> None:
        """Write the stale pages, using the tables of the term as they are now.

        Raises NbGraderException, and changes nothing, if these or the gradebook can't be read, or
        the course's time zone is invalid.
        """
        with errors_as_sentences(self.log):
            require_readable(self.coursedir)
            self._term = course_term(self.coursedir)
            course_zone()
        super().start()

    def init_notebooks(self) -> None:
        """Find the graded notebooks, and whose are in the gradebook. Raises NbGraderException."""
        super().init_notebooks()
        url, lesson = self.coursedir.db_url, self.coursedir.assignment_id
        with errors_as_sentences(self.log), readable():
            with reading(url, lesson) as gradebook:
                self._known = submitted_grades(gradebook, lesson).keys()
            with open_gradebook(self.coursedir) as gradebook:
                bring_up_to_date(gradebook, self._term)

    def convert_notebooks(self) -> None:
        """Write the pages that are due, and say how many and where they are.

        Unlike nbgrader's, this removes no page. Raises NbGraderException at the end if some could
        not be written.
        """
        self._written, failed = 0, defaultdict(list)
        for folder in tqdm(sorted(self.assignments), unit="learner", disable=None):
            if why := self._attempt(folder):
                failed[why].append(self.student_of(folder))
        self._tell(failed)
        if failed:
            raise NbGraderException("Some pages could not be written: see the lines above.")

    def _tell(self, failed: Mapping[str, list[str]]) -> None:
        folder = self.result_path(self.coursedir.assignment_id, "LEARNER")
        place = os.path.relpath(folder, self.coursedir.root)
        self.log.info("%s written. All are in %s", count(self._written, "page"), place)
        for why, learners in failed.items():
            self.log.error("No new page, because %s: %s", why, listed(learners))
        graded = set(map(self.student_of, self.assignments))
        if told := stale_grades(files_of(self.coursedir), self.coursedir.assignment_id, graded):
            self.log.warning(told)

    def _attempt(self, folder: str) -> str:
        """Write a learner's pages if they are due; return why that failed, "" if it did not."""
        lesson, learner = self.coursedir.assignment_id, self.student_of(folder)
        if learner in self.coursedir.student_id_exclude.split(","):
            return ""
        if learner not in self._known:
            return NO_GRADE.format(lesson)
        self.notebooks = sorted(self.assignments[folder])
        try:
            if self.force or not all(map(self._is_fresh, self.notebooks)):
                self.run_pre_convert_hook()
                for notebook in self.notebooks:
                    self.convert_single_notebook(notebook)
                self.set_permissions(lesson, learner)
                self.run_post_convert_hook()
        except Exception as error:
            self.log.debug("Feedback for %s failed", learner, exc_info=True)
            return (isinstance(error, OSError) and error.strerror) or str(error)
        return ""

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Write the page on a graded notebook, without nbconvert."""
        resources = self.init_single_notebook_resources(notebook_filename)
        facts, outline = self._facts(resources), self._outline(resources)
        graded = Path(notebook_filename)
        page = make_page(graded.read_bytes(), earlier_run(graded), facts, outline)
        self.write_single_notebook(page, resources)

    def write_single_notebook(self, output: str, resources: ResourcesDict) -> None:
        graded = Path(self.source_path(*_submission(resources)), f"{resources['unique_key']}.ipynb")
        page = output + self._last_line(graded, resources)
        write_whole(self._page(resources), page.encode(errors="replace"))
        self._written += 1

    def _is_fresh(self, graded: str) -> bool:
        resources = self.init_single_notebook_resources(graded)
        page = self._page(resources)
        last = self._last_line(Path(graded), resources).encode()
        return page.is_file() and page.read_bytes().endswith(last)

    def _page(self, resources: ResourcesDict) -> Path:
        folder = self.result_path(*_submission(resources))
        return Path(folder, f"{resources['unique_key']}.html")

    def _facts(self, resources: ResourcesDict) -> NotebookFacts:
        assignment, student = _submission(resources)
        with open_gradebook(self.coursedir) as gradebook:
            return read_facts(gradebook, resources["unique_key"], assignment, student, self._term)

    def _outline(self, resources: ResourcesDict) -> Outline:
        sources, assignment = self.coursedir.source_directory, _submission(resources)[0]
        folder = self.coursedir.format_path(sources, ".", assignment)
        return read_outline(Path(folder, f"{resources['unique_key']}.ipynb"))

    def _last_line(self, graded: Path, resources: ResourcesDict) -> str:
        """Return the last line of a page: a digest of all that it shows."""
        facts, outline = self._facts(resources), self._outline(resources)
        zone = facts.grade.submitted and shown(facts.grade.submitted)
        parts = (graded.read_bytes(), facts, zone, outline, earlier_run(graded), _look())
        return f"\n<!-- made from {digest(parts)} -->\n"


@cache
def _look() -> str:
    """Return a digest of the code that makes the pages, which are written again if it changes."""
    folders = (Path(room.__path__[0]) for room in (feedback, pages))
    files = sorted(file for folder in folders for file in folder.glob("*.*"))
    return digest([file.read_bytes() for file in files])


def _submission(resources: ResourcesDict) -> tuple[str, str]:
    about = resources["nbgrader"]
    return about["assignment"], about["student"]
