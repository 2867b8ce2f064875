"""Read a graded notebook, and the instructor's source for it, as plain data."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from autograder.grading.pages.untrusted import (
    LONGEST_NAME,
    checked_requests,
    checked_verdict,
    visible,
)
from autograder.grading.submission.cells import joined_text
from autograder.grading.submission.review_requests import requests_in
from autograder.grading.worker.graded_cells import VERDICT
from autograder.lessons.cells import grade_id_of
from autograder.lessons.written_questions import without_rubric

TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class NotebookCell:
    """One cell of a notebook.

    number: its position, from 1.
    name: nbgrader's, if it has one.
    """

    number: int
    kind: str
    source: str
    name: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[dict[str, Any], ...] = ()
    attachments: dict[str, Any] = field(default_factory=dict)

    def is_a(self, role: str) -> bool:
        """Whether it is one of nbgrader's cells, with this role: "grade", "solution" or "task"."""
        return self._role(role) is True

    @property
    def is_given(self) -> bool:
        """Whether it is one of nbgrader's cells with no answer; a mark scheme may be in it."""
        return self._role("solution") is False

    def _role(self, role: str) -> Any:
        about = self.metadata.get("nbgrader")
        return about.get(role) if isinstance(about, dict) else None


@dataclass(frozen=True)
class Outline:
    """The title of a lesson's notebook, and nbgrader's cells in their order there."""

    title: str = ""
    order: tuple[str, ...] = ()


def read_cells(data: bytes) -> tuple[NotebookCell, ...]:
    """Read the cells of a notebook for learners: without mark schemes. Raises ValueError."""
    cells = read_whole_cells(data)
    return tuple(replace(cell, source=_without_rubric(cell)) for cell in cells)


def read_whole_cells(data: bytes) -> tuple[NotebookCell, ...]:
    """Read the cells of a notebook, without anything malformed. Raises ValueError."""
    content = json.loads(data)
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise ValueError("it has no cells")
    return tuple(map(_cell, count(1), filter(_is_dict, content["cells"])))


def verdict_of(cell: NotebookCell) -> dict[str, Any] | None:
    """Return the verdict in a cell's metadata; {} if it is damaged, None if there is none."""
    if VERDICT not in cell.metadata:
        return None
    try:
        return checked_verdict(cell.metadata[VERDICT])
    except ValueError:
        return {}


def requests_among(cells: Iterable[NotebookCell]) -> dict[str, str]:
    """Return why the learner asks for another look, by exercise."""
    sources = (cell.source for cell in cells if cell.kind == "code")
    return checked_requests(requests_in(sources))


def read_outline(path: Path) -> Outline:
    """Read the outline of a notebook's source; an empty one if there is no source."""
    return _outline(path, path.stat().st_mtime_ns) if path.is_file() else Outline()


@cache
def _outline(path: Path, _: int) -> Outline:
    """Read a source once for all learners, and again if it changes."""
    cells = read_cells(path.read_bytes())
    titles = [TITLE.search(cell.source) for cell in cells if cell.kind == "markdown"]
    title = next((visible(found[1], LONGEST_NAME) for found in titles if found), "")
    return Outline(title, tuple(cell.name for cell in cells if cell.name))


def _cell(number: int, cell: dict[str, Any]) -> NotebookCell:
    outputs = cell.get("outputs")
    return NotebookCell(
        number=number,
        kind=joined_text(cell.get("cell_type")),
        source=joined_text(cell.get("source")),
        name=grade_id_of(cell),
        metadata=_dict(cell, "metadata"),
        outputs=tuple(filter(_is_dict, outputs)) if isinstance(outputs, list) else (),
        attachments=_dict(cell, "attachments"),
    )


def _without_rubric(cell: NotebookCell) -> str:
    """Return a cell's source without its mark scheme, which is for instructors only."""
    return without_rubric(cell.source) if cell.is_given else cell.source


def _dict(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)
