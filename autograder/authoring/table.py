"""The table of known mistakes: is each one rejected and named? Does every alternative pass?"""

from collections import Counter
from dataclasses import dataclass

from autograder.asking.question import Question
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import LessonReference


@dataclass(frozen=True)
class Outcome:
    """The check's verdict on one mistake or alternative.

    shared: whether another mistake has the same message.
    """

    exercise: str
    kind: str
    name: str
    verdict: Verdict
    shared: bool = False

    @property
    def good(self) -> bool:
        """Whether an alternative has full marks, or a mistake is rejected and named."""
        if self.kind == "alternative":
            return self.verdict.passed
        return not self.verdict.passed and (self.verdict.mistake == self.name or self.shared)

    @property
    def words(self) -> str:
        if self.kind == "alternative":
            return "full marks" if self.verdict.passed else f"REFUSED: {self.verdict.sentence}"
        if self.verdict.passed:
            return "PASSES UNSEEN"
        exact = self.verdict.mistake == self.name
        return "named" if exact else "shares its words" if self.shared else "NOT NAMED"


def outcomes(lesson: Lesson, reference: LessonReference) -> list[Outcome]:
    """Judge every mistake and alternative of a lesson by its reference."""
    return [
        outcome
        for name in reference.keys
        for outcome in _exercise_outcomes(lesson, reference.questions[name], reference.keys[name])
    ]


def _exercise_outcomes(lesson: Lesson, question: Question, key: AnswerKey) -> list[Outcome]:
    name = question.exercise
    exercise = lesson.asked[name]
    known = lesson.mistakes(exercise)
    said = Counter(mistake.say for mistake in known)
    shared = {mistake.name for mistake in known if said[mistake.say] > 1}
    kinds = {
        "mistake": [variant for mistake in known for variant in mistake.variants],
        "alternative": exercise.alternatives,
    }
    rows = []
    for kind, variant in ((kind, variant) for kind, group in kinds.items() for variant in group):
        function = lesson.namespace({variant.of or name: variant})[name]
        verdict = judge_answer(function, question, key)
        rows.append(Outcome(name, kind, variant.name, verdict, variant.name in shared))
    return rows


def print_table(title: str, rows: list[Outcome]) -> None:
    print(f"\n{title}")
    for row in rows:
        points = f"{row.verdict.points}/{row.verdict.max_points}"
        print(f"  {row.exercise:<18} {row.kind:<12} {row.name:<36} {points:>5}  {row.words}")
    mistakes = [row for row in rows if row.kind == "mistake"]
    exact = sum(row.words == "named" for row in mistakes)
    passed = sum(row.good for row in rows if row.kind == "alternative")
    print(
        f"  {len(mistakes)} mistakes, {exact} named exactly, "
        f"{sum(row.good for row in mistakes) - exact} by words that they share; "
        f"{passed} of {len(rows) - len(mistakes)} alternatives at full marks"
    )
