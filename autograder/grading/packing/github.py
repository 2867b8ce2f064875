"""Make the content of a template repository for GitHub Classroom.

Its workflow runs the notebook's checks, on the cases that learners can see.
"""

import shutil
from argparse import Namespace

from autograder.building.wheels import LEARNERS, build_wheel
from autograder.grading.packing.contents import (
    FILES,
    PACKED,
    points_of_lesson,
    write_requirements,
)
from autograder.lessons.lesson import Lesson


def pack(lesson: Lesson, options: Namespace) -> str:
    """Pack a lesson; return what to do with it. Raises CourseError, OSError.

    What an instructor may have changed stays, and so does what is there besides.
    """
    to = options.to or PACKED / "github" / lesson.name
    (to / ".github" / "workflows").mkdir(parents=True, exist_ok=True)
    for name in ("README.md", ".github/workflows/classroom.yml"):
        if not (to / name).exists():
            text = (FILES / "github" / name).read_text(encoding="utf-8")
            text = text.replace("LESSON", lesson.name).replace("TITLE", lesson.title)
            (to / name).write_text(text, encoding="utf-8")
    script = ".github/check_notebook.py"
    shutil.copy2(FILES / "github" / script, to / script)
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
