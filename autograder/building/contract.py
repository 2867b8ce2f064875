"""What a learner's notebook and its checks have to agree on, as a short digest.

A notebook states the digests it was made for; `notebook.contracts` compares them.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from doctest import DocTestParser

from autograder.asking.question import Question

SOLUTION = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)
HOW_CHECKED = {"calls", "seconds", "contract"}  # how it is asked, not what
DIGITS = 4  # so that a lesson's contracts fit on one line of its notebook


def contract(question: Question, source: str, raises: Iterable[str]) -> str:
    """Hash what an exercise asks for: its skeleton, the outputs that count, the exceptions.

    Cases, points, mistakes, hints and prose may change without making a notebook outdated.

    source: the exercise's cell.
    raises: names of the exceptions that are right answers.
    """
    fields = sorted(vars(question).items())
    outputs = [(name, value) for name, value in fields if value and name not in HOW_CHECKED]
    asked = [list(_skeleton(source)), outputs, sorted(set(raises))]
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:DIGITS]


def _skeleton(source: str) -> Iterator[str]:
    """Yield the signatures in an exercise's cell, and the examples in its docstrings."""
    return _parts(ast.parse(SOLUTION.sub("pass", source)))


def _parts(parent: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in parent.body:
        match node:
            case ast.FunctionDef():
                yield f"def {node.name}({_code(node.args)}) -> {_code(node.returns)}"
                yield from _examples(node)
            case ast.ClassDef():
                yield f"class {node.name}({', '.join(map(_code, node.bases))})"
                yield from _examples(node)
                yield from _parts(node)


def _examples(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for example in DocTestParser().get_examples(ast.get_docstring(node) or ""):
        yield from (example.source, example.want)


def _code(node: ast.AST | None) -> str:
    return ast.unparse(node) if node else ""
