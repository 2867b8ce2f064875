"""Nothing is needed before it is shown: the names, keywords and syntax of each solution.

What a solution uses has to occur earlier in the course: in a lesson's text, its cells or its
docstrings, but not in another solution, which learners may have written differently.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import takewhile
from textwrap import dedent, indent

from autograder.lessons.lesson import Lesson, lesson_names

REGION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
# Syntax that many Python programmers have not met.
SYNTAX = (ast.DictComp, ast.Lambda, ast.MatMult, ast.NamedExpr, ast.Starred)


def without_solutions(text: str) -> str:
    return REGION.sub("", text)


def shown_in(lessons: list[Lesson]) -> str:
    return "\n".join(without_solutions(one.text_path.read_text("utf-8")) for one in lessons)


def solutions_of(lesson: Lesson) -> Iterator[tuple[str, ast.AST]]:
    """Yield each solution of a lesson, with what the lesson shows before it.

    Code that learners are to repair is shown, too.
    """
    text = lesson.text_path.read_text(encoding="utf-8")
    for found in REGION.finditer(text):
        before = text[: found.start()]
        begun = [lesson.beginning(it) for it in lesson.asked.values() if f" {it.name}(" in before]
        yield "\n".join([without_solutions(before), *begun]), parsed(found[1])


def parsed(region: str) -> ast.AST:
    """Parse the body of a function, or what follows in a class after its first line."""
    in_class = f"class Any:\n    def first():\n        ...\n{region}"
    in_function = f"def any():\n    ...\n{indent(dedent(region), '    ')}"
    try:
        return ast.parse(in_function)
    except IndentationError:
        return ast.parse(in_class)


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code needs to know: of functions, methods, and keywords as `dim=`."""
    nodes = list(ast.walk(tree))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_own(node)}
    for node in nodes:
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name not in own:
                yield name
            case ast.keyword(arg=str(name)):
                yield f"{name}="


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def words_in(text: str) -> set[str]:
    """Return the words of a text, and as `dim=` those that an equals sign follows."""
    words = set(re.findall(r"\w+", text))
    return words | {f"{word}=" for word in re.findall(r"(\w+)\s*=", text)}


def syntax_in(tree: ast.AST) -> set[type]:
    return {type(node) for node in ast.walk(tree)} & set(SYNTAX)


def code_in(text: str) -> ast.AST:
    """Parse the code cells of a text that are complete without solutions."""
    cells = [cell.partition("\n")[2] for cell in text.split("# %%")]
    return ast.Module([node for cell in cells for node in _statements(cell)], [])


def _statements(cell: str) -> list[ast.stmt]:
    try:
        return ast.parse(cell).body
    except SyntaxError:  # a function had nothing but the solution, or the cell is no code
        return []


def test_what_a_solution_uses_is_shown_before(lesson):
    names = lesson_names()
    earlier = shown_in([Lesson(name) for name in takewhile(lambda n: n != lesson.name, names)])
    known = words_in(earlier) | {*dir(builtins)}
    for before, solution in solutions_of(lesson):
        assert {*names_in(solution)} - known - words_in(before) == set()
        new = syntax_in(solution)
        assert not new or new <= syntax_in(code_in(earlier + before))
