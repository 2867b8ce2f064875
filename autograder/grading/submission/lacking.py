"""Cells that import what the grader's machine lacks, such as `google.colab`.

They stop right there, and with them everything below. So they run again without what needs it.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def lacked_modules(outputs: Iterable[NotebookNode]) -> Iterator[str]:
    """Yield the modules that cells could not import."""
    for output in outputs:
        if output.output_type == "error" and output.ename == ModuleNotFoundError.__name__:
            yield from NO_MODULE.findall(output.evalue)[:1]


def without_module(source: str, module: str) -> str:
    """Return a cell without the statements that import a module, or only use what they import.

    The other statements stay on their lines.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    dropped = [one for one in body if _imports(one, module)]
    names = {name for one in dropped for name in _bound(one)}
    dropped += [one for one in body if isinstance(one, ast.Expr) and names & _used(one)]
    lines = source.splitlines()
    for one in dropped:
        first, last = one.lineno - 1, (one.end_lineno or one.lineno) - 1
        if one.col_offset or any(_shares(one, other) for other in body if other is not one):
            continue
        lines[first : last + 1] = ["pass"] + [""] * (last - first)
    return "\n".join(lines)


def _imports(statement: ast.stmt, module: str) -> bool:
    match statement:
        case ast.Import(names):
            return any(_within(alias.name, module) for alias in names)
        case ast.ImportFrom(str(name), _, 0):
            return _within(name, module)
    return False


def _within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.") or module.startswith(f"{name}.")


def _bound(statement: ast.stmt) -> set[str]:
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}


def _used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _shares(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements are on the same line."""
    return one.lineno <= (other.end_lineno or 0) and other.lineno <= (one.end_lineno or 0)
