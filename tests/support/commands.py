"""Run the course's commands in forks of a process that has imported what they need.

A command spends most of a test's time on its imports: torch and nbgrader take three seconds. Each
still has a process of its own, with its own output and status.
"""

import atexit
import multiprocessing
import os
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.places import ROOT

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "nbgrader.apps.nbgraderapp",
        "autograder.building.hidden",
        "autograder.grading.engine.autograde",
        "autograder.grading.lms.commands",
        "autograder.grading.worker.task",
        "tests.support.ready",
    ]
)


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit status, and what it wrote to standard output and error."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def run(module: str, *arguments: str) -> Done:
    """Run a module as `python -m` does, in the course's top folder."""
    with TemporaryDirectory() as folder:
        written = [Path(folder, name) for name in ("out", "err")]
        for path in written:
            path.touch()  # the process may end before it gets there
        order = (module, arguments, written, dict(os.environ))
        process = FORKS.Process(target=_run, args=order)
        process.start()
        process.join()
        said = [path.read_text(encoding="utf-8", errors="replace") for path in written]
        return Done(process.exitcode, *said)


def _run(
    module: str, arguments: tuple[str, ...], written: list[Path], environment: dict[str, str]
) -> None:
    for path, standard in zip(written, (sys.stdout, sys.stderr), strict=True):
        with path.open("wb") as file:
            os.dup2(file.fileno(), standard.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # a process of multiprocessing's ends without these
