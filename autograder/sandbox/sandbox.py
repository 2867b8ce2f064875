"""The outside of a sandbox: give it a notebook's cells, get back what became of each.

One warm process serves one notebook after another. Nothing that comes out is believed to be more
than text; what it means, the judge decides.
"""

import atexit
import base64
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from math import isfinite
from typing import Any

from autograder.sandbox import seccomp, walls
from autograder.sandbox.inside import frames
from autograder.sandbox.limits import Limits
from autograder.sandbox.outputs import clean_outputs, plain_count, plain_text
from autograder.sandbox.watch import Watch

WARM_SECONDS = 120.0
TAKE_SECONDS = 30.0
LONGEST_REASON = 300
LOST_SECONDS = 0.5  # from the end of all in a process table to that of the program around it
LOST = "the sandbox around it was ended, perhaps for want of memory"


@dataclass(frozen=True)
class Cell:
    """A code cell to run, and how long it may take."""

    source: str
    seconds: float


@dataclass
class CellRun:
    """What became of a cell; outputs as nbformat has them, but from an untrusted hand."""

    outputs: list[Any]
    execution_count: int | None
    seconds: float


@dataclass
class Run:
    """What became of a notebook: the cells that ran, and why the others did not, if any."""

    cells: list[CellRun] = field(default_factory=list)
    stopped: str = ""


class Sandbox:
    """A warm process behind walls; runs one notebook at a time, each in a fork with its own walls.

    modules: what notebooks will import. environment: variables beyond `walls.ENVIRONMENT`.
    Raises NoSandbox when there can be none on this machine.
    """

    def __init__(
        self,
        modules: Sequence[str] = (),
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.modules, self.limits = list(modules), limits or Limits()
        self.environment = environment or {}
        walls.require()
        self._start()
        atexit.register(self.close)

    def run(self, cells: Sequence[Cell], files: dict[str, bytes] | None = None) -> Run:
        """Run the cells in order. files: by path inside, there before the first cell runs.

        What ends the warm process comes from outside, such as a system short of memory: then
        all is run once more.
        """
        run = self._run(cells, files or {})
        return self._run(cells, files or {}) if run.stopped == LOST else run

    def _run(self, cells: Sequence[Cell], files: dict[str, bytes]) -> Run:
        number, channel = self._fork()
        run = Run()
        end, end_all = partial(self._end, number), self._process.kill
        with channel, Watch(self._process.pid, number, self.limits, end, end_all) as watch:
            try:
                frames.send(channel, _job(cells, files))
                _receive(frames.Inbox(channel, self.limits.sent_bytes), len(cells), run)
            except (OSError, frames.FrameError) as error:
                run.stopped = f"nothing more could be read from it ({error})"
            end()
        run.stopped = watch.reason or (LOST if run.stopped and self._is_lost() else run.stopped)
        return run

    def close(self) -> None:
        """End the warm process and all that it started."""
        atexit.unregister(self.close)
        self._control.close()
        self._process.kill()  # its process table ends with it
        self._process.wait()
        self._said.close()

    def _start(self) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the sandbox is
        self._control, theirs = socket.socketpair()
        program = ["-m", "inside.warm", str(theirs.fileno())]
        with theirs, tempfile.TemporaryFile() as calls:
            calls.write(seccomp.program())
            calls.seek(0)
            self._process = subprocess.Popen(
                walls.command(program, calls.fileno(), self.environment),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=[theirs.fileno(), calls.fileno()],
            )
        self._control.settimeout(WARM_SECONDS)
        try:
            frames.send(self._control, {"modules": self.modules, "limits": asdict(self.limits)})
            if frames.Inbox(self._control, 1000).next() is None:
                raise OSError("it ends at once")
        except OSError as error:
            said = self._last_words() or str(error)
            self.close()
            raise walls.explain(said) from error

    def _fork(self) -> tuple[int, socket.socket]:
        """A waiting fork: its number, and the socket that leads to it."""
        try:
            return self._take_fork()
        except OSError:  # the warm process was lost since the last notebook
            self.close()
            self._start()
            return self._take_fork()

    def _take_fork(self) -> tuple[int, socket.socket]:
        self._control.settimeout(TAKE_SECONDS)
        self._order({"next": True})
        data, descriptors, _, _ = socket.recv_fds(self._control, 4, 1)
        if not descriptors:
            raise OSError("the warm process has ended")
        return int.from_bytes(data), socket.socket(fileno=descriptors[0])

    def _end(self, number: int) -> None:
        with suppress(OSError):  # the warm process was lost, and its forks with it
            self._order({"end": number})

    def _is_lost(self) -> bool:
        """Whether the warm process has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LOST_SECONDS)
        return self._process.returncode is not None

    def _order(self, order: dict[str, Any]) -> None:
        frames.send(self._control, order)

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read(10_000).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _job(cells: Sequence[Cell], files: dict[str, bytes]) -> dict[str, Any]:
    return {
        "cells": [[cell.source, cell.seconds] for cell in cells],
        "files": {path: base64.b64encode(data).decode() for path, data in files.items()},
    }


def _receive(inbox: frames.Inbox, count: int, run: Run) -> None:
    """Take in reports until every cell has one, or the run has stopped."""
    while len(run.cells) < count and not run.stopped:
        report = inbox.next()
        if report is None:
            run.stopped = "its kernel and all beside it were ended from within"
        elif "failed" in report:
            reason = plain_text(report["failed"])[:LONGEST_REASON]
            run.stopped = f"the walls around it did not stand up: {reason}"
        else:
            run.cells.append(_cell_run(report))
            run.stopped = plain_text(report.get("stopped"))


def _cell_run(report: dict[str, Any]) -> CellRun:
    seconds = report.get("seconds")
    return CellRun(
        outputs=clean_outputs(report.get("outputs")),
        execution_count=plain_count(report.get("execution_count")),
        seconds=seconds if isinstance(seconds, float) and isfinite(seconds) else 0.0,
    )
