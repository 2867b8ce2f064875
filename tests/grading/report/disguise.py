"""Disguise copied code: other names, another order, other comments, the same computation."""

import ast
import random

ACTS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Expr, ast.Assert)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def disguised(source, seed=0):
    """Rename variables, shuffle independent statements, change docstrings and layout."""
    tree = ast.parse(source)
    chance = random.Random(seed)
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            node.body = [one for one in node.body if not is_docstring(one)]
            node.body.insert(0, ast.Expr(ast.Constant(f"Other words {seed}.")))
    renamed(tree, seed)
    for node in ast.walk(tree):
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                setattr(node, part, shuffled(getattr(node, part), chance))
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "\n".join(f"{line}  # {number}" for number, line in enumerate(lines))


def is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def renamed(tree, seed):
    """Rename variables, but not arguments, whose names the check requires."""
    names = {node.id for node in ast.walk(tree) if is_variable(node)}
    fixed = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    fixed |= {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
    numbers = {name: f"renamed_{seed}_{i}" for i, name in enumerate(sorted(names - fixed))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)


def is_variable(node):
    return isinstance(node, ast.Name) and not is_read(node)


def shuffled(statements, chance):
    """Put statements in another order, but each after those that it depends on."""
    left, done = list(range(len(statements))), []
    about = [facts(statement) for statement in statements]
    while left:
        free = [n for n in left if not any(depends(about[n], about[m]) for m in left if m < n)]
        done.append(chance.choice(free))
        left.remove(done[-1])
    return [statements[number] for number in done]


def depends(later, earlier):
    """Whether two statements must keep their order."""
    writes = later["writes"] | earlier["writes"]
    shared = (later["all"] & earlier["all"]) & writes
    return bool(shared) or (later["acts"] and earlier["acts"]) or later["last"] or earlier["first"]


def facts(statement):
    """Return the names in a statement, those that it changes, and whether it acts on anything."""
    nodes = list(ast.walk(statement))
    names = {ast.unparse(n) for n in nodes if isinstance(n, ast.Name | ast.Attribute)}
    changed = {root(n) for n in nodes if isinstance(n, ast.Subscript) and not is_read(n)}
    changed |= {root(n.value) for n in nodes if isinstance(n, ast.Expr)}
    changed |= {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    changed |= {n.name for n in nodes if isinstance(n, DEFINITIONS)}
    stored = (n for n in nodes if isinstance(n, ast.Name | ast.Attribute) and not is_read(n))
    writes = changed | {ast.unparse(n) for n in stored}
    return {
        "all": names | writes,
        "writes": writes,
        "acts": any(map(acts, nodes)) and not isinstance(statement, DEFINITIONS),
        "last": isinstance(statement, ast.Return),
        "first": is_docstring(statement),
    }


def acts(node):
    return isinstance(node, ACTS) or (isinstance(node, ast.Subscript) and not is_read(node))


def is_read(node):
    return isinstance(node.ctx, ast.Load)


def root(node):
    """Return the name that an expression starts with, if any."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return ast.unparse(node)
