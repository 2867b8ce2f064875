"""Judge an answer as a learner's notebook does, from edits of the solution or a cell of its own."""

import linecache

from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

PASSES = "passes"


def edited(lesson: Lesson, exercise: str, code: dict[str, str] | str) -> str:
    """Return a cell: the solution's with each piece replaced wherever it is, or another one."""
    if isinstance(code, str):
        return code
    cell = lesson.solutions[exercise]
    for old, new in code.items():
        assert old in cell, f"{exercise} has no {old!r}"
        cell = cell.replace(old, new)
    return cell


def judged(lesson: Lesson, exercise: str, code: dict[str, str] | str) -> Verdict:
    """Run a cell in the lesson, and judge what it defines."""
    cell, name = edited(lesson, exercise, code), "<answer>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    namespace = lesson.namespace()
    exec(compile(cell, name, "exec"), namespace)
    reference = find(exercise)
    return judge_answer(
        namespace[exercise], reference.questions[exercise], reference.keys[exercise]
    )


def told(verdict: Verdict) -> str:
    """Return what a verdict rests on: `PASSES`, a known mistake's name, or the first rule's id."""
    return PASSES if verdict.passed else verdict.mistake or str(verdict.rules[0])
