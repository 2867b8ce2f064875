"""Read whatever a learner handed in as a notebook."""

import json
from collections.abc import Iterable
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.grading.submission.cells import (
    CELL_TYPES,
    joined_text,
    make_cell,
    make_notebook,
    pictures_of,
    tags_of,
)
from autograder.lessons.cells import grade_id_of

MOST_CELLS = 5_000
SAVE_IT = "save the notebook and hand it in again"
FRESH_COPY = "copy your answers into a fresh copy of the lesson and hand that in"
CLEAR_OUTPUTS = (
    "clear its outputs (in JupyterLab: Edit, Clear Outputs of All Cells), save it and hand it in "
    "again"
)
RIGHT_ONE = "hand in the one of this assignment"
LESSON_FILE = "hand in the lesson's .ipynb file"


class BrokenSubmission(Exception):
    """The submission can't be read.

    why: the reason.
    remedy: what its learner can do about it, if there is anything to say beyond the reason.
    """

    def __init__(self, why: str, remedy: str = "") -> None:
        super().__init__(why, remedy)
        self.why, self.remedy = why, remedy

    def __str__(self) -> str:
        return f"{self.why}: {self.remedy}." if self.remedy else self.why

    @property
    def cause(self) -> str:
        """The reason alone, as a sentence if it has a remedy."""
        return f"{self.why}." if self.remedy else self.why


def read_notebook(data: bytes, most_bytes: int) -> NotebookNode:
    """Read the notebook in `data`, which may be anything, and keep only what a learner writes.

    That is each cell's type, source, tags, pictures and grade_id; `restore` decides whether the
    grade_id belongs there.
    Raises BrokenSubmission if there are no readable cells, or too many.
    """
    if len(data) > most_bytes:
        size = f"{len(data) / 1e6:.1f} MB where at most {most_bytes / 1e6:.1f} MB are read"
        raise BrokenSubmission(f"The notebook is too large, {size}", CLEAR_OUTPUTS)
    cells = [cell for cell in _cells(_parse(data)) if isinstance(cell, dict)]
    if len(cells) > MOST_CELLS:
        count = f"{len(cells)} cells where at most {MOST_CELLS} are read"
        raise BrokenSubmission(f"The notebook is too long, {count}", FRESH_COPY)
    return make_notebook(_read_cell(cell) for cell in cells)


def code_of(data: bytes, most_bytes: int) -> frozenset[str]:
    """Return the code of a notebook, cell by cell; none if it can't be read."""
    try:
        cells = read_notebook(data, most_bytes).cells
    except BrokenSubmission:
        return frozenset()
    code = (cell.source.strip() for cell in cells if cell.cell_type == "code")
    return frozenset(filter(None, code))


def require_any_of(notebook: NotebookNode, grade_ids: Iterable[str]) -> None:
    """Raise BrokenSubmission if a notebook is empty, or clearly a different one.

    A notebook without any grade_id may still be the right one, because metadata gets lost.
    """
    if not any(cell.source.strip() for cell in notebook.cells):
        raise BrokenSubmission("There is nothing in the notebook", FRESH_COPY)
    expected, found = set(grade_ids), set(filter(None, map(grade_id_of, notebook.cells)))
    if expected and found and not expected & found:
        raise BrokenSubmission("This is another notebook", RIGHT_ONE)


def _parse(data: bytes) -> Any:
    """Parse the JSON in `data`. Raises BrokenSubmission."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n"):
        raise BrokenSubmission("The file is empty", SAVE_IT)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        why = f"The file is not a notebook, because it is not text in UTF-8 (byte {error.start})"
    except (RecursionError, MemoryError):
        raise BrokenSubmission(
            "The notebook is nested too deeply to be read", CLEAR_OUTPUTS
        ) from None
    except ValueError as error:
        why = f"The notebook is damaged or cut off: it is not valid JSON ({error})"
    raise BrokenSubmission(why, FRESH_COPY)


def _cells(tree: Any) -> list:
    """Return the cells in nbformat 4's form, whatever version the notebook claims to have.

    Raises BrokenSubmission if there is no list of cells.
    """
    match tree:
        case {"cells": list(cells)}:
            return cells
        case {"worksheets": list(sheets)}:
            return _converted(sheets)
    raise BrokenSubmission(
        "The file is not a notebook, because it has no list of cells", LESSON_FILE
    )


def _converted(sheets: list) -> list[NotebookNode]:
    """Convert the cells of an nbformat 3 notebook, which has them on worksheets."""
    lists = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and "cells" in sheet]
    cells = [cell for found in lists if isinstance(found, list) for cell in found]
    repaired = [_old_cell(cell) for cell in cells if isinstance(cell, dict)]
    old = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": repaired}]}
    return nbformat.convert(nbformat.from_dict(old), 4).cells


def _old_cell(cell: dict) -> dict:
    """Make an nbformat 3 cell with everything that nbformat's converter relies on."""
    text, metadata = joined_text(cell.get("source")), _metadata(cell)
    match cell:
        case {"cell_type": "code"}:
            code = {"input": joined_text(cell.get("input")), "language": "python", "outputs": []}
            return {"cell_type": "code", "metadata": metadata} | code
        case {"cell_type": "heading", "level": 1 | 2 | 3 | 4 | 5 | 6 as level}:
            heading = {"level": int(level), "source": text}
            return {"cell_type": "heading", "metadata": metadata} | heading
        case {"cell_type": "markdown" | "html" | "heading"}:
            return {"cell_type": "markdown", "metadata": metadata, "source": text}
    return {"cell_type": "raw", "metadata": metadata, "source": text}


def _read_cell(cell: dict) -> NotebookNode:
    """Rebuild a cell, which may be anything. A cell of unknown type is kept but not run."""
    cell_type = cell.get("cell_type", "code" if "outputs" in cell else "raw")
    known = isinstance(cell_type, str) and cell_type in CELL_TYPES
    return make_cell(
        cell_type if known else "raw",
        joined_text(cell.get("source")),
        _metadata(cell),
        pictures_of(cell.get("attachments")),
    )


def _metadata(cell: dict) -> dict:
    """Return a cell's tags, and the grade_id that it claims."""
    metadata: dict[str, Any] = {}
    grade_id = joined_text(grade_id_of(cell))
    if tags := tags_of(cell):
        metadata["tags"] = tags
    if grade_id:
        metadata["nbgrader"] = {"grade_id": grade_id}
    return metadata
