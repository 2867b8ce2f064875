"""The solution rewritten: known mistakes, and alternatives.

Imports no torch, so that a program that only reads lessons starts quickly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


class Exactly(str):
    """A solution body that is already indented."""


# Edits of the solution, {old: new}, or a new body for it. `old` must occur exactly once. If it has
# a `$X`, it is an ast-grep pattern such as "$X @ $Y" and is replaced wherever it matches, however
# formatted: `$X` matches any expression, and `$$$A` any number of arguments.
Rewrite = dict[str, str] | str


@dataclass(frozen=True)
class Variant:
    """The solution rewritten."""

    name: str
    code: Rewrite


@dataclass(frozen=True)
class Alternative(Variant):
    """A different correct solution; it must earn full points.

    excuses: why certain mutants of it are right, by the start of their label.
    """

    excuses: Mapping[str, str] = field(default_factory=dict)


class Mistake:
    """A known wrong answer: what to tell learners who give it, and code variants that make it."""

    def __init__(self, name: str, say: str, *codes: Rewrite) -> None:
        self.name, self.say = name, say
        self.variants = [Variant(name, code) for code in codes]


@dataclass(frozen=True)
class Slip:
    """A mistake that fits many solutions: a pattern for the right code, and the wrong code.

    Where the pattern matches several times, it is replaced in each place, and in all at once.
    """

    name: str
    say: str
    old: str
    new: str
