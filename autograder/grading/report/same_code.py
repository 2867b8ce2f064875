"""Find submissions that share code, if there is enough of it to mean something.

Comments, formatting and docstrings never count. Variable names may differ, but then the code counts
half. Short or common answers are no evidence: two learners who both divide by a sum need not have
copied.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

FEWEST_STATEMENTS = 3  # by the learner, for an exercise to count
ENOUGH = 8  # statements in total, for a group to be reported
LONG = 12  # statements: no coincidence, however many learners wrote them
USUAL_SHARE, USUAL_COUNT = 0.25, 3
MOST_GROUPS, MOST_CANDIDATES = 20, 200
PARTS = ("letters", "shape")  # the stricter one first
NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Print:
    """An answer's code, exact and up to names, and how many statements are the learner's."""

    letters: str
    shape: str
    statements: int


@dataclass(frozen=True)
class Shared:
    """An exercise that a group answered with the same code."""

    exercise: str
    statements: int
    to_the_letter: bool

    @property
    def weight(self) -> float:
        return self.statements if self.to_the_letter else self.statements / 2


@dataclass(frozen=True)
class SameCode:
    """Students with the same code in some exercises."""

    learners: tuple[str, ...]
    shared: tuple[Shared, ...]

    @property
    def weight(self) -> float:
        return sum(shared.weight for shared in self.shared)


def same_code(prints: Mapping[str, Mapping[str, Print]]) -> list[SameCode]:
    """Find groups with the same code, the strongest evidence first.

    prints: by exercise and learner, for answers that are long enough.
    """
    writers = _count_writers(prints)
    found = [
        SameCode(tuple(sorted(who)), _shared(who, prints, writers))
        for who in _candidates(_groups(prints))
    ]
    telling = [group for group in found if group.weight >= ENOUGH]
    telling.sort(key=lambda group: (-group.weight, -len(group.learners), group.learners))
    kept: list[SameCode] = []
    for group in telling:
        if not any(set(group.learners) < set(k.learners) for k in kept if k.weight >= group.weight):
            kept.append(group)
    return kept[:MOST_GROUPS]


def code_print(source: str, stub: str = "") -> Print | None:
    """Compute the print of an answer; None if it is too short or not Python.

    stub: the released cell that it replaces.
    """
    try:
        tree = _without_words(source)
        own = _count_statements(tree) - _count_given(stub)
        if own < FEWEST_STATEMENTS:
            return None
        letters = ast.dump(tree)
        return Print(_digest(letters), _digest(ast.dump(_Renamed(tree).tree)), own)
    except NOT_PARSED:
        return None


class _Renamed(ast.NodeTransformer):
    """Numbers the names that the code itself defines, in order of appearance."""

    def __init__(self, tree: ast.AST) -> None:
        self.own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        self.own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        self.numbers: dict[str, str] = {}
        self.tree = self.visit(tree)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._number(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._number(node.arg)
        return node

    def _number(self, name: str) -> str:
        if name not in self.own:
            return name
        return self.numbers.setdefault(name, f"name {len(self.numbers)}")


def _without_words(source: str) -> ast.Module:
    """Parse the code without comments, docstrings and IPython magics."""
    lines = source.splitlines()
    tree = ast.parse("\n".join(line for line in lines if not line.startswith(("%", "!"))))
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _count_statements(tree: ast.AST) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def _count_given(stub: str) -> int:
    """Count the stub's statements that remain in an answer: all except its `raise`."""
    try:
        tree = _without_words(stub)
    except NOT_PARSED:
        return 0
    return _count_statements(tree) - sum(isinstance(node, ast.Raise) for node in ast.walk(tree))


def _digest(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()


def _groups(prints: Mapping[str, Mapping[str, Print]]) -> list[frozenset[str]]:
    """Group the learners whose answers to an exercise are alike."""
    found: dict[frozenset[str], None] = {}
    for by_learner in prints.values():
        for part in PARTS:
            alike: dict[str, set[str]] = {}
            for learner, print_ in by_learner.items():
                alike.setdefault(getattr(print_, part), set()).add(learner)
            found |= dict.fromkeys(frozenset(who) for who in alike.values() if len(who) > 1)
    return sorted(found, key=lambda who: (len(who), sorted(who)))[:MOST_CANDIDATES]


def _candidates(groups: Iterable[frozenset[str]]) -> set[frozenset[str]]:
    """Return the groups, and the learners that any two of them have in common."""
    groups = list(groups)
    both = (one & other for one, other in combinations(groups, 2))
    return set(groups) | {who for who in both if len(who) > 1}


def _shared(
    who: frozenset[str], prints: Mapping[str, Mapping[str, Print]], writers: Counter
) -> tuple[Shared, ...]:
    """List the exercises that a whole group answered alike, but not in the usual way."""
    found = []
    for exercise, by_learner in prints.items():
        theirs = [by_learner.get(learner) for learner in who]
        for part in PARTS:
            if _alike(theirs, part) and not _is_usual(
                writers[exercise, part, getattr(theirs[0], part)], len(by_learner), theirs[0]
            ):
                found.append(Shared(exercise, theirs[0].statements, part == "letters"))
                break
    return tuple(found)


def _alike(prints: list[Print | None], part: str) -> bool:
    return None not in prints and len({getattr(print_, part) for print_ in prints}) == 1


def _is_usual(writers: int, of: int, print_: Print) -> bool:
    """Whether the answer is short and so common that it is simply the way to do it."""
    return print_.statements < LONG and writers > max(USUAL_COUNT, USUAL_SHARE * of)


def _count_writers(prints: Mapping[str, Mapping[str, Print]]) -> Counter:
    """Count how many wrote the same code, by exercise, part and print."""
    return Counter(
        (exercise, part, getattr(print_, part))
        for exercise, by_learner in prints.items()
        for print_ in by_learner.values()
        for part in PARTS
    )
