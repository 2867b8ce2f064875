"""The notebook's file, as last saved, where its front end tells the kernel which one it is."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JUPYTER = "JPY_SESSION_NAME"  # an environment variable: Jupyter Server's path of the notebook
VS_CODE = "__vsc_ipynb_file__"  # a variable that VS Code puts into the notebook


@dataclass(frozen=True)
class SavedNotebook:
    """The sources of its code cells by id, in order, and when it was saved (seconds since 1970)."""

    cells: dict[str, str]
    saved: float

    def above(self, cell: str) -> dict[str, str]:
        """Return the cells above one; none if it is not known."""
        ids = list(self.cells)
        count = ids.index(cell) if cell in ids else 0
        return {each: self.cells[each] for each in ids[:count]}


def saved_notebook(namespace: Mapping[str, Any]) -> SavedNotebook | None:
    """Read the notebook's file. None if it is not known, not there or not readable."""
    path = Path(namespace.get(VS_CODE) or os.environ.get(JUPYTER, ""))
    try:
        return SavedNotebook(_code_cells(json.loads(path.read_bytes())), path.stat().st_mtime)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def _code_cells(tree: dict[str, Any]) -> dict[str, str]:
    return {
        cell["id"]: "".join(cell["source"]) for cell in tree["cells"] if cell["cell_type"] == "code"
    }
