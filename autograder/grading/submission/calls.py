"""Find calls of the course's functions in a notebook's text: code that runs could hide them."""

import ast
from collections.abc import Iterable, Iterator, Sequence

LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
RUNNING = {"time", "timeit", "prun", "capture"}  # magics that run code in the notebook
# What a condition may consist of to be known without running anything.
KNOWN = ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.cmpop | ast.boolop | ast.unaryop


def calls_in(sources: Iterable[str], called: str) -> Iterator[ast.Call]:
    """Yield the calls of a function, in whatever form, that run with one of these code cells."""
    for source in sources:
        if called in source:
            yield from _calls(_parsed(source), called)


def named(argument: ast.expr) -> str:
    """Return the exercise that an argument names, as text or as the function itself; "" if none."""
    match argument:
        case ast.Constant(str(name)) | ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def _parsed(source: str) -> ast.AST:
    """Parse a cell; one that doesn't run in the learner's notebook either is empty."""
    # Loaded for these few cells only: it takes a while.
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _calls(tree: ast.AST, called: str) -> Iterator[ast.Call]:
    """Yield the calls that run with the cell, in their order in the text.

    Without recursion: code may be nested deeper than Python's own stack, and still run.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name == called:
                yield node
        waiting += reversed(_parts_that_run(node))


def _parts_that_run(node: ast.AST) -> Sequence[ast.AST]:
    """Return the parts of a node that run with the cell, unless a condition never holds."""
    match node:
        case ast.Call(
            ast.Attribute(_, "run_line_magic" | "run_cell_magic"),
            [ast.Constant(magic), *_, ast.Constant(str(code))],
        ) if magic in RUNNING:
            return [_parsed(code)]
        case ast.If(test, _, others) | ast.While(test, _, others) if _never(test):
            return others
        case ast.IfExp(test, _, other) if _never(test):
            return [other]
        case ast.BoolOp(ast.And(), values) if any(map(_never, values)):
            return []
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, LATER)]


def _never(test: ast.expr) -> bool:
    """Whether a condition made of constants alone is false."""
    if not all(isinstance(node, KNOWN) for node in ast.walk(test)):
        return False
    try:
        return not eval(compile(ast.Expression(test), "<condition>", "eval"), {"__builtins__": {}})
    except Exception:  # such as 1 < "a", which stops the cell
        return True
