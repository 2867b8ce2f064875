"""Read code as compilers do: by value numbering, where a variable stands for the value it holds.

So names do not matter. Neither does the order of statements, except that those that act on
something, such as `return` or a call for its effect, keep their order among themselves.
"""

import ast
from collections import ChainMap, Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeGuard, cast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ACTS = (
    *(ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert, ast.Delete),
    *(ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await),
)
# Fields that don't change what is computed.
SILENT = {"annotation", "returns", "ctx", "kind", "type_comment", "type_params"}


class Reader(ast.NodeVisitor):
    """Digests each node that it visits.

    values: those of variables, inner scopes first.
    attributes: the values of those that the code sets.
    known: what each attribute is taken to be.
    acts: whether the current statement acts on something.
    """

    def __init__(self) -> None:
        self.values: ChainMap[str, str] = ChainMap()
        self.attributes: dict[str, str] = {}
        self.known = self.attributes
        self.acts = False

    def tell_apart(self) -> None:
        """From now on, identify attributes by their values, and by name if they share a value."""
        holders = Counter(self.attributes.values())
        self.known = {
            name: value if holders[value] == 1 else hashed(value, name)
            for name, value in self.attributes.items()
        }

    def generic_visit(self, node: ast.AST) -> str:
        self.acts |= isinstance(node, ACTS)
        parts = [self.part(value) for name, value in ast.iter_fields(node) if name not in SILENT]
        return hashed(type(node).__name__, *parts)

    def part(self, value: object) -> str:
        match value:
            case ast.AST():
                return self.visit(value)
            case [ast.stmt(), *_]:
                return self.block(cast(list[ast.stmt], value))
            case list():
                return hashed("list", *map(self.part, value))
        return f"{type(value).__name__} {value!r}"

    def block(self, statements: Sequence[ast.stmt]) -> str:
        """Digest statements as a set, with those that act in their order."""
        found: dict[bool, list[str]] = {True: [], False: []}
        around = self.acts
        for statement in statements:
            self.acts = False
            one = self.visit(statement)
            found[self.acts].append(one)
        self.acts = around or bool(found[True])
        return hashed("block", *sorted(found[False]), "and in this order", *found[True])

    # ---------------------------------------------------------------- variables

    def visit_Name(self, node: ast.Name) -> str:
        return self.values.get(node.id, f"name {node.id}")

    def visit_Attribute(self, node: ast.Attribute) -> str:
        known = self.known.get(node.attr, f"attribute {node.attr}")
        return hashed("attribute", self.visit(node.value), known)

    def bind(self, target: ast.expr, value: str) -> str:
        """Give a target its value; return the target's form."""
        match target:
            case ast.Name():
                self.values[target.id] = value
                return "variable"
            case ast.Attribute(value=ast.Name()):
                self.attributes[target.attr] = value
                return hashed("attribute of", self.visit(target.value))
            case ast.Attribute():
                return hashed("attribute of", self.visit(target.value), target.attr)
            case ast.Tuple() | ast.List():
                parts = enumerate(target.elts)
                return hashed("parts", *(self.bind(t, hashed(value, str(i))) for i, t in parts))
            case ast.Starred():
                return hashed("the rest", self.bind(target.value, value))
        place = self.visit(target)
        self.act_on(target, hashed(place, value))
        return place

    def act_on(self, node: ast.expr, how: str) -> None:
        """Change the variable that an expression starts with, if it is one of the code's own."""
        self.acts = True
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name) and node.id in self.values:
            self.values[node.id] = hashed(self.values[node.id], how)

    def assign(self, value: str, *targets: ast.expr) -> str:
        return hashed("assign", value, *(self.bind(target, value) for target in targets))

    def visit_Assign(self, node: ast.Assign) -> str:
        return self.assign(self.visit(node.value), *node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> str:
        return self.assign(self.part(node.value), node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> str:
        return self.assign(self.generic_visit(node), node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> str:
        return self.assign(self.visit(node.value), node.target)

    def visit_For(self, node: ast.For) -> str:
        one = self.each(node.target, node.iter)
        return hashed("for", one, self.part(node.body), self.part(node.orelse))

    def visit_comprehension(self, node: ast.comprehension) -> str:
        return hashed(self.each(node.target, node.iter), self.part(node.ifs))

    def each(self, target: ast.expr, items: ast.expr) -> str:
        return self.assign(hashed("each of", self.visit(items)), target)

    def visit_withitem(self, node: ast.withitem) -> str:
        return self.assign(self.visit(node.context_expr), *filter(None, [node.optional_vars]))

    def visit_alias(self, node: ast.alias) -> str:
        self.values[node.asname or node.name] = f"import {node.name}"
        return f"import {node.name}"

    # ---------------------------------------------------------------- calls and scopes

    def visit_Expr(self, node: ast.Expr) -> str:
        done = self.generic_visit(node)
        self.act_on(node.value, done)
        return done

    def visit_Raise(self, node: ast.Raise) -> str:
        # An error's message is prose, like a comment.
        self.acts = True
        return hashed("raise", self.part(node.exc.func if is_call(node.exc) else node.exc))

    def visit_Call(self, node: ast.Call) -> str:
        keywords = sorted(map(self.visit, node.keywords))
        return hashed("call", self.visit(node.func), self.part(node.args), *keywords)

    def visit_Lambda(self, node: ast.Lambda | FunctionNode) -> str:
        given, acts = node.args, self.acts
        defaults = self.part([*given.defaults, *filter(None, given.kw_defaults)])
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        numbered = enumerate(filter(None, names))
        self.values = self.values.new_child({one.arg: f"argument {i}" for i, one in numbered})
        found = hashed("function", defaults, self.part(node.body))
        self.values, self.acts = self.values.parents, acts
        return found

    def visit_FunctionDef(self, node: FunctionNode) -> str:
        self.values.setdefault(node.name, "itself")
        found = hashed(self.part(node.decorator_list), self.visit_Lambda(node))
        self.values[node.name] = found
        return found

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> str:
        self.values.setdefault(node.name, "itself")
        around = self.part([*node.decorator_list, *node.bases, *node.keywords])
        self.values = self.values.new_child()
        found = hashed("class", around, self.part(node.body))
        self.attributes |= self.values.maps[0]
        self.values = self.values.parents
        self.values[node.name] = found
        return found

    def visit_ListComp(self, node: Comprehension) -> str:
        self.values = self.values.new_child()
        loops = self.part(node.generators)
        made = [self.part(part) for name, part in ast.iter_fields(node) if name != "generators"]
        self.values = self.values.parents
        return hashed(type(node).__name__, loops, *made)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def is_call(node: ast.AST | None) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call)


def hashed(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=12).hexdigest()
