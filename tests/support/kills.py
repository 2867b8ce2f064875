"""Kill a grader, and see what it leaves behind. For a test and a benchmark."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from autograder.lessons.lesson import Lesson
from tests.support.classroom import LESSON, start
from tests.support.processes import descendants, is_first_in_sandbox, running, those
from tests.support.waiting import wait_until

KEPT = "pymp-"  # Python's multiprocessing leaves a folder with one socket


def start_grading(course: Path, *options: str, lesson: Lesson = LESSON) -> subprocess.Popen:
    """Start grading; its temporary files go to `course`/tmp, which identifies its processes."""
    temporary = course / "tmp"
    temporary.mkdir(exist_ok=True)
    arguments = ("autograde", lesson.name, "--Autograde.jobs=2", *options)
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
    return bool(those(descendants(grader.pid), is_first_in_sandbox))


def graded(course: Path, lesson: Lesson = LESSON) -> int:
    """Count the submissions that have an autograded folder."""
    return len(list(course.glob(f"autograded/*/{lesson.name}")))


def unfinished(course: Path) -> list[Path]:
    return list(course.glob("autograded/*/.*.unfinished"))


def _bearing(mark: str) -> list[psutil.Process]:
    """List the processes with `mark` as their TMPDIR, or that write to a file there.

    Processes in a sandbox have a different environment, but the warm process keeps the file.
    """
    return those(
        psutil.process_iter(),
        lambda p: p.environ().get("TMPDIR") == mark or _output(p).startswith(mark),
    )


def _output(process: psutil.Process) -> str:
    return os.readlink(f"/proc/{process.pid}/fd/1")
