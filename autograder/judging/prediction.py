"""What a learner guesses before running a cell. Predictions are never graded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from autograder.errors import CourseError

NEAR = 0.05  # how far off a number may be, as a share of it


@dataclass(frozen=True)
class Prediction:
    """A prediction that a lesson asks for: one of some choices, or a number.

    choices: by choice, what to say to learners who picked it.
    right: one of the choices, or a number.
    because: why it is that number.
    """

    name: str
    right: str | float
    choices: Mapping[str, str] = field(default_factory=dict)
    because: str = ""

    @property
    def letters(self) -> dict[str, str]:
        """The choices by letter."""
        return dict(zip(ascii_lowercase, self.choices, strict=False))

    def chosen(self, letter: Any) -> str:
        """Return the choice with a letter. Raises CourseError if there is none."""
        if not isinstance(letter, str) or letter not in self.letters:
            raise CourseError(f"{letter!r} is none of the choices: {self._call('a')}, say.")
        return self.letters[letter]

    def is_right(self, answer: Any) -> bool:
        """Whether a letter or a number is right. Raises CourseError for anything else."""
        if isinstance(self.right, str):
            return self.chosen(answer) == self.right
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            raise CourseError(f"{answer!r} is no number: {self._call(10)}, say.")
        return math.isclose(answer, self.right, rel_tol=NEAR)

    def _call(self, answer: Any) -> str:
        return f"predict({self.name!r}, {answer!r})".replace("'", '"')
