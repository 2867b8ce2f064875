"""The reference that grading uses: the public cases, and hidden ones drawn from a course secret.

It is built on this machine when it is first needed, and again when the lesson, its exercises or
the secret has changed. It never leaves the machine.
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
    """The secret from the environment or from course_secret.txt; "" where there is none."""
    if SECRET_VARIABLE in os.environ:
        secret = os.fsencode(os.environ[SECRET_VARIABLE])
    else:
        secret = SECRET_FILE.read_bytes() if SECRET_FILE.exists() else b""
    # Any bytes will do, and the locale must not change what they mean.
    return secret.decode("utf-8", "backslashreplace").strip()


def course_secret() -> str:
    """The course's own secret, else the one that ships."""
    return own_secret() or SHIPPED_SECRET


@cache
def grading_reference(lesson_name: str) -> LessonReference:
    """The reference of a lesson with its hidden cases. Raises AuthoringError."""
    lesson = Lesson(lesson_name)
    try:
        reference = load(_path(lesson))
        if reference.source == source_digest(lesson, course_secret()):
            return reference
    except CourseError:
        pass  # missing or damaged: built anew
    return rebuild(lesson)


def rebuild(lesson: Lesson) -> LessonReference:
    """Build the reference of a lesson with hidden cases, and keep it for later runs."""
    torch.set_num_threads(1)  # small tensors on many threads take long on a busy machine
    reference = build(lesson, course_secret())
    write_whole(_path(lesson), reference.to_bytes())
    return reference


def _path(lesson: Lesson) -> Path:
    return FOLDER / f"{lesson.name}.safetensors"
