"""The reference for grading: the public cases, and hidden ones drawn from a course secret.

It is built on this machine on first use, and again when the lesson, its exercises or the secret
changes. It never leaves the machine.
"""

import os
from functools import cache
from pathlib import Path

import torch

from autograder.atomic_writes import write_whole
from autograder.building.reference import build, source_digest
from autograder.errors import CourseError
from autograder.lessons.lesson import ROOT, Lesson
from autograder.references.store import LessonReference, load

FOLDER = Path(__file__).parent / "hidden"
SECRET_FILE = ROOT / "course_secret.txt"
SECRET_VARIABLE = "COURSE_SECRET"
SHIPPED_SECRET = "a course of your own should have a secret of its own"


def own_secret() -> str:
    """Read the secret from the environment or course_secret.txt; "" if there is none."""
    if SECRET_VARIABLE in os.environ:
        secret = os.fsencode(os.environ[SECRET_VARIABLE])
    else:
        secret = SECRET_FILE.read_bytes() if SECRET_FILE.exists() else b""
    # Any bytes will do, but the locale must not change what they mean.
    return secret.decode("utf-8", "backslashreplace").strip()


def course_secret() -> str:
    """Return the course's own secret, or else the one that ships."""
    return own_secret() or SHIPPED_SECRET


@cache
def grading_reference(lesson_name: str) -> LessonReference:
    """Return a lesson's reference with hidden cases. Raises AuthoringError."""
    lesson = Lesson(lesson_name)
    try:
        reference = load(_path(lesson))
        if reference.source == source_digest(lesson, course_secret()):
            return reference
    except CourseError:
        pass  # missing or damaged: rebuild it
    return rebuild(lesson)


def rebuild(lesson: Lesson) -> LessonReference:
    """Build a lesson's reference with hidden cases, and save it for later runs."""
    torch.set_num_threads(1)  # many threads are slow for small tensors on a busy machine
    reference = build(lesson, course_secret())
    write_whole(_path(lesson), reference.to_bytes())
    return reference


def _path(lesson: Lesson) -> Path:
    return FOLDER / f"{lesson.name}.safetensors"
