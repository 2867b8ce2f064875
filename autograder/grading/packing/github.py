"""Make the content of a template repository for GitHub Classroom.

Its workflow runs the notebook's checks, on the cases that learners can see.
"""

import shutil
from argparse import Namespace
from pathlib import Path

from autograder.grading.packing.contents import (
    FILES,
    LEARNERS,
    build_wheel,
    points_of_lesson,
    write_requirements,
)
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT


def pack(lesson: Lesson, options: Namespace, folder: Path) -> str:
    """Pack a lesson; return what to do with it. Raises CourseError, OSError.

    What is in the folder besides, such as a repository, stays.
    """
    to = options.to or ROOT / "build" / "github" / lesson.name
    shutil.copytree(FILES / "github", to, dirs_exist_ok=True)
    for path in (to / "README.md", to / ".github/workflows/classroom.yml"):
        text = path.read_text(encoding="utf-8")
        text = text.replace("LESSON", lesson.name).replace("TITLE", lesson.title)
        path.write_text(text, encoding="utf-8")
    shutil.copy2(lesson.released_path, to)
    for older in to.glob("attention_from_scratch-*.whl"):
        older.unlink()
    wheel = build_wheel(LEARNERS, to)
    write_requirements(to, [f"./{wheel}", "nbclient"], options.index)
    return (
        f"{to} is what a template repository for GitHub Classroom holds, with "
        f"{points_of_lesson(lesson)}. Hidden cases are not in it: grade what learners push with "
        f"make collect LESSON={lesson.name} LMS=github FROM=…, and make grade."
    )
