"""A normalized fingerprint of an answer's code.

Comments, layout, docstrings, error messages, type annotations and IPython magics don't count.
"""

import ast
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from autograder.grading.report.value_numbering import Reader, hashed

MOST_CHARACTERS = 50_000
MOST_NODES = 5_000  # of the syntax tree; the longest of the course's own answers have 750
TOO_LONG = "more code than any answer needs"
NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Print:
    """The fingerprint of an answer's code.

    letters: a digest of the code with its names, in its order.
    meaning: a digest of what it computes, whatever the names and the order.
    statements: digests of all statements, with blanks for variables.
    """

    letters: str
    meaning: str
    statements: frozenset[str]

    def without(self, given: Collection[str]) -> "Print":
        """Return this print without the statements that everybody was given."""
        return replace(self, statements=self.statements.difference(given))


def code_print(source: str) -> Print | None:
    """Compute the print of an answer; None if that is not Python, too long or nested too deeply."""
    try:
        tree = _parsed(source)
        letters = hashed(ast.dump(tree))
        return Print(letters, _meaning(tree), _statements(tree))
    except NOT_PARSED:
        return None


def statements(*sources: str) -> frozenset[str]:
    """Return digests of the statements in some code, as in a print; none if it can't be read."""
    try:
        return frozenset().union(*(_statements(_parsed(source)) for source in sources))
    except NOT_PARSED:
        return frozenset()


def _parsed(source: str) -> ast.Module:
    """Parse code without docstrings, `pass` and magics. Raises one of `NOT_PARSED`."""
    if len(source) > MOST_CHARACTERS:
        raise ValueError(TOO_LONG)
    lines = source.splitlines()
    code = "\n".join(line for line in lines if not line.startswith(("%", "!")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warnings about the learner's code
        tree = ast.parse(code)
    for number, node in enumerate(ast.walk(tree)):
        if number == MOST_NODES:
            raise ValueError(TOO_LONG)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _says_nothing(statement)]
    return tree


def _says_nothing(statement: ast.AST) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


# Both read twice: the second time, they know what is defined below its first use.


def _meaning(tree: ast.Module) -> str:
    reader = Reader()
    reader.visit(tree)
    reader.tell_apart()
    return reader.visit(tree)


def _statements(tree: ast.Module) -> frozenset[str]:
    reader = _StatementReader()
    reader.visit(tree)
    reader.found.clear()
    reader.visit(tree)
    return frozenset(reader.found)


class _StatementReader(Reader):
    """Digests statements one by one, without their blocks. Variables are blanks, arguments are not.

    found: the digests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def block(self, statements: Sequence[ast.stmt]) -> str:
        self.found += map(self.visit, statements)
        return "block"

    def bind(self, target: ast.expr, value: str) -> str:
        return super().bind(target, "variable")

    def act_on(self, node: ast.expr, how: str) -> None:
        """Do nothing: a blank stays one."""
