"""The text of a notebook's cell, which Python may not be able to read."""

import ast
import difflib
import re
from collections.abc import Collection, Iterable

DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+([\w-]+)", re.MULTILINE)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NEAR = 0.8  # the least likeness of a misspelling, of 1


def defined_names(source: str) -> list[str]:
    """Return the functions and classes that a cell defines, or seems to if it can't be read."""
    statements = _statements(source)
    if statements is None:
        return DEFINITION.findall(source)
    return [each.name for each in statements if isinstance(each, Definition)]


def near_name(name: str, others: Iterable[str]) -> str:
    """Return which of the other names is a likely misspelling of `name`; "" if none is."""
    near = difflib.get_close_matches(name, {*others} - {name}, n=1, cutoff=NEAR)
    return near[0] if near else ""


def bound_names(source: str) -> set[str]:
    """Return the names that a cell binds at its top level; none if Python can't read it."""
    return {name for statement in _statements(source) or () for name in _bound(statement)}


def only_calls(source: str, functions: Collection[str]) -> bool:
    """Whether a cell does nothing but call some of these functions."""
    statements = _statements(source)
    return statements is not None and all(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id in functions
        for statement in statements
    )


def same_code(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but space and comments."""
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return one.strip() == other.strip()


def _statements(source: str) -> list[ast.stmt] | None:
    """Return a cell's statements; None if Python can't read it."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return None


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, Definition):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
