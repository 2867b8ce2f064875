"""The example in an exercise's docstring: it has to be true, and it is one of the cases."""

import doctest
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isfunction, signature
from typing import Any

import torch

from autograder.errors import AuthoringError
from autograder.judging.verdict import Plain
from autograder.lessons.lesson import Lesson

WIDER = torch.float64  # if its results print differently, they depend on rounding
DTYPE = re.compile(r",\s+dtype=torch\.float\d+")


class AnyFloat(doctest.OutputChecker):
    """Compares output without the dtype of float tensors."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, DTYPE.sub("", got), optionflags)


def require_true_examples(lesson: Lesson, exercise: str) -> None:
    """Run the example in float32 and in float64, which both must print what it says.

    Raises AuthoringError.
    """
    for dtype in (torch.float32, WIDER):
        with _default_dtype(dtype):
            _run(lesson, exercise, dtype)


def _run(lesson: Lesson, exercise: str, dtype: torch.dtype) -> None:
    namespace = {**lesson.namespace(), "torch": torch}
    docstring = namespace[exercise].__doc__ or ""
    test = doctest.DocTestParser().get_doctest(docstring, namespace, exercise, None, 0)
    if not test.examples:
        raise AuthoringError(f"the exercise {exercise} has no example in its docstring")
    said: list[str] = []
    runner = doctest.DocTestRunner(AnyFloat(), optionflags=doctest.NORMALIZE_WHITESPACE)
    if runner.run(test, out=said.append).failed:
        raise AuthoringError(f"the example of {exercise} is not true in {dtype}:\n{''.join(said)}")


def example_arguments(solution: Callable, namespace: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of the first call of a function in its docstring's example.

    namespace: the lesson's. None if the example builds a class, passes more than tensors and plain
    values, or draws random numbers, which nobody could repeat.
    """
    if not isfunction(solution):
        return None
    said = doctest.DocTestParser().get_examples(solution.__doc__ or "")
    calls: list[dict[str, Any]] = []
    random_state = torch.get_rng_state()

    def note(*values: Any, **named: Any) -> None:
        bound = signature(solution).bind(*values, **named)
        given = {*bound.arguments}
        bound.apply_defaults()
        names = [*bound.arguments]
        while names and names[-1] not in given:
            names.pop()
        calls.append({name: bound.arguments[name] for name in names})
        raise StopIteration

    try:
        around = {**namespace, "torch": torch, solution.__name__: note}
        for example in said:
            exec(example.source, around)
    except StopIteration:
        is_drawn = not torch.equal(random_state, torch.get_rng_state())
        is_plain = all(isinstance(value, Plain) for value in calls[0].values())
        return calls[0] if is_plain and not is_drawn else None
    return None


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    torch.set_printoptions(precision=4, sci_mode=False)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
        torch.set_printoptions(profile="default")
