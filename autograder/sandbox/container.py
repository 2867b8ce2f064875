"""Where there can be no namespaces, the container that grading runs in is the wall.

Inside of it, learners' code runs as a user that owns nothing, another user reads what learners
wrote, and the first can't read the grader's files. docs/security.md says what then holds.

See setpriv(1), credentials(7).
"""

import os
import platform
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil

from autograder.errors import CourseError
from autograder.places import IS_REPOSITORY, PACKAGE
from autograder.sandbox import seccomp
from autograder.sandbox.allowed_calls import WITHOUT_NETWORK
from autograder.sandbox.inside import namespaces
from autograder.sandbox.processes import Processes, processes_of
from autograder.sandbox.walls import ENVIRONMENT, INSIDE, MOUNTED, SCRATCH, Walls

USERS = range(20_000, 60_000)  # that no system gives to anyone, and every container has
TMP = f"{SCRATCH}/tmp"


class Container(Walls):
    """The walls of a container. Use it as a context, before anything else is loaded.

    private: files that learners' code may not read, besides the grader's own.
    outputs: folders that it may not write to.
    """

    name = "container"
    policy = WITHOUT_NETWORK
    isolated = False

    def __init__(self, private: Iterable[Path] = (), outputs: Iterable[Path] = ()) -> None:
        self._private, self._outputs = [*private], [*outputs]
        self._learner, self._reader = secrets.SystemRandom().sample(USERS, 2)
        self._public = Path()

    def __enter__(self) -> Self:
        self.require()
        if os.path.lexists(SCRATCH):
            raise _impossible(f"there is a {SCRATCH}", "Remove it: notebooks will write there.")
        self._public = Path(tempfile.mkdtemp(prefix="attention-"))
        try:
            self._public.chmod(0o755)
            self._lay_out()
            self._close()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.end_strays()
        shutil.rmtree(self._public, ignore_errors=True)
        shutil.rmtree(SCRATCH, ignore_errors=True)

    def require(self) -> None:
        if not sys.platform.startswith("linux") or not seccomp.is_known():
            reason = f"system calls of {sys.platform} on {platform.machine()} are not known here"
            raise _impossible(reason, "Use Linux on x86_64 or aarch64.")
        if os.geteuid():
            raise _impossible(
                "this is not root", "As root, it can run learners' code as somebody else."
            )
        if IS_REPOSITORY:
            raise _impossible(
                "this is the course's repository",
                "Install the grader's wheel: its files can be closed to learners' code.",
            )
        if shutil.which("setpriv") is None:
            raise _impossible("the program 'setpriv' is missing", "Install util-linux.")

    def command(self, program: list[str], environment: Mapping[str, str]) -> list[str]:
        self._empty_scratch()
        own = {
            "PYTHONPATH": f"{self._public}/grader:{self._public}/course",
            "TMPDIR": TMP,
            "MPLCONFIGDIR": f"{TMP}/matplotlib",
        }
        variables = [
            f"{name}={value}" for name, value in (ENVIRONMENT | own | {**environment}).items()
        ]
        user = ["--reuid", str(self._learner), "--regid", str(self._learner), "--clear-groups"]
        become = ["setpriv", *user, "--no-new-privs", "--pdeathsig", "KILL", "--"]
        return [*become, "env", "-i", "-C", SCRATCH, *variables, sys.executable, "-P", *program]

    def processes(self, warm: int, number: int) -> Processes:
        return lambda: [process.pid for process in processes_of(self._learner)]

    def end_strays(self) -> None:
        """End all processes of the learners' user.

        They are stopped first: what is stopped starts no others, and there is a limit on them all.
        """
        seen: set[psutil.Process] = set()
        while new := {*processes_of(self._learner)} - seen:
            _each(new, psutil.Process.suspend)
            seen |= new
        while left := processes_of(self._learner):
            _each(left, psutil.Process.kill)
            time.sleep(0.01)

    def confine(self) -> None:
        _become(self._reader)
        namespaces.die_with_parent()  # another user, so that it has to be said again

    def explain(self, said: str) -> CourseError:
        return CourseError(f"The learners' user can't start anything: {said}")

    def _lay_out(self) -> None:
        """Copy the parts of the package that a learner's code may import."""
        course = self._public / "course" / "autograder"
        course.mkdir(parents=True)
        for name in MOUNTED:
            copy = shutil.copytree if (PACKAGE / name).is_dir() else shutil.copy2
            copy(PACKAGE / name, course / name)
        shutil.copytree(INSIDE, self._public / "grader" / "inside")

    def _close(self) -> None:
        """Close the grader's files to learners' code, and make sure. Raises CourseError."""
        os.chown(PACKAGE, 0, self._reader)
        PACKAGE.chmod(0o750)
        ours = Path(f"/proc/{os.getpid()}/environ")
        for path in (PACKAGE, ours, *self._private):
            if self._may(path, os.R_OK):
                raise _open(path, "read", f"chmod 600 {path}")
        if not self._may(Path(os.__file__), os.R_OK):
            raise _impossible(
                f"other users can't read {sys.base_prefix}",
                "Install Python in a folder that everyone can read, such as /opt.",
            )
        for folder in self._outputs:
            if self._may(folder, os.W_OK):
                raise _open(folder, "written to", f"chmod 755 {folder}")

    def _may(self, path: Path, access: int) -> bool:
        """Whether a learner's code may do something with a path, found out by trying."""
        pid = os.fork()
        if pid == 0:
            try:
                _become(self._learner)
                os._exit(os.access(path, access))
            finally:
                os._exit(True)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0

    def _empty_scratch(self) -> None:
        shutil.rmtree(SCRATCH, ignore_errors=True)
        for folder in (SCRATCH, TMP):
            os.mkdir(folder, 0o700)
            os.chown(folder, self._learner, self._learner)


def _become(user: int) -> None:
    """Be a user for good, with its group only."""
    os.setgroups([user])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _each(processes: Iterable[psutil.Process], do: Callable[[psutil.Process], None]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            do(process)


def _impossible(reason: str, remedy: str) -> CourseError:
    return CourseError(f"This container can't be the wall: {reason}. {remedy}")


def _open(path: Path, how: str, remedy: str) -> CourseError:
    return _impossible(f"{path} can be {how} by learners' code", f"Close it: {remedy}")
