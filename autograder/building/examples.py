"""The example in an exercise's docstring has to be true on every learner's machine."""

import doctest
import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from autograder.errors import AuthoringError
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
