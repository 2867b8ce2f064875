"""Faults typical of attention code: wrong axes, masks, fills, letters, layers, arguments."""

import ast
import itertools
from collections.abc import Iterator, Sequence

from autograder.authoring.mutants.mutant import Mutant, region_nodes, replaced
from autograder.lessons.rewriting import rewrite, slip_mistake
from autograder.lessons.variants import Slip

IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
# When a mask is looked at: not where it is square, or not for a single query.
HIDING = ["keep.shape[-2:-1] != keep.shape[-1:]", "1 not in keep.shape[-2:-1]"]
# For each rule, ast-grep patterns and what they become.
PATTERNS = {
    "other axes": [
        ("$X.transpose($A, $B)", "$X.transpose(0, 1)"),
        ("$X.transpose($A, $B)", "$X.transpose(1, 2)"),
        ("$X.transpose($A, $B)", "$X.transpose(-1, -3)"),
        ("$X.T", "$X"),
        ("ops.swapaxes($X, $A, $B)", "ops.swapaxes($X, 0, 1)"),
    ],
    "view for transpose": [
        ("$X.transpose($A, $B)", "$X.reshape($X.transpose($A, $B).shape)"),
        ("$X.transpose($A, $B).reshape($$$S)", "$X.reshape($$$S)"),
    ],
    "another fill": [
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, -1e9)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, -1e4)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, -100.0)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, 0.0)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, 1.0)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, -math.inf)"),
        ("$X.masked_fill($M, $V)", "$X.masked_fill($M, torch.finfo(torch.float32).min)"),
        ("$X.masked_fill($M, $V)", "$X * ~$M"),
        ("torch.finfo($D).min", "torch.finfo($D).max"),
        ("torch.finfo($D).min", "torch.finfo($D).eps"),
        ("torch.finfo($D).min", "torch.finfo($D).tiny"),
    ],
    "another mode": [
        ("$X.train()", "$X.eval()"),
        ("$X.eval()", "$X.train()"),
        ("$X.train($A)", "$X.train(not $A)"),
    ],
    "detached": [
        ("$X.detach()", "$X"),
        ("$A @ $B", "$A.detach() @ $B"),
        ("$A @ $B", "$A @ $B.detach()"),
        ("torch.cat([$A, $B], $$$C)", "torch.cat([$A.detach(), $B], $$$C)"),
    ],
    "by shape": [
        ("$X.T", "($X if $X.shape[0] == $X.shape[-1] else $X.T)"),
        (
            "$X.transpose(-2, -1)",
            "($X if $X.shape[-2] == $X.shape[-1] else $X.transpose(-2, -1))",
        ),
        (
            "$A @ $B.T",
            "(lambda a, b: a @ b if a.shape[-1] == b.shape[-2] else a @ b.T)($A, $B)",
        ),
        (
            "$A @ $B.transpose(-2, -1)",
            "(lambda a, b: a @ b if a.shape[-1] == b.shape[-2] else a @ b.mT)($A, $B)",
        ),
        *(
            ("torch.where(keep, $A, $B)", f"torch.where(keep if {when} else True, $A, $B)")
            for when in HIDING
        ),
        *(
            ("$X.masked_fill(~keep, $V)", f"($X.masked_fill(~keep, $V) if {when} else $X)")
            for when in HIDING
        ),
    ],
    "kept on the class": [("self.$X = $V", "type(self).$X = $V")],
    "softmax's dimension": [
        ("torch.softmax($X, dim=-1)", "torch.softmax($X, dim=-2)"),
        ("torch.softmax($X, dim=-1)", "torch.softmax($X, dim=0)"),
        ("torch.softmax($X, dim=-1)", "torch.softmax($X, dim=1)"),
    ],
    "scores": [
        ("torch.softmax($X, $$$A)", "torch.softmax($X.abs(), $$$A)"),
        ("torch.softmax($X, $$$A)", "torch.softmax($X.relu(), $$$A)"),
        ("torch.softmax($X, $$$A)", "torch.softmax($X.clamp(-10, 10), $$$A)"),
        ("torch.softmax($X, $$$A)", "torch.softmax($X.float(), $$$A).to($X.dtype)"),
        ("torch.softmax($X, $$$A)", "torch.softmax($X.round(decimals=2), $$$A)"),
    ],
    "renormalized": [
        (
            "torch.softmax($X, dim=-1)",
            "torch.softmax($X, dim=-1) / (torch.softmax($X, dim=-1).sum(-1, keepdim=True) + 1e-9)",
        ),
    ],
    "dropout": [
        ("nn.Dropout($P)", "nn.Dropout()"),
        ("nn.Dropout($P)", "nn.Dropout(min($P, 0.5))"),
        ("nn.Dropout($P)", "nn.AlphaDropout($P)"),
        ("self.dropout($X)", "self.dropout(self.dropout($X))"),
        ("self.dropout($X)", "self.dropout($X) * (1 - self.dropout.p)"),
        ("self.dropout($X) @ $V", "self.dropout($X @ $V)"),
        ("self.dropout($X) @ $V", "$X @ self.dropout($V)"),
        ("self.dropout($X)", "F.dropout($X, self.dropout.p)"),
    ],
    "bias": [
        ("nn.Linear($$$A, bias=$B)", "nn.Linear($$$A, bias=not $B)"),
        ("nn.Linear($A, $B)", "nn.Linear($A, $B, bias=False)"),
    ],
    "activation": [("nn.ReLU()", "nn.GELU()"), ("nn.ReLU()", "nn.Identity()")],
    "random start": [
        ("torch.rand($$$A)", "torch.randn($$$A)"),
        ("torch.randn($$$A)", "torch.rand($$$A)"),
    ],
}


def pattern_mutants(source: str) -> Iterator[Mutant]:
    """Apply each pattern at each place where it fits, and at all places at once."""
    for rule, changes in PATTERNS.items():
        for old, new in changes:
            mistake = slip_mistake(Slip(rule, "", old, new), source)
            for variant in mistake.variants if mistake else ():
                yield Mutant(rule, new, rewrite(source, variant))


def name_mutants(source: str) -> Iterator[Mutant]:
    """Exchange arguments, and attributes of `self`: the key for the query."""
    tree = ast.parse(source)
    arguments, attributes = _arguments(tree), _attributes(tree)
    for node in region_nodes(source):
        others: Sequence[ast.expr]
        match node:
            case ast.Name(id, ast.Load()) if id in arguments:
                others = [ast.Name(other, ast.Load()) for other in sorted(arguments - {id})]
                rule = "another argument"
            case ast.Attribute(ast.Name("self"), attr, ast.Load()) if attr in attributes:
                myself = ast.Name("self", ast.Load())
                others = [ast.Attribute(myself, o, ast.Load()) for o in sorted(attributes - {attr})]
                rule = "another attribute"
            case _:
                continue
        for other in others:
            change = f"{ast.unparse(node)} → {ast.unparse(other)} in {_phrase(tree, node)}"
            yield Mutant(rule, change, replaced(source, node, other))


def in_place_mutants(source: str) -> Iterator[Mutant]:
    """Write to an argument where a new tensor should be made."""
    arguments = _arguments(ast.parse(source))
    for node in region_nodes(source):
        match node:
            case ast.Call(ast.Attribute(ast.Name(id) as name, method)) if id in arguments:
                new = _call(name, f"{method}_", node.args)
            case ast.BinOp(ast.Name(id) as name, operator, right) if (
                id in arguments and type(operator) in IN_PLACE
            ):
                new = _call(name, IN_PLACE[type(operator)], [right])
            case _:
                continue
        change = f"{ast.unparse(node)} → {ast.unparse(new)}"
        yield Mutant("in place", change, replaced(source, node, new))


def _phrase(tree: ast.AST, node: ast.expr) -> str:
    """Return the shortest expression around a name that is more than attributes and indices."""
    at = _place(node)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    found: ast.AST = next(n for n in parents if isinstance(n, type(node)) and _place(n) == at)
    while isinstance(found, ast.Name | ast.Attribute | ast.Subscript):
        found = parents[found]
    return ast.unparse(found).splitlines()[0]


def _place(node: ast.expr) -> tuple[int, int, int | None]:
    return node.lineno, node.col_offset, node.end_col_offset


def _call(owner: ast.expr, method: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(owner, method, ast.Load()), args, [])


def _arguments(tree: ast.AST) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {a.arg for function in functions for a in function.args.args} - {"self"}


def _attributes(tree: ast.AST) -> set[str]:
    """Return the attributes of `self` that a class sets."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and isinstance(node.ctx, ast.Store)
    }


def einsum_mutants(source: str) -> Iterator[Mutant]:
    """Swap two letters of an einsum, or drop one from its output."""
    for node in region_nodes(source):
        match node:
            case ast.Constant(str(text)) if "->" in text:
                for other in _other_letters(text):
                    new = ast.Constant(other)
                    yield Mutant("another einsum", f"{text} → {other}", replaced(source, node, new))


def _other_letters(text: str) -> Iterator[str]:
    inputs, output = text.split("->")
    parts = [*inputs.split(","), output]
    for index, part in enumerate(parts):
        letters = part.replace("...", "")
        for a, b in itertools.combinations(letters, 2):
            swapped = part.translate(str.maketrans(a + b, b + a))
            others = [*parts[:index], swapped, *parts[index + 1 :]]
            yield ",".join(others[:-1]) + "->" + others[-1]
    for letter in output.replace("...", ""):
        yield f"{inputs}->{output.replace(letter, '')}"
