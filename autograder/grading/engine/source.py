"""Read what the engine needs from an instructor's source notebook."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.lessons.nbgrader_metadata import grade_id_of


@dataclass(frozen=True)
class Source:
    """A source notebook's grade_ids, in order, and the modules that it imports."""

    grade_ids: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def read_source(path: Path) -> Source:
    """Read a source notebook. A missing one gives an empty `Source`: nothing depends on it then."""
    if not path.exists():
        return Source()
    cells = nbformat.read(path, as_version=4).cells
    imports = imports_of(cell.source for cell in cells if cell.cell_type == "code")
    return Source(tuple(filter(None, map(grade_id_of, cells))), imports)


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
