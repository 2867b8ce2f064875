"""Read what grading needs from an instructor's source notebook."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.lessons.cells import grade_id_of

PERSONAL = re.compile(r"^(check|predict|progress)\(", re.MULTILINE)  # about whoever runs it


@dataclass(frozen=True)
class Source:
    """A source notebook.

    grade_ids: of nbgrader's cells, in order.
    imports: the modules that it imports.
    outputs: of the code cells that are not nbgrader's, by the cell's source. Those of `progress()`,
        predictions and a challenge's check are left out, because they are about whoever ran them.
    """

    grade_ids: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    outputs: dict[str, list[NotebookNode]] = field(default_factory=dict)


def read_source(path: Path) -> Source:
    """Read a source notebook; an empty `Source` if it is missing."""
    if not path.exists():
        return Source()
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    return Source(
        grade_ids=tuple(filter(None, map(grade_id_of, cells))),
        imports=imports_of(cell.source for cell in code),
        outputs={
            cell.source: [] if PERSONAL.search(cell.source) else cell.outputs
            for cell in code
            if not grade_id_of(cell)
        },
    )


def imports_of(sources: Iterable[str]) -> tuple[str, ...]:
    """List the modules that code cells import, each once."""
    found: dict[str, None] = {}
    for source in sources:
        found |= dict.fromkeys(_imports(source))
    return tuple(found)


def _imports(source: str) -> list[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:  # a magic, perhaps
        return []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return names + modules
