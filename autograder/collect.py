"""Collect: call a learner's function on the cases of a question, and note what came back.

This half runs where the learner's code runs. It knows no expected value. Whatever the code does
(raise, loop, print, return something else) ends as an `Answer`.
"""

import contextlib
import inspect
import linecache
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from autograder.answer import LONGEST_TEXT, Answer, Problem
from autograder.guard import (
    Deadline,
    Forbid,
    ForbiddenCall,
    OutOfTime,
    same_randomness,
    silence,
    time_limit,
)
from autograder.question import Question

MOST_ELEMENTS = 1_000_000
HERE = Path(__file__).parent
TORCH = Path(torch.__file__).parent


class WrongResult(Exception):
    """What came back is not what the question asks for; holds the Problem."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(kind, detail)


def collect(function: Callable, question: Question) -> list[Answer]:
    """One answer for each call of the question."""
    deadline = Deadline(question.seconds)
    answers: list[Answer] = []
    for call in question.calls:
        answers.append(_collect_call(function, question, call, deadline))
        problem = answers[-1].problem
        if problem and problem.kind in ("time", "not answered"):
            rest = len(question.calls) - len(answers)
            return answers + [Answer(problem=problem)] * rest
    return answers


def _collect_call(
    function: Callable, question: Question, call: dict[str, Any], deadline: Deadline
) -> Answer:
    arguments = {name: _copy(value) for name, value in call.items()}
    tensors, problem = {}, None
    with silence() as printed:
        try:
            _require_arguments(function, arguments)
            with same_randomness(), _forbid(question.forbidden), time_limit(deadline.left):
                result = function(*arguments.values())
            tensors = _named_tensors(result, question.returns)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problem = _problem(error, question)
    changed = tuple(name for name, value in call.items() if not _same(value, arguments[name]))
    return Answer(tensors, problem, changed, printed.lines)


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _same(before: Any, after: Any) -> bool:
    return not isinstance(before, Tensor) or torch.equal(before, after)


def _forbid(names: list[str]) -> contextlib.AbstractContextManager:
    return Forbid(names) if names else contextlib.nullcontext()


def _require_arguments(function: Callable, arguments: dict[str, Any]) -> None:
    """Raises WrongResult when the function does not take these arguments by position."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins have none
        return
    try:
        signature.bind(*arguments.values())
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise WrongResult(
            "arguments", f"({takes}), and is called with ({', '.join(arguments)})"
        ) from error


def _named_tensors(result: Any, names: list[str]) -> dict[str, Tensor]:
    """The result's tensors by name. Raises WrongResult when there are others or none."""
    if len(names) == 1:
        return {names[0]: _tensor(result, "")}
    wanted = f"({', '.join(names)})"
    if not isinstance(result, tuple | list):
        raise WrongResult("count", f"{_describe(result)} in the place of {wanted}")
    if len(result) != len(names):
        raise WrongResult("count", f"{len(result)} things in the place of {wanted}")
    return {name: _tensor(value, name) for name, value in zip(names, result, strict=True)}


def _tensor(value: Any, name: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise WrongResult("type", f"{_describe(value)}{f' for {name}' if name else ''}")
    if value.layout is not torch.strided:
        raise WrongResult("type", f"a sparse tensor{f' for {name}' if name else ''}")
    if value.numel() > MOST_ELEMENTS:
        raise WrongResult("size", f"{tuple(value.shape)}")
    return value.detach().cpu().clone()


def _describe(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    if kind.__module__ == "numpy":
        return "a numpy array" if kind.__name__ == "ndarray" else f"a numpy {kind.__name__}"
    article = "an" if kind.__name__[0] in "aeiou" else "a"
    return f"{article} {kind.__name__}"


def _problem(error: BaseException, question: Question) -> Problem:
    match error:
        case WrongResult():
            return error.problem
        case NotImplementedError():
            return Problem("not answered", _raised_in(error) or question.exercise)
        case OutOfTime():
            return Problem("time", f"{question.seconds:g}", _where(error))
        case RecursionError():
            return Problem("recursion")
        case MemoryError():
            return Problem("memory", "", _where(error))
        case ForbiddenCall():
            return Problem("forbidden", str(error), _where(error))
    text = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    return Problem("raised", text[:LONGEST_TEXT], _where(error))


def _learner_frames(error: BaseException) -> list[tuple[CodeType, int]]:
    """Code and line of the traceback's frames that are neither ours nor torch's."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return [(code, line) for code, line in frames if not _is_library(Path(code.co_filename))]


def _is_library(path: Path) -> bool:
    return path.is_relative_to(HERE) or path.is_relative_to(TORCH)


def _raised_in(error: BaseException) -> str:
    """Name of the function or class of the learner's that raised."""
    frames = _learner_frames(error)
    return frames[-1][0].co_qualname.split(".")[0] if frames else ""


def _where(error: BaseException) -> str:
    frames = _learner_frames(error)
    if not frames:
        return ""
    code, number = frames[-1]
    line = linecache.getline(code.co_filename, number).strip()
    return f"line {number}: {line}"[:LONGEST_TEXT].removesuffix(": ")
