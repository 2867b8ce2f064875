"""Replace the code in an exercise cell's solution region."""

import ast
import re
import textwrap
from functools import lru_cache

from ast_grep_py import SgNode, SgRoot

from autograder.errors import AuthoringError
from autograder.lessons.cells import region
from autograder.lessons.variants import Exactly, Mistake, Rewrite, Slip, Variant

LETTER = re.compile(r"\$\$\$([A-Z]+)|\$([A-Z]+)")
# Expressions that never need parentheses.
ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict)


def rewrite(source: str, variant: Variant) -> str:
    """Put a variant's code into an exercise cell's solution region. Raises AuthoringError."""
    try:
        match = region(source)
        body = _other_body(match["body"], variant.code, match["begin"].index("#"))
    except AuthoringError as error:
        raise AuthoringError(f"{variant.name!r}: {error}") from error
    return source[: match.start("body")] + body.strip("\n") + "\n" + source[match.start("end") :]


def slip_mistake(slip: Slip, source: str) -> Mistake | None:
    """Return the mistake that a slip makes in an exercise cell.

    Returns None if its pattern matches nowhere, or if it uses a variable that does not exist.
    """
    body = region(source)["body"]
    places = _places(body, slip.old)
    if not places or not _variables(LETTER.sub("torch", slip.new)) <= _variables(source):
        return None
    choices = [places, *([place] for place in places if len(places) > 1)]
    codes = [Exactly(_replaced(body, choice, slip.new)) for choice in choices]
    return Mistake(slip.name, slip.say, *codes)


def _variables(code: str) -> set[str]:
    """Return all names in a piece of code, plus torch."""
    nodes = list(ast.walk(ast.parse(code)))
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return arguments | {node.id for node in nodes if isinstance(node, ast.Name)} | {"torch"}


def _other_body(body: str, code: Rewrite, indent: int) -> str:
    if isinstance(code, Exactly):
        return code
    if isinstance(code, str):
        return textwrap.indent(textwrap.dedent(code), " " * indent)
    for old, new in code.items():
        body = _edited(body, old, new)
    return body


def _edited(body: str, old: str, new: str) -> str:
    if LETTER.search(old):
        places = _places(body, old)
        if not places:
            raise AuthoringError(f"the pattern {old!r} matches nothing in the solution")
        return _replaced(body, places, new)
    if body.count(old) != 1:
        raise AuthoringError(
            f"the edit {old!r} → {new!r} no longer applies; its left side occurs "
            f"{body.count(old)} times in the solution"
        )
    return body.replace(old, new)


@lru_cache(maxsize=64)
def _tree(body: str) -> SgNode:
    return SgRoot(body, "python").root()


def _places(body: str, pattern: str) -> list[SgNode]:
    """Return the outermost matches of a pattern, in order."""
    places: list[SgNode] = []
    for node in _tree(body).find_all(pattern=pattern):
        if not places or node.range().start.index >= places[-1].range().end.index:
            places.append(node)
    return places


def _replaced(body: str, places: list[SgNode], new: str) -> str:
    for place in reversed(places):
        start, end = place.range().start.index, place.range().end.index
        body = body[:start] + _filled(new, place) + body[end:]
    return body


def _filled(new: str, place: SgNode) -> str:
    """Return the new code for a match, with the pattern's variables filled in."""

    def value(match: re.Match) -> str:
        if match[1]:
            return "".join(node.text() for node in place.get_multiple_matches(match[1]))
        part = place[match[2]].text()
        return f"({part})" if _needs_brackets(part) else part

    code = LETTER.sub(value, new)
    return f"({code})" if _needs_brackets(LETTER.sub("x", new)) else code


def _needs_brackets(code: str) -> bool:
    """Whether the code is an expression that may need parentheses inside another one."""
    try:
        tree = ast.parse(code, mode="eval")
    except SyntaxError:
        return False
    return not isinstance(tree.body, ATOMS)
