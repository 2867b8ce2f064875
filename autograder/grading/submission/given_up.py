"""Exercises that a submission gives up: their points are lost, and later ones can still be earned.

A call of `give_up` is found in the notebook's text, because code that runs could hide it. While the
notebook runs, the check of such an exercise is replaced by the course's solution.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from nbformat import NotebookNode

from autograder.lessons.cells import exercise_checked

CALLED = "give_up"
LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
# What a condition may consist of to be known without running anything.
KNOWN = ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.cmpop | ast.boolop | ast.unaryop


def given_up(notebook: NotebookNode, exercises: Collection[str]) -> set[str]:
    """Return the exercises for which a code cell calls `give_up`, in whatever form."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    found = {name for source in sources if CALLED in source for name in _named(source)}
    return found & set(exercises)


def _named(source: str) -> Iterator[str]:
    """Yield what the calls of `give_up` in a cell name, as text or as the function itself."""
    # Loaded for these few cells only: it takes a while.
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the cell did not run in the learner's notebook either
    for call in _calls(tree):
        match [*call.args, *(keyword.value for keyword in call.keywords)]:
            case [ast.Constant(str(name)) | ast.Name(name) | ast.Attribute(_, name)]:
                yield name


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls of `give_up` that run with the cell, unless a condition never holds."""
    match node:
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name == CALLED:
            yield node
        case ast.If(test, _, others) | ast.IfExp(test, _, others) | ast.While(test, _, others):
            if _never(test):
                for other in others if isinstance(others, list) else [others]:
                    yield from _calls(other)
                return
        case ast.BoolOp(ast.And(), [*values]) if any(map(_never, values)):
            return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, LATER):
            yield from _calls(child)


def _never(test: ast.expr) -> bool:
    """Whether a condition made of constants alone is false."""
    if not all(isinstance(node, KNOWN) for node in ast.walk(test)):
        return False
    try:
        return not eval(compile(ast.Expression(test), "<condition>", "eval"), {"__builtins__": {}})
    except Exception:  # such as 1 < "a", which stops the cell
        return True


@contextmanager
def solutions_for_checks(notebook: NotebookNode, solutions: Mapping[str, str]) -> Iterator[None]:
    """Replace the checks of exercises that were given up by the course's solutions, for the body.

    solutions: their sources, by exercise.
    """
    names = given_up(notebook, solutions)
    checks = [(cell, cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    checks = [(cell, source) for cell, source in checks if exercise_checked(source) in names]
    try:
        for cell, source in checks:
            cell.source = solutions[exercise_checked(source)]
        yield
    finally:
        for cell, source in checks:
            cell.source = source
