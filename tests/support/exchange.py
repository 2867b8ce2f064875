"""A course with an exchange of its own, as nbgrader has one: learners hand in, `serve` grades."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.utils import notebook_hash

from autograder.lessons.lesson import Lesson
from tests.support.classroom import COURSE_ID, LESSON, release, start_program

SECRET = "a line between the two"


@contextmanager
def course_with_exchange(folder: Path, lesson: Lesson = LESSON) -> Iterator[Path]:
    """Release a lesson in a new course, and let nbgrader use the exchange beside it."""
    config, exchange, course = (folder / name for name in ("config", "exchange", "course"))
    config.mkdir()
    (config / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n", encoding="utf-8"
    )
    for name in ("inbound", f"outbound/{lesson.name}", "feedback"):
        (exchange / COURSE_ID / name).mkdir(parents=True)
    release(course, lesson)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_CONFIG_DIR", str(config))
        yield course


def hand_in(course: Path, learner: str, notebook: NotebookNode, lesson: Lesson = LESSON) -> None:
    """Put a submission into the exchange as nbgrader does, whole at once."""
    folder = course.parent / f"{learner}+{lesson.name}+2026-10-05 11:00:00.500000 UTC+x"
    folder.mkdir()
    nbformat.write(notebook, folder / f"{lesson.name}.ipynb")
    (folder / "timestamp.txt").write_text("2026-10-05 11:00:00.500000 UTC")
    (folder / "submission_secret.txt").write_text(f"{SECRET} {learner}")
    shutil.move(folder, course.parent / "exchange" / COURSE_ID / "inbound")


def feedback(course: Path, learner: str, lesson: Lesson = LESSON) -> Path:
    """Return where a learner's page is once it is released."""
    name = notebook_hash(secret=f"{SECRET} {learner}", notebook_id=lesson.name)
    return course.parent / "exchange" / COURSE_ID / "feedback" / f"{name}.html"


def serve(course: Path, said: Path, *options: str) -> subprocess.Popen:
    """Start `serve`; its output goes to a file."""
    program = [sys.executable, "-m", "autograder.course", "serve", *options]
    return start_program([*program, f"--course={course}"], said)


def stop(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
