"""A mutant, and how to replace a node of the solution by other code."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.lessons.cells import region

# The nodes that have a position in the code.
Located = ast.stmt | ast.expr | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern


@dataclass(frozen=True)
class Mutant:
    """An exercise cell with one fault.

    rule: the kind of fault.
    change: what is changed, in code.
    of: the alternative that has the fault; "" if it is the solution.
    number: tells apart mutants with the same rule and change.
    """

    rule: str
    change: str
    source: str
    of: str = ""
    number: int = 1

    @property
    def label(self) -> str:
        """The name by which an exercise excuses the mutant."""
        ordinal = f" ({self.number})" if self.number > 1 else ""
        owner = f"{self.of} / " if self.of else ""
        return " ".join(f"{owner}{self.rule}: {self.change}{ordinal}".split())


def region_nodes(source: str) -> Iterator[Located]:
    """Yield the nodes in a cell's solution region that have an effect when it runs.

    Leaves out annotations, what is raised, f-strings, and `strict=`.
    """
    match = region(source)
    first = source.count("\n", 0, match.start("body")) + 1
    last = source.count("\n", 0, match.end("body"))
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.keyword) and node.arg == "strict":
            continue
        if not isinstance(node, ast.JoinedStr | ast.Raise | ast.arg):
            skipped = getattr(node, "returns", None)
            todo += reversed(
                [child for child in ast.iter_child_nodes(node) if child is not skipped]
            )
        if isinstance(node, Located) and first <= node.lineno and _end(node)[0] <= last:
            yield node


def replaced(source: str, node: Located, new: ast.AST) -> str:
    """Return the source with one node replaced by another."""
    lines = source.encode().splitlines(keepends=True)
    last_line, column = _end(node)
    begin = sum(len(line) for line in lines[: node.lineno - 1]) + node.col_offset
    end = sum(len(line) for line in lines[: last_line - 1]) + column
    code = ast.unparse(new).replace("\n", "\n" + " " * node.col_offset)
    if isinstance(new, ast.expr):
        code = f"({code})"
    data = source.encode()
    return (data[:begin] + code.encode() + data[end:]).decode()


def _end(node: Located) -> tuple[int, int]:
    """Return the last line of a parsed node, and the column after it."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset
