"""Check answers that once fell short: wrong ones that passed, or that were told something wrong."""

import linecache
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache

import pytest

from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Rewrite, Variant
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find
from tests.support.sharing import marks

STEP = 3  # `make test` tries each exercise with every third
PASSES, REJECTED = "passes", "rejected"
Row = tuple[str, Rewrite, str]  # what an answer does, its code, and one of the ids that it gets
CELL_BEGINS = ("def ", "class ", "@", "from ", "import ")  # of an answer that is a whole cell


def each(answers: Mapping[str, Iterable[Row]]) -> pytest.MarkDecorator:
    """Run a test with each of the answers, which are listed by exercise."""
    rows = [
        pytest.param(exercise, code, expected, id=f"{exercise}: {does}", marks=marks(number, STEP))
        for exercise, tried in answers.items()
        for number, (does, code, expected) in enumerate(tried)
    ]
    return pytest.mark.parametrize(("exercise", "code", "expected"), rows)


def said(exercise: str, code: Rewrite) -> set[str]:
    """Return what an answer gets: `PASSES`, or `REJECTED` and the ids of what its card rests on.

    code: a body for the exercise's solution, replacements in its cell, or a whole cell.
    """
    verdict = verdict_on(exercise, code)
    return {PASSES} if verdict.passed else {REJECTED, verdict.mistake, *verdict.rules}


def verdict_on(exercise: str, code: Rewrite) -> Verdict:
    reference = find(exercise)
    answer = _answer(_lesson(reference.lesson), exercise, code)
    return judge_answer(answer, reference.questions[exercise], reference.keys[exercise])


def _answer(lesson: Lesson, exercise: str, code: Rewrite) -> Callable:
    cell = _edited(lesson.solutions[exercise], code) if isinstance(code, dict) else code
    cell = textwrap.dedent(cell).lstrip("\n")
    if isinstance(code, str) and not cell.startswith(CELL_BEGINS):
        return lesson.namespace({exercise: Variant(exercise, code)})[exercise]
    name = "<answer>"  # its lines can be named
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    namespace = lesson.namespace()
    exec(compile(cell, name, "exec"), namespace)
    return namespace[exercise]


def _edited(cell: str, edits: dict[str, str]) -> str:
    """Replace each piece wherever it is."""
    for old, new in edits.items():
        assert old in cell, f"there is no {old!r}"
        cell = cell.replace(old, new)
    return cell


_lesson = cache(Lesson)
