"""The command `grade-on`: grade what a platform has put into this container."""

import json
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.atomic_writes import write_whole
from autograder.building.secret import SHIPPED_SECRET, read_secret
from autograder.grading.platforms import gradescope, prairielearn
from autograder.grading.single.command import grade_one, lesson_named, tell, uncollected
from autograder.grading.single.result import ResultData
from autograder.sandbox import walls
from autograder.sandbox.container import Container


@dataclass(frozen=True)
class Platform:
    """Where a platform puts things, and the form in which it takes a result.

    home: its folder, which learners' code may not look into.
    submission: the folder in it with what was handed in.
    settings: the folder in it with what an instructor packed.
    """

    home: Path
    submission: str
    settings: str
    form: Callable[[ResultData, str], dict[str, Any]]


PLATFORMS = {
    "gradescope": Platform(Path("/autograder"), "submission", "source", gradescope.results),
    "prairielearn": Platform(Path("/grade"), "student", "tests", prairielearn.results),
}


def run(options: Namespace) -> int:
    """Grade what was handed in, write the results, and return what `grade-one` does.

    What it prints, the platform shows to instructors. Raises CourseError.
    """
    platform, lesson = PLATFORMS[options.platform], lesson_named(options.lesson)
    submission = platform.home / platform.submission
    secret_file = platform.home / platform.settings / "secret.txt"
    results = platform.home / "results" / "results.json"
    platform.home.chmod(0o700)
    secret = read_secret(secret_file) if secret_file.exists() else SHIPPED_SECRET
    container = Container([submission, secret_file], [results.parent])
    with uncollected(), container, walls.inside(container):
        result, _ = grade_one(submission, lesson, secret)
    write_whole(results, json.dumps(platform.form(result, options.show), indent=1).encode())
    return tell(result)
