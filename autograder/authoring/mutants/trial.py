"""Try mutants: what does the check say about each?"""

import ast
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from autograder.asking.collect import collect
from autograder.asking.question import Question
from autograder.authoring.mutants.around import mutants_around
from autograder.authoring.mutants.mutant import Mutant
from autograder.authoring.mutants.of_python import given_mutants, python_mutants
from autograder.authoring.mutants.of_tensors import (
    einsum_mutants,
    in_place_mutants,
    name_mutants,
    pattern_mutants,
)
from autograder.building.drawing import input_dims
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson
from autograder.lessons.rewriting import rewrite
from autograder.notebook.ask_and_judge import judge_answer

PATIENCE = 10  # how many times as long as the solution a mutant may take
LEAST_SECONDS = 2.0


@dataclass(frozen=True)
class TriedMutant:
    """A mutant, by its label, and what the check said about it."""

    label: str
    verdict: Verdict


def try_mutants(
    lesson: Lesson, exercise: Exercise, question: Question, key: AnswerKey, share: slice
) -> Iterator[TriedMutant]:
    """Check a share of the mutants as learners' answers are checked, with a time limit for each.

    Exercises that train a model are left out: they are judged by how well the model does, and each
    check takes seconds. Exercises with a trial, such as drawing many times, are quick enough.
    """
    if any(case.most_error for case in key.cases) and not question.trial:
        return
    rest = lesson.namespace()
    needed = _processor_seconds(lambda: collect(rest[exercise.name], question))
    question = replace(question, seconds=max(LEAST_SECONDS, PATIENCE * needed))
    for mutant in mutants_of(lesson, exercise, question, key)[share]:
        namespace = dict(rest)
        try:
            with warnings.catch_warnings(action="ignore"):
                code = compile(mutant.source, "<mutant>", "exec", dont_inherit=True)
            exec(code, namespace)
        except Exception:
            continue  # a learner would see the error and have nothing to check
        yield TriedMutant(mutant.label, judge_answer(namespace[exercise.name], question, key))


def mutants_of(
    lesson: Lesson, exercise: Exercise, question: Question, key: AnswerKey
) -> list[Mutant]:
    """List the mutants of an exercise's solution and of its alternatives, without duplicates.

    A line that an alternative has in common with the solution is mutated only there.
    """
    solution = lesson.solutions[exercise.name]
    others = {v.name: rewrite(solution, v) for v in exercise.alternatives}
    known = {_code(source) for source in (solution, *others.values())}
    found: list[Mutant] = []
    labels: Counter[str] = Counter()
    dims = input_dims(lesson.namespace()[exercise.name])
    for mutant in _all(solution, others, mutants_around(solution, question, key, dims)):
        code = _code(mutant.source)
        if code and code not in known:
            known.add(code)
            labels[mutant.label] += 1
            found.append(replace(mutant, number=labels[mutant.label]))
    return found


def _processor_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _all(solution: str, others: dict[str, str], around: Iterator[Mutant]) -> Iterator[Mutant]:
    yield from _within(solution)
    yield from around
    lines = set(solution.splitlines())
    for name, other in others.items():
        for mutant in _within(other):
            if _first_change(other, mutant) not in lines:
                yield replace(mutant, of=name)


def _within(source: str) -> Iterator[Mutant]:
    yield from python_mutants(source)
    yield from pattern_mutants(source)
    yield from einsum_mutants(source)
    yield from name_mutants(source)
    yield from in_place_mutants(source)
    yield from given_mutants(source)


def _first_change(source: str, mutant: Mutant) -> str:
    """Return the first line that a mutant changes."""
    pairs = zip(source.splitlines(), mutant.source.splitlines(), strict=False)
    return next((before for before, after in pairs if before != after), "")


def _code(source: str) -> str:
    """Return a cell's code without its layout; "" if it is not valid Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""
