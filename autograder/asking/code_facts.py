"""What the bytecode of an answer shows: where it loses gradients, what it never uses."""

import dis
import inspect
import linecache
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import CodeType
from typing import Any

from autograder.asking.learners_code import codes_of, names_beside, names_used, written_function
from autograder.asking.problem import Instead, Place

# Names whose use ends the path of the gradient.
CUTS = {
    "tensor": Instead.COPY,
    "as_tensor": Instead.COPY,
    "detach": Instead.OTHER,
    "data": Instead.OTHER,
    "item": Instead.OTHER,
    "tolist": Instead.OTHER,
    "numpy": Instead.OTHER,
    "no_grad": Instead.OTHER,
    "exp": Instead.MATH,
}
STUB_BEGINS = "# YOUR CODE HERE"  # nbgrader's comment, in the place of a solution
LOADS_NAME = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL"}


def cut_in(answer: Callable[..., Any]) -> tuple[Place | None, Instead]:
    """Return the only line of an answer that ends the path of the gradient, and how it does.

    If several do, it is the one that uses Python's `math`. If none does, it may be one of the
    notebook's functions that the answer uses. There is none if it isn't known which.
    """
    place, how = _own_cut(answer)
    if place or _cuts(answer):
        return place, how
    beside = names_beside(answer)
    used = {name: beside[name] for name in names_used(answer) & beside.keys()}
    own = getattr(answer, "__module__", None)
    cutting = [n for n, v in used.items() if getattr(v, "__module__", "") == own and _cuts(v)]
    if len(cutting) != 1:
        return None, Instead.OTHER
    [name] = cutting
    place, how = _own_cut(used[name])
    return place and replace(place, function=name), how


def _own_cut(answer: Callable[..., Any]) -> tuple[Place | None, Instead]:
    found = _cuts(answer)
    by_math = {where: how for where, how in found.items() if how == Instead.MATH}
    if len(by_math or found) != 1:
        return None, Instead.OTHER
    [((file, number), how)] = (by_math or found).items()
    return Place(number, linecache.getline(file, number).strip()), how


def _cuts(answer: Any) -> dict[tuple[str, int], Instead]:
    """Return the lines of a function or class that end the path of the gradient, and how."""
    return {
        (code.co_filename, step.positions.lineno): CUTS[step.argval]
        for code in codes_of(answer)
        for before, step in pairwise(dis.get_instructions(code))
        if step.opname in LOADS_NAME and step.argval in CUTS
        if CUTS[step.argval] != Instead.MATH or before.argval == "math"
        if step.positions and step.positions.lineno
        if step.positions.lineno not in _only_kept(code)
    }


def _only_kept(code: CodeType) -> set[int | None]:
    """Return the lines that end by storing an attribute which the code never reads."""
    steps = list(dis.get_instructions(code))
    read = {step.argval for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    stored = (step for step in steps if step.opname == "STORE_ATTR" and step.argval not in read)
    return {step.positions.lineno for step in stored if step.positions}


def _code_of(answer: Callable[..., Any]) -> CodeType | None:
    """Return the code of what the learner wrote, if it is Python's."""
    code = getattr(inspect.unwrap(written_function(answer)), "__code__", None)
    return code if isinstance(code, CodeType) else None


def unused_arguments(answer: Callable[..., Any]) -> tuple[str, ...]:
    """Return the arguments that a function, or a module's forward, never reads."""
    code = _code_of(answer)
    if not code:
        return ()
    count = code.co_argcount + code.co_kwonlyargcount
    arguments = [name for name in code.co_varnames[:count] if name != "self"]
    return tuple(name for name in arguments if name not in _read(code))


def reordered_arguments(answer: Callable[..., Any], names: list[str]) -> tuple[str, ...]:
    """Return the names of arguments as they are passed, if a function takes them in another order.

    Otherwise ().
    """
    code = _code_of(answer)
    if not code:
        return ()
    taken = [name for name in code.co_varnames[: code.co_argcount] if name in names]
    return tuple(names) if taken != names and sorted(taken) == sorted(names) else ()


def returns_something(answer: Callable[..., Any]) -> bool:
    """Whether a function, or a module's forward, has a `return` with a value."""
    code = _code_of(answer)
    if not code:
        return False
    steps = list(dis.get_instructions(code))
    constants = any(step.opname == "RETURN_CONST" and step.argval is not None for step in steps)
    nothing = ("LOAD_CONST", None)
    return constants or any(
        step.opname == "RETURN_VALUE" and (before.opname, before.argval) != nothing
        for before, step in pairwise(steps)
    )


def first_arguments(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the name of a method's first argument as it is written; () if it has none."""
    code: CodeType = inspect.unwrap(method).__code__
    return code.co_varnames[: min(code.co_argcount, 1)]


def stub_is_below(code: CodeType, raised_at: int) -> bool:
    """Whether a function does anything before it raises, below the lines that a lesson gave it."""
    given = code.co_firstlineno
    for line in range(given, raised_at):
        if linecache.getline(code.co_filename, line).strip() == STUB_BEGINS:
            given = line
    return any(given < line < raised_at for _, _, line in code.co_lines() if line)


def _read(code: CodeType) -> set[str]:
    """Return the local names that a function reads, or shares with functions inside it."""
    loads = {line.argval for line in dis.get_instructions(code) if "LOAD_FAST" in line.opname}
    names = {n for value in loads for n in (value if isinstance(value, tuple) else (value,))}
    return names | {*code.co_cellvars}
