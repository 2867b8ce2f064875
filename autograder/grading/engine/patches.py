"""Everything that the grader patches in nbgrader, and every private part of a library it uses.

`install` applies the patches. It first checks that the libraries still match, so a new version
leads to an error that names what is missing, and never to a wrong grade.
"""

import glob
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader import converters, utils
from nbgrader.apps import api, autogradeapp, generateassignmentapp, generatefeedbackapp
from nbgrader.converters import base
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import catch_config_error

from autograder.atomic_writes import UNFINISHED, draft_of
from autograder.errors import CourseError
from autograder.grading.engine.messages import errors_as_sentences
from autograder.grading.gradebook.opening import open_faster
from autograder.grading.term.learner_names import did_you_mean, is_learner_name
from autograder.sandbox.inside.expect import expect, expect_set

FORMGRADER = "nbgrader.server_extensions.formgrader.handlers"
# The modules that look up each converter when it runs.
USERS = {
    "Autograde": (autogradeapp, api),
    "GenerateAssignment": (generateassignmentapp, api),
    "GenerateFeedback": (generatefeedbackapp, api),
}


def names_in(course: CourseDirectory, step: str, folder: str) -> re.Match[str]:
    """Return the groups `student` and `assignment` of a folder of a step, such as autograded/."""
    pattern = course.format_path(step, "(?P<student>.*)", "(?P<assignment>.*)", escape=True)
    found = re.match(pattern, folder, re.DOTALL)
    assert found, folder
    return found


class OpenConverter(BaseConverter):
    """Public names for what is private in nbgrader's converters, and drafts of what they write."""

    _draft: Path | None = None

    def student_of(self, folder: str) -> str:
        """Return whose submission is in a folder that notebooks come from."""
        return self._names_in(folder)["student"]

    def init_notebooks(self) -> None:
        """Find the notebooks. Raises NbGraderException if there is no folder for them."""
        with errors_as_sentences(self.log):
            self.require_source()
        super().init_notebooks()

    def require_source(self) -> None:
        """Raise CourseError if there is no folder that notebooks could come from."""
        assignment, student = self.coursedir.assignment_id, self.coursedir.student_id
        wanted = self.source_path(assignment, student)
        if find(wanted):
            return
        students = {self.student_of(folder) for folder in find(self.source_path(assignment, "*"))}
        folders = filter(os.path.isdir, find(self.source_path("*", student)))
        assignments = {self._names_in(folder)["assignment"] for folder in folders}
        meant = did_you_mean(student, students) or did_you_mean(assignment, assignments)
        raise CourseError(f"There is no {os.path.relpath(wanted, self.coursedir.root)}.{meant}")

    def _names_in(self, folder: str) -> re.Match[str]:
        return names_in(self.coursedir, self._input_directory, folder)

    def remove_drafts(self, assignment: str) -> None:
        """Remove the unfinished results that killed runs left behind, for all learners."""
        results = Path(self.result_path(assignment, "*"))
        for draft in find(str(results.with_name(f".{glob.escape(assignment)}.*{UNFINISHED}"))):
            shutil.rmtree(draft)

    def source_path(self, assignment: str, student: str) -> str:
        """Return the folder that notebooks come from."""
        return self._format_source(assignment, student)

    def result_path(self, assignment: str, student: str) -> str:
        """Return the folder where results go, or the draft of it."""
        return self._format_dest(assignment, student)

    def _format_dest(self, assignment_id: str, student_id: str, escape: bool = False) -> str:
        if self._draft is not None:
            return str(self._draft)
        return super()._format_dest(assignment_id, student_id, escape)

    @contextmanager
    def aside(self, assignment: str, student: str) -> Iterator[None]:
        """Write into a draft, which replaces the results folder only once it is complete."""
        final = Path(self.result_path(assignment, student))
        try:
            with draft_of(final, self.coursedir.notebook_id != "*") as self._draft:
                yield
        finally:
            self._draft = None


class OpenAutograde(OpenConverter, converters.Autograde):
    """nbgrader's Autograde, opened."""

    def use_preprocessors(self, steps: Sequence[str | type[NbGraderPreprocessor]]) -> None:
        """Put every notebook through exactly these steps."""
        self.exporter._preprocessors = []
        for step in steps:
            self.exporter.register_preprocessor(step)


def install(submitted_at: Callable[[Path], datetime | None], *own: type[BaseConverter]) -> None:
    """Make nbgrader's commands and its formgrader use our converters. Raises ChangedLibrary.

    submitted_at: returns the time of the submission in a folder.
    own: converters, each with the name of the one that it replaces.
    """
    _check()
    for converter in own:
        for module in USERS[converter.__name__]:
            setattr(module, converter.__name__, converter)
    base.glob = api.glob = utils.glob = SimpleNamespace(glob=find_named)
    CourseDirectory.get_existing_timestamp = lambda self, dest_path: submitted_at(Path(dest_path))

    def get_submitted_timestamp(
        self: api.NbGraderAPI, assignment_id: str, student_id: str
    ) -> datetime | None:
        place = self.coursedir.submitted_directory, student_id, assignment_id
        return submitted_at(Path(self.coursedir.format_path(*place)))

    api.NbGraderAPI.get_submitted_timestamp = get_submitted_timestamp
    api.capture_log = _without_tracebacks(api.capture_log)
    # It reads the settings of its converter only now, and would end with a traceback.
    autogradeapp.AutogradeApp.start = catch_config_error(autogradeapp.AutogradeApp.start)
    open_faster()


def _without_tracebacks(capture_log: Callable) -> Callable:
    """Let formgrader show the error that ended a command as a sentence, without a traceback."""

    @wraps(capture_log)
    def capture(*arguments: Any, **options: Any) -> dict[str, Any]:
        result = capture_log(*arguments, **options)
        kind, _, sentence = result.get("error", "").strip().rpartition("\n")[2].partition(": ")
        if kind.endswith(NbGraderException.__name__):
            result["error"] = sentence
        return result

    return capture


def guard_formgrader() -> None:
    """Apply `grading.formgrader.handlers` to formgrader's handlers, if formgrader is running.

    nbgrader's commands read the same configuration, but without formgrader.
    """
    if FORMGRADER not in sys.modules:
        return
    from nbgrader.server_extensions.formgrader import base, handlers

    from autograder.grading.formgrader.handlers import NoPage, OneCourse, Page

    for handler, ours in (
        (base.BaseHandler, Page),
        (base.BaseApiHandler, NoPage),
        (handlers.SubmissionFilesHandler, NoPage),
        (handlers.FormgraderHandler, OneCourse),
    ):
        for name, own in vars(ours).items():
            if not name.startswith("__"):
                setattr(handler, name, own)


def _check() -> None:
    for converter in map(converters.__dict__.get, USERS):
        for name in ("_format_source", "_format_dest"):
            expect(converter, name, "self", "assignment_id", "student_id", "escape")
    expect(Exporter, "register_preprocessor", "self", "preprocessor", "enabled")
    expect_set(ProcessPoolExecutor, "_call_queue", "_processes")
    expect(CourseDirectory, "get_existing_timestamp", "self", "dest_path")
    expect(api.NbGraderAPI, "get_submitted_timestamp", "self", "assignment_id", "student_id")
    expect(api, "capture_log", "app", "fmt")
    for step in ("collect", "release_feedback"):
        expect(ExchangeFactory, step)
    for option in ("root", "update", "before_duedate", "check_owner"):
        expect(ExchangeCollect, option)
    for step in ("start", "init_src", "copy_files"):
        expect(ExchangeCollect, step, "self")
        expect(ExchangeReleaseFeedback, step, "self")
    for module in (base, api, utils):
        expect(module, "glob")
    for name, modules in USERS.items():
        for module in modules:
            expect(module, name)


def find(pattern: str) -> list[str]:
    """Act like `glob.glob`, but take brackets in existing paths literally.

    nbgrader searches with patterns that start with the course directory; "course [2]" would match
    "course 2".
    """
    parts = pattern.split(os.sep)
    for count in range(len(parts), 0, -1):
        place = os.sep.join(parts[:count])
        if not {"*", "?"} & set(place) and os.path.exists(place):
            return glob.glob(os.sep.join([glob.escape(place), *parts[count:]]))
    return glob.glob(pattern)


def find_named(pattern: str) -> list[str]:
    """Act like `find`, but let a * match only names that a learner can have."""
    places = [place for place, part in enumerate(pattern.split(os.sep)) if part == "*"]
    found = ((path, path.split(os.sep)) for path in find(pattern))
    return [path for path, parts in found if all(is_learner_name(parts[n]) for n in places)]


def leave_jobs_to_workers(executor: ProcessPoolExecutor) -> None:
    """Keep this process from reading its workers' jobs, once all workers are running.

    Otherwise a job on its way to a dying worker would wait forever (before Python 3.11.5).
    """
    executor._call_queue._reader.close()  # type: ignore[attr-defined]


def kill_workers(executor: ProcessPoolExecutor) -> None:
    """Kill the workers, whatever they are doing. Python 3.14 has a method for this."""
    for worker in list((executor._processes or {}).values()):
        worker.kill()
