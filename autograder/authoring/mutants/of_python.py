"""Faults that any Python code can have: a wrong operator, operand, argument, or statement."""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.mutants.mutant import Mutant, region_nodes, replaced
from autograder.lessons.cells import region

LIBRARIES = ("torch", "F", "nn", "math", "ops", "keras")
Change = Callable[[Any], Iterator[ast.AST]]
OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def python_mutants(source: str) -> Iterator[Mutant]:
    """Apply every rule to every node of the solution."""
    for node in region_nodes(source):
        for rule, (kinds, change) in RULES.items():
            if isinstance(node, kinds):
                for new in change(node):
                    what = f"{ast.unparse(node)} → {ast.unparse(new)}"
                    yield Mutant(rule, what, replaced(source, node, new))


def given_mutants(source: str) -> Iterator[Mutant]:
    """Delete a decorator or a statement that the notebook gives, outside the solution's region."""
    match = region(source)
    first = source.count("\n", 0, match.start("begin")) + 1
    last = source.count("\n", 0, match.end("end")) + 1
    lines = source.splitlines()
    for node in _given(ast.parse(source)):
        begin, end = node.lineno, node.end_lineno or node.lineno
        if end < first or begin > last:
            kept = [*lines[: begin - 1], *lines[end:]]
            yield Mutant("given line deleted", ast.unparse(node), "\n".join(kept) + "\n")


def _given(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the decorators and the plain statements of functions and classes."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.FunctionDef | ast.ClassDef):
            yield from owner.decorator_list
            begin = 1 if ast.get_docstring(owner) else 0
            yield from (n for n in owner.body[begin:] if isinstance(n, ast.Assign | ast.Expr))


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(items: list, index: int) -> list:
    return items[:index] + items[index + 1 :]


def other_operator(node: ast.BinOp) -> Iterator[ast.AST]:
    for operator in OPERATORS.get(type(node.op), ()):
        yield _with(node, op=operator())


def other_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for operator in OPERATORS.get(type(node.ops[0]), ()):
        yield _with(node, ops=[operator(), *node.ops[1:]])


def swapped_operands(node: ast.BinOp) -> Iterator[ast.AST]:
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield _with(node, left=node.right, right=node.left)


def one_operand(node: ast.BinOp) -> Iterator[ast.AST]:
    yield node.left
    yield node.right


def other_logic(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for index in range(len(node.values)):
        rest = _without(node.values, index)
        yield rest[0] if len(rest) == 1 else _with(node, values=rest)


def no_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if not isinstance(node.operand, ast.Constant):
        yield node.operand


def other_number(node: ast.Constant) -> Iterator[ast.AST]:
    match node.value:
        case bool():
            yield ast.Constant(not node.value)
        case int() | float():
            # Small whole numbers are dimensions; the negative one often means the same dimension.
            is_dim = isinstance(node.value, int) and 0 <= node.value <= 3
            values = [node.value + 1, node.value - 1, *([] if is_dim else [-node.value])]
            yield from (ast.Constant(value) for value in values if value != node.value)


def argument_dropped(node: ast.Call) -> Iterator[ast.AST]:
    for index in range(len(node.args)):
        yield _with(node, args=_without(node.args, index))


def arguments_swapped(node: ast.Call) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("transpose", "swapaxes"):
        return  # the order makes no difference
    for index in range(len(node.args) - 1):
        first, second = node.args[index : index + 2]
        args = [*node.args[:index], second, first, *node.args[index + 2 :]]
        yield _with(node, args=args)


def keyword_dropped(node: ast.Call) -> Iterator[ast.AST]:
    for index, keyword in enumerate(node.keywords):
        if keyword.arg != "strict":
            yield _with(node, keywords=_without(node.keywords, index))


def call_dropped(node: ast.Call) -> Iterator[ast.AST]:
    match node.func:
        case ast.Attribute(value) if not (isinstance(value, ast.Name) and value.id in LIBRARIES):
            yield value
        case _ if node.args:
            yield node.args[0]


def elements_swapped(node: ast.Tuple | ast.List) -> Iterator[ast.AST]:
    for index in range(len(node.elts) - 1):
        first, second = node.elts[index : index + 2]
        if not isinstance(node.ctx, ast.Store):
            yield _with(node, elts=[*node.elts[:index], second, first, *node.elts[index + 2 :]])


def slice_opened(node: ast.Slice) -> Iterator[ast.AST]:
    if node.lower:
        yield _with(node, lower=None)
    if node.upper:
        yield _with(node, upper=None)


def statement_dropped(node: ast.stmt) -> Iterator[ast.AST]:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    kinds = ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Return
    if isinstance(node, kinds) and not is_docstring:
        yield ast.Pass()


def condition_fixed(node: ast.If | ast.IfExp | ast.While) -> Iterator[ast.AST]:
    yield _with(node, test=ast.Constant(False))
    if not isinstance(node, ast.While):
        yield _with(node, test=ast.Constant(True))


def loop_once(node: ast.For) -> Iterator[ast.AST]:
    yield _with(node, body=[*node.body, ast.Break()])


def return_in_the_loop(node: ast.For) -> Iterator[ast.AST]:
    match node.body[-1]:
        case ast.Assign([ast.Name(name), *_]) | ast.AugAssign(ast.Name(name)):
            returned = ast.Return(ast.Name(name, ast.Load()))
            yield _with(node, body=[*node.body, returned])


RULES: dict[str, tuple[Any, Change]] = {
    "another operator": (ast.BinOp, other_operator),
    "another comparison": (ast.Compare, other_comparison),
    "operands swapped": (ast.BinOp, swapped_operands),
    "one operand dropped": (ast.BinOp, one_operand),
    "and for or": (ast.BoolOp, other_logic),
    "sign dropped": (ast.UnaryOp, no_sign),
    "another number": (ast.Constant, other_number),
    "argument dropped": (ast.Call, argument_dropped),
    "arguments swapped": (ast.Call, arguments_swapped),
    "keyword dropped": (ast.Call, keyword_dropped),
    "call dropped": (ast.Call, call_dropped),
    "elements swapped": ((ast.Tuple, ast.List), elements_swapped),
    "slice opened": (ast.Slice, slice_opened),
    "statement dropped": (ast.stmt, statement_dropped),
    "condition fixed": ((ast.If, ast.IfExp, ast.While), condition_fixed),
    "loop ended early": (ast.For, loop_once),
    "return in the loop": (ast.For, return_in_the_loop),
}
