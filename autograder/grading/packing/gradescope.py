"""Make the zip that an instructor uploads to Gradescope.

See "Autograder Specifications" in Gradescope's documentation of autograders.
"""

import shutil
import tempfile
from argparse import Namespace
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.building.wheels import GRADER, LEARNERS, build_wheel
from autograder.grading.packing.contents import (
    FILES,
    points_of_lesson,
    secrets_inside,
    write_requirements,
    write_settings,
)
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT


def pack(lesson: Lesson, options: Namespace) -> str:
    """Pack a lesson; return what to do with it. Raises CourseError, OSError."""
    to = options.to or ROOT / "autograder.zip"
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder, "content")
        shutil.copytree(FILES / "gradescope", content)
        wheels = [build_wheel(project, content / "wheels") for project in (LEARNERS, GRADER)]
        write_requirements(content, [f"wheels/{wheel}" for wheel in wheels], options.index)
        write_settings(content, f"--lesson {lesson.name} --show {options.show}")
        made = Path(shutil.make_archive(f"{folder}/made", "zip", content))
        write_whole(to, made.read_bytes(), mode=0o600)
    return (
        f"{to} grades {lesson.name} on Gradescope: {points_of_lesson(lesson)}. "
        f"{secrets_inside()}, so keep it to yourself."
    )
