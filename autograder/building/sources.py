"""The project's own modules that a module imports, and those that they import in turn."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path


def needed_files(start: Iterable[Path], root: Path) -> list[Path]:
    """The files below `root` that the files in `start` need, themselves included, in order."""
    found: set[Path] = set()
    todo = list(start)
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _files(path, root)
    return sorted(found)


def _files(path: Path, root: Path) -> Iterator[Path]:
    for name in _names(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            module = root.joinpath(*parts[:count])
            candidates = (module.with_suffix(".py"), module / "__init__.py")
            yield from filter(Path.is_file, candidates)


def _names(module: ast.Module) -> Iterator[str]:
    """What a module imports, by full names; a name taken from a package may be a module."""
    for node in _walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and the statements below it, except what only type checkers read."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, block, []):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from _walk(child)
