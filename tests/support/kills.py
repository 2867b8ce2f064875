"""Kill a grader, and see what is left behind. For a test and a benchmark."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.support.classroom import LESSON, descendants, start
from tests.support.waiting import wait_until

KEPT = "pymp-"  # Python's multiprocessing leaves a folder with one socket


def start_grading(course: Path, *options: str) -> subprocess.Popen:
    """Start grading; its temporary files go to `course`/tmp, which identifies its processes."""
    temporary = course / "tmp"
    temporary.mkdir(exist_ok=True)
    arguments = ("autograde", LESSON.name, "--Autograde.jobs=2", *options)
    return start(course, *arguments, TMPDIR=str(temporary))


def wait_for(reached: Callable[[], object], grader: subprocess.Popen) -> None:
    """Wait until a condition holds, or the grader is done."""
    wait_until(lambda: reached() or grader.poll() is not None, "the grader does not get there")


def kill(grader: subprocess.Popen, course: Path) -> None:
    """End a grader with kill -9, and check that all its processes end and its files are gone."""
    own = descendants(grader.pid)
    grader.kill()
    grader.wait()
    wait_for_end(own, course)


def wait_for_end(own: list[psutil.Process], course: Path) -> None:
    """Wait until a grader's processes have ended and its files are gone."""
    mark = str(course / "tmp")
    wait_until(lambda: not running(own) + _bearing(mark), f"some that bear {mark} live on")
    assert all(path.name.startswith(KEPT) for path in (course / "tmp").iterdir())


def has_begun(grader: subprocess.Popen) -> bool:
    """Whether a grader has started its work, that is, has a sandbox.

    It may have other processes earlier, which its modules start when imported.
    """
    with contextlib.suppress(psutil.NoSuchProcess):
        return any(process.name() == "unshare" for process in descendants(grader.pid))
    return False


def graded(course: Path) -> int:
    """Count the submissions that have an autograded folder."""
    return len(list(course.glob(f"autograded/*/{LESSON.name}")))


def unfinished(course: Path) -> list[Path]:
    return list(course.glob("autograded/*/.*.unfinished"))


def running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return those that have not ended; an ended one may stay a zombie for a while."""
    alive = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                alive.append(process)
    return alive


def _bearing(mark: str) -> list[psutil.Process]:
    """List the processes with `mark` as their TMPDIR, or that write to a file there.

    Processes in a sandbox have a different environment, but the warm process keeps the file.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("TMPDIR") == mark or _output(process).startswith(mark):
                found.append(process)
    return found


def _output(process: psutil.Process) -> str:
    return os.readlink(f"/proc/{process.pid}/fd/1")
