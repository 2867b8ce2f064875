"""All that the grader changes in nbgrader, or uses of a library although it is not for others.

`install` makes the changes. It first makes sure that the libraries still are what this was written
for: after a new version an error names what is gone, and no mark is wrong.
"""

import glob
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures.process import ProcessPoolExecutor
from functools import cache
from types import SimpleNamespace

from nbconvert.exporters import Exporter
from nbgrader import api as gradebooks
from nbgrader import converters, utils
from nbgrader.apps import api, autogradeapp
from nbgrader.converters import base
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy import Engine, create_engine, event

from autograder.sandbox.inside.expect import expect, expect_set

PATIENCE = 60  # seconds; Python's own are five


class OpenAutograde(converters.Autograde):
    """nbgrader's Autograde, with names for what its names keep to themselves."""

    def submitted_path(self, assignment: str, student: str, escape: bool = False) -> str:
        """Where a submission is handed in."""
        return self._format_source(assignment, student, escape)

    def graded_path(self, assignment: str, student: str, escape: bool = False) -> str:
        """Where a graded submission goes."""
        return super()._format_dest(assignment, student, escape)

    def _format_dest(self, assignment_id: str, student_id: str, escape: bool = False) -> str:
        return self.graded_path(assignment_id, student_id, escape)

    def use_preprocessors(self, steps: Sequence[str | type[NbGraderPreprocessor]]) -> None:
        """Put every notebook through these steps, and no others."""
        self.exporter._preprocessors = []
        for step in steps:
            self.exporter.register_preprocessor(step)


def install(autograde: type[OpenAutograde]) -> None:
    """Make nbgrader's command and its formgrader use `autograde`. Raises ChangedLibrary."""
    _check()
    autogradeapp.Autograde = api.Autograde = autograde
    base.glob = api.glob = utils.glob = SimpleNamespace(glob=find)
    gradebooks.create_engine = _engine
    wait_for_sqlite()


def _check() -> None:
    for name in ("_format_source", "_format_dest"):
        expect(converters.Autograde, name, "self", "assignment_id", "student_id", "escape")
    expect(Exporter, "register_preprocessor", "self", "preprocessor", "enabled")
    expect_set(ProcessPoolExecutor, "_call_queue", "_processes")
    expect(gradebooks, "create_engine")
    for module in (base, api, utils):
        expect(module, "glob")
    for module in (autogradeapp, api):
        expect(module, "Autograde")


def find(pattern: str) -> list[str]:
    """`glob.glob`, but brackets in the name of what there is are no pattern.

    nbgrader looks for files by patterns that begin with the course directory. One called
    "course [2]" would be one called "course 2".
    """
    parts = pattern.split(os.sep)
    for count in range(len(parts), 0, -1):
        place = os.sep.join(parts[:count])
        if not {"*", "?"} & set(place) and os.path.exists(place):
            return glob.glob(os.sep.join([glob.escape(place), *parts[count:]]))
    return glob.glob(pattern)


def wait_for_sqlite() -> None:
    """Let whoever finds an SQLite gradebook locked wait, a long time if need be."""
    if not event.contains(Engine, "connect", _be_patient):
        event.listen(Engine, "connect", _be_patient)


def _be_patient(connection: object, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")


@cache
def _engine(db_url: str, **options: object) -> Engine:
    """Let whoever opens a gradebook again find its SQL compiled.

    nbgrader opens it seven times for each submission. Each still has its own connection.
    """
    return create_engine(db_url, **options)


def leave_jobs_to_workers(executor: ProcessPoolExecutor) -> None:
    """Keep this process from reading its own workers' jobs, once all workers are there.

    While it could, a job that is on its way to a worker that dies would wait for ever (before
    Python 3.11.5).
    """
    executor._call_queue._reader.close()


def kill_workers(executor: ProcessPoolExecutor) -> None:
    """End the workers with whatever they are doing. Python 3.14 has it as a method."""
    for worker in list((executor._processes or {}).values()):
        worker.kill()
