"""The outer walls: bubblewrap around a warm process, with only the files that it may read.

Inside are the Python environment, `autograder.utils` and `autograder.asking`, all read-only. There
is no network, no home directory, no course directory and no process from outside. Where namespaces
can't be had, the container that grading runs in can stand in for them (`sandbox.container`).
"""

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import autograder.utils
from autograder.errors import CourseError
from autograder.places import ROOT
from autograder.sandbox import seccomp
from autograder.sandbox.allowed_calls import LEARNER
from autograder.sandbox.inside import namespaces
from autograder.sandbox.processes import Descendants, Processes

INSIDE = Path(__file__).parent / "inside"
AUTOGRADER = Path(autograder.__file__).parent
CODE = (str(AUTOGRADER), *autograder.utils.__path__)
# The parts of this package that a learner's code may import. None of them has expected values.
MOUNTED = ("__init__.py", "errors.py", "asking", "utils")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime")
# Hidden if they are inside of what is shown: nbgrader's exchange, with other learners' submissions,
# and the course.
COVERED = ("/usr/local/share/nbgrader", str(ROOT))
# The parts of a Python installation. An environment's folder may hold other things too.
PYTHON = ("bin", "lib", "lib64", "share", "etc", "ssl", "pyvenv.cfg")
SCRATCH = "/scratch"
HOME = f"{SCRATCH}/home"
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "learner",
    "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "PYTHONPATH": "/grader:/course",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "KERAS_BACKEND": "torch",
    "MPLCONFIGDIR": "/tmp/matplotlib",
}
UNSEALED = (
    "To grade without a sandbox all the same, with what a submission may then do to this machine, "
    "say so: --Autograde.unsealed=True with nbgrader, UNSEALED=1 with make."
)
REMEDIES = {
    "system": "Grade on Linux (x86_64 or aarch64), or in a virtual machine that runs it.",
    "bwrap": "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap).",
    "unshare": "Install util-linux.",
    "setpriv": "Install util-linux.",
    "namespaces": (
        "This system keeps users from making namespaces. An administrator can allow it: "
        "sysctl kernel.unprivileged_userns_clone=1 (Debian), "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
        "or start a container with --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined --security-opt systempaths=unconfined."
    ),
}


class Walls:
    """The walls around what learners wrote: here, namespaces.

    name: in results.
    policy: the system calls that a learner's code may make.
    isolated: whether each run has a process table, a disk and a network of its own.
    """

    name = "sandbox"
    policy = LEARNER
    isolated = True

    def require(self) -> None:
        """Raise NoSandbox if this machine can't build them."""
        if not sys.platform.startswith("linux"):
            raise NoSandbox(f"this is {sys.platform}, and namespaces are a part of Linux", "system")
        if not seccomp.is_known():
            raise NoSandbox(f"system calls of {platform.machine()} are not known here", "system")
        for tool in ("bwrap", "unshare", "setpriv"):
            if shutil.which(tool) is None:
                raise NoSandbox(f"the program {tool!r} is missing", tool)

    def command(self, program: list[str], environment: Mapping[str, str]) -> list[str]:
        """Return the command that runs Python inside, with `program` as its arguments.

        environment: variables beyond `ENVIRONMENT`.

        Everything ends with the thread that starts it. unshare mounts /proc because bubblewrap
        would mask parts of it, and the kernel would then refuse to mount a new one inside.
        """
        table = ["setpriv", "--pdeathsig", "KILL", "--"]
        table += ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child"]
        table += ["--mount", "--mount-proc", "--"]
        walls = ["bwrap", "--unshare-user", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        walls += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
        walls += ["--hostname", "sandbox", "--tmpfs", "/tmp", *_files(), "--bind", "/proc", "/proc"]
        walls += ["--dev", "/dev", "--remount-ro", "/dev", "--dir", SCRATCH]
        walls += ["--remount-ro", "/", "--chdir", "/"]
        for name, value in (ENVIRONMENT | dict(environment)).items():
            walls += ["--setenv", name, value]
        return [*table, *walls, "--", sys.executable, "-P", *program]

    def processes(self, warm: int, number: int) -> Processes:
        """List the processes of a run: the fork with this number of a warm process."""
        return Descendants(warm, number)

    def end_strays(self) -> None:
        """End what a run that was ended may have left behind: with its process table, nothing."""

    def confine(self) -> None:
        """Leave this process nothing to read but the code of this program, and no network."""
        try:
            namespaces.enter(own_table=False)
        except OSError:  # nobody may make namespaces here, so no code runs sealed either
            return
        namespaces.see_only((*SYSTEM, *python_files(), *CODE))

    def explain(self, said: str) -> CourseError:
        """Explain why nothing started, from the last line that was printed."""
        if said.startswith(("setpriv:", "unshare:", "bwrap:")):
            return NoSandbox(said, "namespaces")
        return CourseError(f"The sandbox stands, but nothing comes up in it: {said}")


_standing = Walls()


def standing() -> Walls:
    """Return the walls that this process and its forks use."""
    return _standing


@contextmanager
def inside(walls: Walls) -> Iterator[None]:
    """Use other walls for a while."""
    global _standing
    before, _standing = _standing, walls
    try:
        yield
    finally:
        _standing = before


class NoSandbox(CourseError):
    """No sandbox is possible here; the message says why, and what to do about it.

    sealed: the message for a command that can't do without one.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason, self.remedy = reason, remedy
        self.sealed = f"No sandbox: {reason}. {REMEDIES[remedy]}"
        super().__init__(f"{self.sealed} {UNSEALED}")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return NoSandbox, (self.reason, self.remedy)  # workers send it pickled


def python_files() -> list[str]:
    """List the folders and files of Python installations outside the system's own folders."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.prefix))
    return [f"{p}/{name}" for p in prefixes if p not in ("/usr", "/usr/local") for name in PYTHON]


def _files() -> list[str]:
    """Return the options that mount read-only files."""
    options = []
    links = [path for path in SYSTEM if os.path.islink(path)]
    for path in links:
        options += ["--symlink", os.readlink(path), path]
    shown = [path for path in (*SYSTEM, *python_files()) if path not in links]
    covered = [path for path in COVERED if os.path.exists(path) and _is_below(path, shown)]
    for path in sorted({*shown, *covered}):  # each after what it is in
        options += ["--tmpfs", path] if path in covered else ["--ro-bind-try", path, path]
    for path in covered:
        options += ["--remount-ro", path]
    for name in MOUNTED:
        options += ["--ro-bind", str(AUTOGRADER / name), f"/course/autograder/{name}"]
    for folder in autograder.utils.__path__:  # `autograder/utils` finds it beside the package
        options += ["--ro-bind", folder, "/course/utils"]
    return [*options, "--ro-bind", str(INSIDE), "/grader/inside"]


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
