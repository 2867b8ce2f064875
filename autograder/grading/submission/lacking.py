"""Cells that import what the grader's machine lacks, such as `google.colab`.

They stop right there, and with them everything below. So they run again without what needs it.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

NO_MODULE = re.compile(r"No module named '([\w.]+)'")
MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)
PARTS = ast.stmt | ast.ExceptHandler | ast.match_case
LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def lacked_modules(outputs: Iterable[NotebookNode]) -> Iterator[str]:
    """Yield the modules that cells could not import."""
    for output in outputs:
        if output.output_type == "error" and output.ename == ModuleNotFoundError.__name__:
            yield from NO_MODULE.findall(output.evalue)[:1]


def without_module(source: str, module: str) -> str:
    """Return a cell without the imports of a module and what only uses what they import.

    All else stays on its lines. So do imports that the cell itself tries, and the bodies of
    functions.
    """
    body = [*_running(_parsed(source))]
    dropped = [one for one in body if _lacking(one, module)]
    names = {_bound(alias) for one in dropped for alias in _lacking(one, module)}
    dropped += [one for one in body if isinstance(one, ast.Expr) and names & _used(one)]
    lines = source.encode().splitlines(keepends=True)
    for one in sorted(dropped, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        _drop(lines, one, module)
    return b"".join(lines).decode()


def _parsed(source: str) -> ast.Module:
    """Parse a cell, as if its magics were not there; what can't be parsed is empty."""
    for text in (source, MAGIC.sub(r"\1pass", source)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([], [])


def _running(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that run with the cell, at any depth."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, LATER):
            waiting += [part for part in _parts(node) if isinstance(part, PARTS)]


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """Return the parts of a node, but not those whose failed imports it catches."""
    if isinstance(node, ast.Try | ast.TryStar):
        types = [handler.type for handler in node.handlers]
        if any(one is None or CAUGHT & _used(one) for one in types):
            return [*node.handlers, *node.orelse, *node.finalbody]
    return ast.iter_child_nodes(node)


def _lacking(statement: ast.stmt, module: str) -> list[ast.alias]:
    """List what a statement imports from a module."""
    match statement:
        case ast.Import(names):
            return [alias for alias in names if _within(alias.name, module)]
        case ast.ImportFrom(str(name), names, 0) if _within(name, module):
            return names
    return []


def _within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _bound(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def _used(node: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(node) if isinstance(node, ast.Name)}


def _drop(lines: list[bytes], statement: ast.stmt, module: str) -> None:
    """Put something that does nothing in a statement's place, and what else it imports."""
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    instead = "(None" + "\n" * (last - first) + ")"
    if isinstance(statement, ast.Import):
        others = [alias for alias in statement.names if not _within(alias.name, module)]
        instead += f"; {ast.unparse(ast.Import(others))}" if others else ""
    before, after = lines[first][: statement.col_offset], lines[last][statement.end_col_offset :]
    lines[first : last + 1] = [before + instead.encode() + after, *[b""] * (last - first)]
