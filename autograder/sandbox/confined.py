"""Work on what a submission wrote, in a process of its own: with limits, and without a network.

Reading, judging and showing a submission happen in a fork of the grader that can read the programs
it is made of, compute, and answer. If it uses too much, fails, or is taken over by what it reads,
only that submission suffers.
"""

import gc
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from autograder.sandbox import seccomp, walls
from autograder.sandbox.allowed_calls import CLERK
from autograder.sandbox.inside import frames, namespaces

LONGEST_REASON = 300
MOST_OPEN = 256

Message = dict[str, Any]
Ask = Callable[[Message], list[bytes]]
Work = Callable[[Ask], list[bytes]]
Serve = Callable[[Message], Iterable[bytes]]


@dataclass(frozen=True)
class Bounds:
    """The resources of one confined process.

    seconds: processor time.
    patience: wall seconds allowed for each of these seconds.
    memory_bytes: address space beyond what this process has.
    sent_bytes: the total size of its answers.
    """

    seconds: int = 20
    patience: float = 10.0
    memory_bytes: int = 2 << 30
    sent_bytes: int = 64 << 20


class Unfinished(Exception):
    """A confined process did not finish; the message says why.

    doubtful: whether the machine may be to blame.
    """

    def __init__(self, reason: str, doubtful: bool = False) -> None:
        self.doubtful = doubtful
        super().__init__(reason)


def confined(work: Work, serve: Serve | None = None, bounds: Bounds | None = None) -> list[bytes]:
    """Return what `work` returns in a confined fork of this process. Raises Unfinished.

    work: gets a function that asks this process something.
    serve: answers what it asks.

    On systems other than Linux, only the fork's wall time is limited.
    """
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _work(work, theirs, bounds or Bounds())
    theirs.close()
    with ours:
        attendant = _Attendant(pid, ours, bounds or Bounds())
        try:
            return attendant.attend(serve)
        finally:
            attendant.end()


class _Attendant:
    """This process's side: it waits for the fork, and answers what it asks."""

    def __init__(self, pid: int, channel: socket.socket, bounds: Bounds) -> None:
        self._pid, self._channel, self._bounds = pid, channel, bounds
        self._inbox = frames.FrameInbox(channel, bounds.sent_bytes)
        self._left = bounds.patience * bounds.seconds

    def attend(self, serve: Serve | None) -> list[bytes]:
        while True:
            match self._next(frames.FrameInbox.next):
                case {"asks": dict(question)} if serve:
                    self._reply(list(serve(question)))
                case {"done": int(count)}:
                    return [self._next(frames.FrameInbox.next_bytes) for _ in range(count)]
                case {"failed": str(reason)}:
                    raise Unfinished(reason[:LONGEST_REASON])
                case _:
                    raise Unfinished("its process sent what is no message")

    def end(self) -> None:
        """End the fork, if it has not ended, and forget it."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def _next(self, read: Callable[[frames.FrameInbox], Any]) -> Any:
        """Wait for what comes next. Raises Unfinished if the fork is over or takes too long."""
        begin = time.monotonic()
        self._channel.settimeout(max(self._left, 0.001))
        try:
            found = read(self._inbox)
        except TimeoutError:
            seconds = self._bounds.patience * self._bounds.seconds
            raise Unfinished(f"it took more than {seconds:g} seconds", doubtful=True) from None
        except frames.FrameError as error:
            raise Unfinished(str(error)) from error
        finally:
            self._left -= time.monotonic() - begin
        if found is None:
            raise self._why_ended()
        return found

    def _reply(self, parts: list[bytes]) -> None:
        self._channel.settimeout(None)
        with suppress(OSError):  # it has ended, as the next message will show
            frames.send(self._channel, {"parts": len(parts)})
            for part in parts:
                frames.send_bytes(self._channel, part)

    def _why_ended(self) -> Unfinished:
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            return Unfinished(f"it took more than {self._bounds.seconds} seconds of processor time")
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        by_itself = code >= 0 or code == -signal.SIGSYS  # it ended, or called what is forbidden
        return Unfinished(f"its process was ended ({how})", doubtful=not by_itself)


def _work(work: Work, channel: socket.socket, bounds: Bounds) -> NoReturn:
    """The fork's side: put up the walls, work, send the result and end."""
    gc.disable()  # it would write to shared pages, and so copy them
    try:
        _wall_in(channel, bounds)
        parts = work(partial(_ask, channel))
        frames.send(channel, {"done": len(parts)})
        for part in parts:
            frames.send_bytes(channel, part)
    except MemoryError:
        _fail(channel, f"it used more than {bounds.memory_bytes / 2**30:g} GB of memory")
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        _fail(channel, f"it met an error ({type(error).__name__}: {error}; {where})")
    finally:
        os._exit(0)


def _fail(channel: socket.socket, reason: str) -> None:
    with suppress(OSError):
        frames.send(channel, {"failed": reason})


def _ask(channel: socket.socket, question: Message) -> list[bytes]:
    frames.send(channel, {"asks": question})
    inbox = frames.FrameInbox(channel, sys.maxsize)
    reply = inbox.next()
    if reply is None:
        raise frames.FrameError("it closed without an answer")
    parts = [inbox.next_bytes() for _ in range(reply["parts"])]
    return [part for part in parts if part is not None]


def _wall_in(channel: socket.socket, bounds: Bounds) -> None:
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
    if sys.platform != "linux":
        return
    namespaces.die_with_parent()
    namespaces.keep_only(channel.fileno())
    namespaces.limit(
        CPU=bounds.seconds,
        AS=namespaces.address_space() + bounds.memory_bytes,
        FSIZE=0,
        NOFILE=MOST_OPEN,
        CORE=0,
    )
    walls.standing().confine()
    namespaces.drop_privileges()
    if seccomp.is_known():
        namespaces.load_filter(seccomp.program(CLERK))
