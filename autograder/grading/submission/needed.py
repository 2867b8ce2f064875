"""Find the cells of a notebook that have to run for its grade.

A cell that the course wrote and the learner left alone runs only if it sets a name that another
running cell uses. The rest are demonstrations.
"""

import ast
import re
import symtable
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

# Code that uses one of these may reach any name.
ANY_NAME = {
    "eval",
    "exec",
    "get_ipython",
    "globals",
    "locals",
    "vars",
    "In",
    "Out",
    "_",
    "__main__",
}
LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
MOST_KEPT = 1_000  # cells to remember from one submission to the next
LONGEST = 50_000  # characters; a longer cell is not parsed


def needed(sources: Sequence[str], course: Collection[str]) -> list[bool]:
    """Return for each code cell whether it has to run.

    course: the sources of the cells that the course wrote, without answers and checks.
    """
    running = [source not in course for source in sources]
    wanted = {name for source in sources if source not in course for name in uses(source)}
    if wanted & ANY_NAME:
        return [True] * len(sources)
    modules = frozenset(name for source in sources if source in course for name in imports(source))
    given = [gives(source, modules) if source in course else set() for source in sources]
    while more := [n for n, names in enumerate(given) if not running[n] and names & wanted]:
        for number in more:
            running[number] = True
            wanted |= uses(sources[number])
    return running


@lru_cache(MOST_KEPT)
def uses(source: str) -> frozenset[str]:
    """Return the global names that a cell uses, now or when something that it defines is called."""
    if len(source) > LONGEST:
        return _words(source)
    try:
        tables = list(_tables(symtable.symtable(source, "<cell>", "exec")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, or a mistake
        return _words(source)
    return frozenset(
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if table.get_type() == "module" or symbol.is_global()
    )


def _words(source: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", source))


@lru_cache(MOST_KEPT)
def gives(source: str, modules: frozenset[str]) -> frozenset[str]:
    """Return the global names that a cell of the course sets, or whose value it changes.

    modules: names of modules. No grade depends on what their functions change, such as
        `torch.manual_seed(0)`.
    """
    module, *inner = _tables(symtable.symtable(source, "<cell>", "exec"))
    own = {s.get_name() for s in module.get_symbols() if s.is_assigned() or s.is_imported()}
    declared = {s.get_name() for t in inner for s in t.get_symbols() if s.is_declared_global()}
    return frozenset(own | declared | {*_changed(ast.parse(source))} - modules)


@lru_cache(MOST_KEPT)
def imports(source: str) -> frozenset[str]:
    """Return the names that a cell imports."""
    table = symtable.symtable(source, "<cell>", "exec")
    return frozenset(s.get_name() for s in table.get_symbols() if s.is_imported())


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names whose values change: by `x[0] = 1`, `x.a = 1`, or `x.method()` on its own."""
    match node:
        case ast.Subscript() | ast.Attribute() if not isinstance(node.ctx, ast.Load):
            yield from _root(node)
        case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
            yield from _root(method)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, LATER):
            yield from _changed(child)


def _root(node: ast.AST) -> Iterator[str]:
    """Yield the name that a chain of attributes, items and calls starts with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id
