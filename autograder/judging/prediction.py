"""What a learner guesses before running a cell. Predictions are never graded."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
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

    def chosen(self, answer: Any) -> str:
        """Return the choice that a letter, or some of its words, stand for. Raises CourseError."""
        said = _plain(answer) if isinstance(answer, str) else ""
        if said in self.letters:
            return self.letters[said]
        words = re.compile(rf"(?<!\w){re.escape(said)}(?!\w)")
        meant = [choice for choice in self.choices if said and words.search(_plain(choice))]
        same = [choice for choice in self.choices if said == _plain(choice)]
        if len(same or meant) != 1:
            fits = "fits several" if meant else "is none"
            there = "; ".join(f'"{letter}" ({choice})' for letter, choice in self.letters.items())
            raise CourseError(f"{_short(answer)} {fits} of the choices: {there}.")
        return (same or meant)[0]

    def is_right(self, answer: Any) -> bool:
        """Whether a choice or a number is right. Raises CourseError for anything else."""
        if isinstance(self.right, str):
            return self.chosen(answer) == self.right
        return math.isclose(self.number(answer), self.right, rel_tol=NEAR)

    def number(self, answer: Any) -> float:
        """Return the number that an answer is, in quotes or not. Raises CourseError."""
        try:
            if isinstance(answer, str):
                return float(Fraction(answer))
            if isinstance(answer, int | float) and not isinstance(answer, bool):
                return float(answer)
        except (ValueError, OverflowError, ZeroDivisionError):
            pass
        raise CourseError(
            f'{_short(answer)} is not a number to compare with: predict("{self.name}", 10), say.'
        )


def _plain(text: str) -> str:
    """Return a text in small letters, without quotation marks and space around it, and with √."""
    return re.sub(r"sqrt\(?(\w+)\)?", r"√\1", text.strip(" .\"'“”‘’").lower())


def _short(answer: Any) -> str:
    try:
        return f"{answer!r:.60}"
    except ValueError:  # an int of more digits than Python writes out
        return "That"
