"""Grade one notebook with the command, in this process, which has imported what it needs."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from autograder.course.__main__ import main
from autograder.grading import single
from tests.support.classroom import LESSON

SCHEMA = json.loads(Path(single.__path__[0], "result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


@dataclass(frozen=True)
class Graded:
    """What the command returned and wrote. The result is valid."""

    status: int
    result: dict[str, Any]
    page: str


def arguments(notebook: Path, *more: object) -> list[str]:
    return ["grade-one", str(notebook), "--lesson", LESSON.name, *map(str, more)]


def grade_one(notebook: Path, folder: Path, *more: object) -> Graded:
    """Grade a notebook; the outputs go to a folder."""
    as_json, as_html = folder / "result.json", folder / "page.html"
    status = main(arguments(notebook, "--json", as_json, "--html", as_html, *more))
    result = json.loads(as_json.read_text(encoding="utf-8"))
    VALIDATOR.validate(result)
    return Graded(status, result, as_html.read_text(encoding="utf-8"))
