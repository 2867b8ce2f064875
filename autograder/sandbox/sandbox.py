"""The outside of a sandbox: give it a notebook's cells, and get back the result of each.

One warm process serves one notebook after another. What a cell showed is not even read here, since
reading may take any amount of time and memory; a confined process does that.
"""

import base64
import socket
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any

from nbformat import NotebookNode

from autograder.sandbox.cgroups import home, new_group
from autograder.sandbox.inside import frames
from autograder.sandbox.limits import Limits
from autograder.sandbox.outputs import plain_count, read_outputs, utf8_text
from autograder.sandbox.warm_process import WarmProcess
from autograder.sandbox.watch import Watch

LONGEST_REASON = 300
LOST = "the sandbox around it was ended, perhaps for want of memory"


@dataclass(frozen=True)
class Cell:
    """A code cell to run, and how long it may take."""

    source: str
    seconds: float


@dataclass
class CellRun:
    """The result of a cell.

    sent: its outputs, as the sandbox sent them.
    """

    sent: bytes
    execution_count: int | None
    seconds: float

    @property
    def outputs(self) -> list[NotebookNode]:
        """The outputs in nbformat's form; an error output if they can't be read."""
        return read_outputs(self.sent)


@dataclass
class NotebookRun:
    """The result of a notebook: the cells that ran, and why any others did not.

    outlived: whether that is because the last of them went on after it was interrupted.
    doubtful: whether the machine may be to blame for what went wrong.
    """

    cells: list[CellRun] = field(default_factory=list)
    stopped: str = ""
    doubtful: bool = False
    outlived: bool = False


class Sandbox:
    """Runs one notebook at a time, each in its own walled-off fork of a warm process.

    imports: what notebooks will import.
    environment: variables beyond `walls.ENVIRONMENT`.
    ahead: how many forks to keep ready.
    Processes forked from this one share its warm process for as long as it lives.
    Raises NoSandbox if this machine can't have one.
    """

    def __init__(
        self,
        imports: Sequence[str] = (),
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        ahead: int = 1,
    ) -> None:
        self.limits = limits or Limits()
        home()  # before there are workers, which share it
        self._start = partial(WarmProcess, imports, self.limits, environment or {})
        self._warm = self._start(ahead)

    def run(self, cells: Sequence[Cell], files: dict[str, bytes] | None = None) -> NotebookRun:
        """Run the cells in order. Raises NoSandbox, and CourseError if nothing starts inside.

        files: by path inside, written before the first cell runs.
        """
        number, channel = self._fork()
        warm, run, silent = self._warm, NotebookRun(), True
        end = partial(warm.end_fork, number)
        group = new_group(self.limits)
        with (
            channel,
            group or nullcontext(),
            Watch(warm.processes(number), self.limits, end, warm.kill, group) as watch,
        ):
            try:
                frames.send(channel, _job(cells, files or {}))
                silent = _receive(
                    frames.FrameInbox(channel, self.limits.sent_bytes), len(cells), run
                )
            except (OSError, frames.FrameError) as error:
                run.stopped = f"nothing more could be read from it ({error})"
                run.doubtful = isinstance(error, OSError)
            end()
        if watch.reason:
            run.stopped, run.doubtful, run.outlived = watch.reason, watch.waited, False
        elif silent and warm.is_lost():
            run.stopped, run.doubtful = LOST, True
        return run

    def close(self) -> None:
        """End the warm process and everything it started."""
        self._warm.close()

    def _fork(self) -> tuple[int, socket.socket]:
        """Take a fork that waits for a job, from a new warm process if the last one was lost."""
        with suppress(OSError):
            return self._warm.take_fork()
        self._warm.close()
        self._warm = self._start()
        try:
            return self._warm.take_fork()
        except OSError as error:
            raise self._warm.why_lost(error) from error


def _job(cells: Sequence[Cell], files: dict[str, bytes]) -> dict[str, Any]:
    return {
        "cells": [[cell.source, cell.seconds] for cell in cells],
        "files": {path: base64.b64encode(data).decode() for path, data in files.items()},
    }


def _receive(inbox: frames.FrameInbox, count: int, run: NotebookRun) -> bool:
    """Receive reports until every cell has one, or the run has stopped.

    Returns whether it ended without saying why.
    """
    while len(run.cells) < count and not run.stopped:
        report = inbox.next()
        if report is None:
            run.stopped, run.doubtful = "its kernel and all beside it were ended from within", True
            return True
        elif "failed" in report:
            reason = utf8_text(report["failed"])[:LONGEST_REASON]
            run.stopped = f"its sandbox could not be set up: {reason}"
        else:
            run.cells.append(_cell_run(report, inbox.next_bytes() or b""))
            run.stopped = utf8_text(report.get("stopped"))
            run.doubtful |= report.get("doubtful") is True
            run.outlived = report.get("outlived") is True
    return False


def _cell_run(report: dict[str, Any], sent: bytes) -> CellRun:
    seconds = report.get("seconds")
    return CellRun(
        sent=sent,
        execution_count=plain_count(report.get("execution_count")),
        seconds=seconds if isinstance(seconds, float) and isfinite(seconds) else 0.0,
    )
