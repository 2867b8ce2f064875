"""Make a question for PrairieLearn, and what its image is built from.

See "External Grading" in PrairieLearn's documentation.
"""

import json
import shutil
import uuid
from argparse import Namespace
from pathlib import Path

from autograder.atomic_writes import draft_of
from autograder.grading.packing.contents import (
    FILES,
    GRADER,
    LEARNERS,
    build_wheel,
    points_of_lesson,
    write_requirements,
    write_settings,
)
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT

STATIC = FILES / "prairielearn"
# So that a lesson is always the same question.
LESSONS = uuid.UUID("8a9b1f9e-5f0c-4a52-9f5e-1d1c4c1b6c55")


def pack(lesson: Lesson, options: Namespace, folder: Path) -> str:
    """Pack a lesson; return what to do with it. Raises CourseError, OSError."""
    to = options.to or ROOT / "build" / "prairielearn"
    question, image = to / "questions" / lesson.name, to / "image"
    _write_page(question, lesson, options.image)
    with draft_of(question / "tests", keep_others=False) as draft:
        _write_tests(draft, lesson)
    with draft_of(image, keep_others=False) as draft:
        shutil.copy2(STATIC / "Dockerfile", draft)
        wheel = build_wheel(LEARNERS, draft)
        write_requirements(draft, [f"./{wheel}[instructor]"], options.index)
    return (
        f"{question} is a question for PrairieLearn, with {points_of_lesson(lesson)}. The "
        "solutions and your secret are in it. Its image, which has neither: "
        f"docker build --platform linux/amd64 -t {options.image} {image}"
    )


def _write_page(folder: Path, lesson: Lesson, image: str) -> None:
    """Write what an instructor may edit, where it isn't there yet."""
    page = (STATIC / "question.html").read_text(encoding="utf-8").replace("LESSON", lesson.name)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("question.html", page), ("info.json", _info(lesson, image))):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")


def _write_tests(folder: Path, lesson: Lesson) -> None:
    for name in ("grade.sh", "unfinished.json"):
        shutil.copy2(STATIC / name, folder)
    build_wheel(GRADER, folder)
    write_settings(folder, f"--lesson {lesson.name}")


def _info(lesson: Lesson, image: str) -> str:
    """Return `info.json`, as PrairieLearn's schema of questions describes it."""
    grading = {"image": image, "entrypoint": "/grade/tests/grade.sh", "timeout": 600}
    info = {
        "uuid": str(uuid.uuid5(LESSONS, lesson.name)),
        "title": lesson.title,
        "topic": "Attention",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": grading,
    }
    return f"{json.dumps(info, indent=2)}\n"
