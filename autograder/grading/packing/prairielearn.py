"""Make a question for PrairieLearn, and what its image is built from.

See "External Grading" in PrairieLearn's documentation.
"""

import json
import shutil
import uuid
from argparse import Namespace
from pathlib import Path
from typing import Any

from autograder.atomic_writes import draft_of
from autograder.building.wheels import GRADER, LEARNERS, build_wheel
from autograder.errors import CourseError
from autograder.grading.packing.contents import (
    FILES,
    PACKED,
    points_of_lesson,
    secrets_inside,
    write_requirements,
    write_settings,
)
from autograder.lessons.lesson import Lesson

STATIC = FILES / "prairielearn"
# So that a lesson is always the same question.
LESSONS = uuid.UUID("8a9b1f9e-5f0c-4a52-9f5e-1d1c4c1b6c55")


def pack(lesson: Lesson, options: Namespace) -> str:
    """Pack a lesson; return what to do with it. Raises CourseError, OSError."""
    to = options.to or PACKED / "prairielearn"
    question, image = to / "questions" / lesson.name, to / "image"
    wanted = _write_page(question, lesson, options.image)
    with draft_of(question / "tests", keep_others=False) as draft:
        _write_tests(draft, lesson)
    with draft_of(image, keep_others=False) as draft:
        shutil.copy2(STATIC / "Dockerfile", draft)
        wheel = build_wheel(LEARNERS, draft)
        write_requirements(draft, [f"./{wheel}[instructor]"], options.index)
    return (
        f"{question} is a question for PrairieLearn, with {points_of_lesson(lesson)}. "
        f"{secrets_inside()}, but not in its image: "
        f"docker build --platform linux/amd64 -t {wanted} {image} && docker push {wanted}"
    )


def _write_page(folder: Path, lesson: Lesson, image: str) -> str:
    """Write what an instructor may edit, where it isn't there yet; return the image's name.

    image: "" for the one that is there. Raises CourseError, OSError.
    """
    page, info = folder / "question.html", folder / "info.json"
    folder.mkdir(parents=True, exist_ok=True)
    if not page.exists():
        text = (STATIC / page.name).read_text(encoding="utf-8")
        page.write_text(text.replace("LESSON", lesson.name), encoding="utf-8")
    try:
        there = json.loads(info.read_text(encoding="utf-8")) if info.exists() else _info(lesson)
        grading = there["externalGradingOptions"]
        grading["image"] = image or grading["image"]
    except (ValueError, TypeError, KeyError) as error:
        raise CourseError(f"{info} is damaged ({error}). Mend it, or delete it.") from error
    info.write_text(f"{json.dumps(there, indent=2)}\n", encoding="utf-8")
    return grading["image"]


def _write_tests(folder: Path, lesson: Lesson) -> None:
    for name in ("grade.sh", "unfinished.json"):
        shutil.copy2(STATIC / name, folder)
    build_wheel(GRADER, folder)
    write_settings(folder, f"--lesson {lesson.name}")


def _info(lesson: Lesson) -> dict[str, Any]:
    """Return what `info.json` holds, as PrairieLearn's schema of questions describes it."""
    grading = {
        "enabled": True,
        "image": "attention-grader",
        "entrypoint": "/grade/tests/grade.sh",
        "timeout": 600,
    }
    return {
        "uuid": str(uuid.uuid5(LESSONS, lesson.name)),
        "title": lesson.title,
        "topic": "Attention",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": grading,
    }
