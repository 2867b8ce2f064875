"""The function or class that a learner wrote, and the exercise that it answers."""

import dis
import inspect
import sys
from collections.abc import Callable, Container, Iterator
from types import CodeType
from typing import Any

from torch import Tensor, nn

from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, describe
from autograder.errors import CourseError


def exercise_name(answer: object, exercises: Container[str], caller: str = "check") -> str:
    """Return the name of the exercise that `answer` is for. Raises CourseError.

    What has another name, as a lambda has, is for the exercise whose name the notebook gave it.
    exercises: those that there are.
    """
    if isinstance(answer, str):
        raise CourseError(f"`{caller}` takes what you wrote, not its name: {caller}({answer}).")
    notebook = list(vars(sys.modules["__main__"]).items())
    given = (name for name, value in notebook if value is answer and name in exercises)
    if callable(answer) and not isinstance(answer, nn.Module) and (name := next(given, "")):
        return name
    if not (inspect.isroutine(answer) or inspect.isclass(answer)):
        raise CourseError(
            f"`{caller}` takes the function or class that you wrote for an exercise, such as "
            f"{caller}(softmax); this is {describe(answer)}."
        )
    return answer.__name__


def written_function(answer: Any) -> Callable[..., Any]:
    """Return what the learner wrote: the function, a module's forward, or a Keras layer's call."""
    called: Callable[..., Any] = getattr(answer, "call", None) or getattr(answer, "forward", answer)
    return called


def uncompiled(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return what was given to `torch.compile`, which takes a minute for a check's many sizes."""
    original: Callable[..., Any] = getattr(answer, "_torchdynamo_orig_callable", answer)
    return original


def names_beside(answer: Any) -> dict[str, Any]:
    """Return the globals of the notebook that defines an answer; {} if they are not known."""
    return getattr(inspect.unwrap(written_function(answer)), "__globals__", {})


def method_of(module: object, name: str) -> Callable[..., Any]:
    """Return a method of a learner's module. Raises WrongResult if there is none."""
    method: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(method):
        raise WrongResult(ProblemKind.METHOD, name)
    return method


def names_used(answer: Callable[..., Any]) -> set[str]:
    """Return the global names that an answer uses, directly or through other notebook code."""
    beside = names_beside(answer)
    used: set[str] = set()
    todo = [answer]
    while todo:
        codes = codes_of(todo.pop())
        new = {name for code in codes for name in _operands(code, "LOAD_GLOBAL")} - used
        used |= new
        todo += [beside[name] for name in new if name in beside]
    return used


def borrowed_names(answer: Callable[..., Any]) -> tuple[str, ...]:
    """Return the notebook's tensors and modules that an answer's own code reads, by name.

    A name that the module also has as an attribute, of whatever kind, is listed as "self.name".
    """
    beside = names_beside(answer)
    codes = list(codes_of(answer))
    own = {name for code in codes for name in _operands(code, "STORE_ATTR")}
    read = {name for code in codes for name in _operands(code, "LOAD_GLOBAL")} & beside.keys()
    found = (f"self.{name}" if name in own else name for name in sorted(read))
    return tuple(
        name
        for name in found
        if name.startswith("self.") or isinstance(beside[name], Tensor | nn.Module)
    )


def codes_of(value: Any) -> Iterator[CodeType]:
    """Yield the code objects of a function or of a class's methods, and of functions inside them.

    There are none for other values.
    """
    functions = vars(value).values() if inspect.isclass(value) else [value]
    unwrapped = (inspect.unwrap(f) for f in functions)
    todo = [f.__code__ for f in unwrapped if inspect.isfunction(f)]
    while todo:
        code = todo.pop()
        yield code
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _operands(code: CodeType, operation: str) -> Iterator[str]:
    """Yield the names that an operation is applied to."""
    return (line.argval for line in dis.get_instructions(code) if line.opname == operation)
