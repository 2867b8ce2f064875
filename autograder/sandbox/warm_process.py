"""The outside of a warm process: start it behind walls, take forks of it, end them.

It takes orders as packets on one socket, so any number of processes can give them: all processes
forked from the one that started it share it. They reach a fork by connecting to a second socket.
No descriptors are passed: Linux counts those on their way by user, and a submission can use up what
it allows.
"""

import atexit
import base64
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from io import FileIO
from typing import Any

from autograder.errors import CourseError
from autograder.sandbox import seccomp, walls
from autograder.sandbox.limits import Limits
from autograder.sandbox.processes import Processes

WARM_SECONDS = 600.0  # until the first fork, on a slow and busy machine
LOST_SECONDS = 3.0  # from the end of the process table to the end of the program around it


class WarmProcess:
    """A process that is starting up, warm or lost. It ends with the thread that started it.

    imports: what it imports.
    environment: variables beyond `walls.ENVIRONMENT`.
    ahead: how many forks it keeps ready.

    Raises NoSandbox if this machine can't have one.
    """

    def __init__(
        self,
        imports: Sequence[str],
        limits: Limits,
        environment: Mapping[str, str],
        ahead: int = 1,
    ) -> None:
        self._walls = walls.standing()
        self._walls.require()
        self._owner = os.getpid()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process lives
        self._orders, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        listener, self._door = _listen()
        passed = [theirs.fileno(), listener.fileno()]
        program = ["-m", "inside.warm", *map(str, passed)]
        with theirs, listener:
            self._process = subprocess.Popen(
                self._walls.command(program, environment),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=passed,
            )
        self.pid = self._process.pid
        atexit.register(self.close)
        with suppress(OSError):  # it has already ended: asking for a fork will say so
            self._order(
                {
                    "imports": list(imports),
                    "limits": asdict(limits),
                    "calls": base64.b64encode(seccomp.program(self._walls.policy)).decode(),
                    "ahead": ahead,
                    "isolated": self._walls.isolated,
                }
            )

    def take_fork(self) -> tuple[int, socket.socket]:
        """Take a fork that waits for a job; return its number, and the socket to reach it.

        Raises OSError if the process is lost.
        """
        with socket.socket(socket.AF_UNIX) as channel:
            channel.connect(f"/proc/self/fd/{self._door.fileno()}")
            self._order({"next": True})
            channel.settimeout(WARM_SECONDS)
            number = channel.recv(4)
            if not number:
                raise OSError("the warm process has ended")
            channel.settimeout(None)
            return int.from_bytes(number), channel.dup()

    def end_fork(self, number: int) -> None:
        """End a fork and everything it started."""
        with suppress(OSError):  # the process was lost, and its forks with it
            self._order({"end": number})
        self._walls.end_strays()

    def processes(self, number: int) -> Processes:
        """List the processes of a fork."""
        return self._walls.processes(self.pid, number)

    def is_lost(self) -> bool:
        """Whether it has ended, or ends within `LOST_SECONDS`."""
        end = select.poll()
        end.register(self._orders, 0)  # poll always reports a closed peer
        return bool(end.poll(LOST_SECONDS * 1000))

    def kill(self) -> None:
        """End it and all its forks, whoever is using them; its process table ends with it."""
        os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Disconnect from it; in the process that started it, also end it."""
        self._orders.close()
        self._door.close()
        if os.getpid() == self._owner:
            atexit.unregister(self.close)
            self._process.kill()
            self._process.wait()
        self._said.close()

    def why_lost(self, error: OSError) -> CourseError:
        """Explain why it can't give a fork, from the last line it printed or from `error`."""
        said = os.pread(self._said.fileno(), 10_000, 0).decode(errors="replace")
        return self._walls.explain([str(error), *said.strip().splitlines()][-1])

    def _order(self, order: dict[str, Any]) -> None:
        self._orders.send(json.dumps(order).encode())


def _listen() -> tuple[socket.socket, FileIO]:
    """Return a listening socket, and a file by whose descriptor alone it can be found."""
    listener = socket.socket(socket.AF_UNIX)
    with tempfile.TemporaryDirectory() as folder:
        listener.bind(f"{folder}/door")
        door = FileIO(f"{folder}/door", opener=lambda path, _: os.open(path, os.O_PATH))
    listener.listen()
    return listener, door
