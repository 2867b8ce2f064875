"""The table of known mistakes: is each one rejected and named? Does every alternative pass?

The author's sentence about a mistake is printed beside what the check would say without knowing
it: a mistake that a rule explains as well needs no entry.
"""

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from autograder.asking.question import Question
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Variant
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import LessonReference

MARGIN, BETWEEN = "      ", " │ "
LEAST_WIDTH = 30  # smallest width of a column


@dataclass(frozen=True)
class VariantVerdict:
    """The check's verdict on one mistake or alternative.

    shared: whether another mistake has the same sentence.
    unknown: what the check would say if it did not know the mistake.
    """

    exercise: str
    kind: str
    name: str
    verdict: Verdict
    shared: bool = False
    unknown: str = ""

    @property
    def good(self) -> bool:
        """Whether an alternative has full points, or a mistake is rejected and named."""
        if self.kind == "alternative":
            return self.verdict.passed
        return not self.verdict.passed and (self.exact or self.shared)

    @property
    def exact(self) -> bool:
        """Whether the check names this very mistake."""
        return self.verdict.mistake == self.name

    @property
    def words(self) -> str:
        if self.kind == "alternative":
            return "full points" if self.verdict.passed else f"REFUSED: {self.verdict.sentence}"
        if self.verdict.passed:
            return "PASSES UNSEEN"
        return "named" if self.exact else "shares its words" if self.shared else "NOT NAMED"


def outcomes(lesson: Lesson, reference: LessonReference) -> list[VariantVerdict]:
    """Judge every mistake and alternative in a lesson by its reference."""
    return [
        outcome
        for name in reference.keys
        for outcome in _exercise_outcomes(lesson, reference.questions[name], reference.keys[name])
    ]


def _exercise_outcomes(lesson: Lesson, question: Question, key: AnswerKey) -> list[VariantVerdict]:
    name = question.exercise
    exercise = lesson.asked[name]
    known = lesson.mistakes(exercise)
    said = Counter(mistake.say for mistake in known)
    shared = {mistake.name for mistake in known if said[mistake.say] > 1}
    asked: list[tuple[str, Variant]] = [
        *(("mistake", variant) for mistake in known for variant in mistake.variants),
        *(("alternative", alternative) for alternative in exercise.alternatives),
    ]
    rows = []
    for kind, variant in asked:
        function = lesson.namespace({name: variant})[name]
        verdict = judge_answer(function, question, key)
        row = VariantVerdict(name, kind, variant.name, verdict, variant.name in shared)
        if kind == "mistake":
            others = replace(key, mistakes=[m for m in key.mistakes if m.name != variant.name])
            row = replace(row, unknown=judge_answer(function, question, others).sentence)
        rows.append(row)
    return rows


def print_table(title: str, rows: list[VariantVerdict]) -> None:
    print(f"\n{title}")
    for row in rows:
        points = f"{row.verdict.points}/{row.verdict.max_points}"
        print(f"  {row.exercise:<18} {row.kind:<12} {row.name:<36} {points:>5}  {row.words}")
        if row.kind == "mistake":
            print(*_side_by_side(row.verdict.sentence, row.unknown), sep="\n")
    mistakes = [row for row in rows if row.kind == "mistake"]
    exact = sum(row.exact for row in mistakes)
    passed = sum(row.good for row in rows if row.kind == "alternative")
    print(
        f"  {len(mistakes)} mistakes, {exact} named exactly, "
        f"{sum(row.good for row in mistakes) - exact} by words that they share; "
        f"{passed} of {len(rows) - len(mistakes)} alternatives at full points"
    )


def _side_by_side(said: str, unknown: str) -> Iterator[str]:
    """Yield the lines of a mistake's two sentences in two columns, as wide as the terminal."""
    room = shutil.get_terminal_size().columns - len(MARGIN + BETWEEN)
    width = max(room // 2, LEAST_WIDTH)
    columns = (textwrap.wrap(text, width) for text in (said, unknown))
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"{MARGIN}{left:<{width}}{BETWEEN}{right}".rstrip()
