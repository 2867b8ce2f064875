"""Turn an exception into a Problem that names the line of the learner's code."""

import builtins
import linecache
import os
import traceback
from pathlib import Path
from types import CodeType

import torch
from torch import nn

from autograder.asking.clock import OutOfTime, TimeLimit
from autograder.asking.code_facts import stub_is_below
from autograder.asking.keras_layers import plain_message
from autograder.asking.problem import Place, Problem, ProblemKind, cut
from autograder.asking.question import Question
from autograder.asking.returned import WrongResult
from autograder.asking.surroundings import ForbiddenCall

HERE = Path(__file__).parents[1]
LIBRARIES = (HERE, Path(torch.__file__).parents[1], Path(os.__file__).parent)


def problem_of(error: BaseException, question: Question, limit: TimeLimit) -> Problem:
    """Describe the error that ended a call."""
    match error:
        case WrongResult():
            return error.problem
        case NotImplementedError() if not plain_message(error):  # torch's have a message
            return _stub(error, question.exercise)
        case RecursionError():
            return Problem(ProblemKind.RECURSION)
    place = _place(error, question.exercise)
    match error:
        case OutOfTime() if limit.waited:
            return Problem(ProblemKind.WAITING, f"{limit.wall_seconds:g}", place)
        case OutOfTime():
            return Problem(ProblemKind.TIME, f"{limit.seconds:g}", place)
        case MemoryError():
            return Problem(ProblemKind.MEMORY, "", place)
        case ForbiddenCall():
            return Problem(ProblemKind.FORBIDDEN, str(error), place)
    said = f"{_usual_name(error)}: {_layer(error)}{plain_message(error)}"
    text = said.strip().splitlines()[0].rstrip(":.")
    return Problem(ProblemKind.RAISED, cut(text), place)


def _usual_name(error: BaseException) -> str:
    """Return the name of an exception's class; of one of the learner's own, that of its base."""
    kinds = type(error).__mro__
    return next(kind.__name__ for kind in kinds if not _is_learners(kind))


def _is_learners(kind: type) -> bool:
    return kind.__module__ in ("__main__", "builtins") and not hasattr(builtins, kind.__name__)


def _stub(error: BaseException, exercise: str) -> Problem:
    """Say which exercise still has the stub, or has it below the answer."""
    frames = _learner_frames(error)
    name = _raised_in(error) or exercise
    if name == exercise and frames and stub_is_below(*frames[-1]):
        return Problem(ProblemKind.STUB_BELOW, name, _place(error, exercise))
    return Problem(ProblemKind.NOT_ANSWERED, name)


def _layer(error: BaseException) -> str:
    """Return "Linear(in, out): " if a linear layer raised the error, else ""."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is not nn.Linear.forward.__code__:
            continue
        layer = frame.f_locals.get("self")
        if isinstance(layer, nn.Linear):
            return f"Linear({layer.in_features}, {layer.out_features}): "
    return ""


def _learner_frames(error: BaseException) -> list[tuple[CodeType, int]]:
    """Return the code and line of each traceback frame that is neither ours nor a library's."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return [(code, line) for code, line in frames if not _is_library(Path(code.co_filename))]


def _is_library(path: Path) -> bool:
    return any(path.is_relative_to(library) for library in LIBRARIES)


def _raised_in(error: BaseException) -> str:
    """Return the name of the learner's function or class that raised."""
    frames = _learner_frames(error)
    return frames[-1][0].co_qualname.split(".")[0] if frames else ""


def _place(error: BaseException, exercise: str) -> Place | None:
    """Return the line of the learner's code that raised, if there is one."""
    frames = _learner_frames(error)
    if not frames:
        return None
    code, number = frames[-1]
    line = linecache.getline(code.co_filename, number).strip()
    owner = code.co_qualname.split(".")[0]
    elsewhere = owner.isidentifier() and owner != exercise
    return Place(number, cut(line), owner if elsewhere else "")
