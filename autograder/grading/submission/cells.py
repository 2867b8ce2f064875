"""Make cells from whatever a learner wrote: text that can be saved, tags and pictures."""

import copy
import re
from collections.abc import Iterable
from typing import Any, TypeVar

from nbformat import NotebookNode, from_dict
from nbformat.v4 import nbformat, nbformat_minor

from autograder.lessons.cells import KERNEL, LANGUAGE

# Additional fields by cell type, beyond those that every cell has.
CELL_TYPES: dict[str, dict[str, Any]] = {
    "code": {"execution_count": None, "outputs": []},
    "markdown": {},
    "raw": {},
}
Output = TypeVar("Output", bound=dict[str, Any])
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can contain these, a UTF-8 file can't


def make_cell(
    cell_type: str, source: str, metadata: dict | None = None, pictures: dict | None = None
) -> NotebookNode:
    """Make a cell without an id; nbformat's own functions would also validate it, slowly."""
    cell = {"cell_type": cell_type, "source": source, "metadata": metadata or {}}
    attachments = {"attachments": pictures} if pictures and cell_type == "markdown" else {}
    return from_dict(cell | CELL_TYPES[cell_type] | attachments)


def make_notebook(cells: Iterable[NotebookNode]) -> NotebookNode:
    """Make a valid Python notebook from these cells, with their numbers as ids."""
    cells = list(cells)
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"
    metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    version = {"nbformat": nbformat, "nbformat_minor": nbformat_minor}
    return from_dict({"cells": cells, "metadata": metadata} | version)


def joined_text(value: Any) -> str:
    """Return the text of a string or a list of lines; "" for anything else."""
    lines = value if isinstance(value, list) else [value]
    text = "".join(line for line in lines if isinstance(line, str))
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def without_pictures(output: Output) -> Output:
    """Leave pictures out of an output that describes them in words."""
    match output:
        case {"data": {"text/plain": _}}:
            kept, data = copy.copy(output), output["data"]
            kept["data"] = {kind: data[kind] for kind in data if not _is_picture(kind, data[kind])}
            return kept
    return output


def _is_picture(kind: str, value: object) -> bool:
    seen = kind.startswith("image/") or "<img" in joined_text(value)
    return seen and kind != "text/plain"


def tags_of(cell: dict) -> list[str]:
    """Return those of a cell's tags that nbformat allows: each once, without commas."""
    match cell:
        case {"metadata": {"tags": list(found)}}:
            tags = dict.fromkeys(joined_text(tag) for tag in found)
            return [tag for tag in tags if tag and "," not in tag]
    return []


def pictures_of(attachments: Any) -> dict[str, dict[str, str]]:
    """Return a markdown cell's attachments if all are images; {} if there is anything else."""
    files = attachments if isinstance(attachments, dict) else {}
    bundles = [bundle for bundle in files.values() if isinstance(bundle, dict)]
    data = [item for bundle in bundles for item in bundle.items()]
    plain = all(kind.startswith("image/") and isinstance(image, str) for kind, image in data)
    if not plain or len(bundles) < len(files):
        return {}
    return {
        joined_text(name): {joined_text(kind): joined_text(image) for kind, image in bundle.items()}
        for name, bundle in files.items()
    }
