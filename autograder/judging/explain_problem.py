"""Sentences for calls that returned no tensors."""

import re

from autograder.asking.answer import Problem
from autograder.judging.explain_error import explain_error

# By what a call has changed for all code that runs after it.
SETTINGS = {
    "gradients": (
        "After the call, gradients are still switched off. Use `with torch.no_grad():`, which "
        "switches them on again where it ends."
    ),
    "dtype": (
        "The call changes torch's default dtype for the whole notebook. Give the tensors that you "
        "make their own: `dtype=x.dtype`."
    ),
    "seed": (
        "The call sets torch's seed, so the notebook draws the same random numbers after each "
        "call. Leave `manual_seed` to the caller."
    ),
}


ITEM = " `.item()` turns a tensor into one."
RETURNED = {
    "type",
    "plain",
    "module",
    "count",
    "choice",
    "keys",
}  # kinds in which something came back


def explain_problem(problem: Problem, exercise: str, sizes: dict[str, int] | None = None) -> str:
    """Explain, in a sentence or two, why a call returned nothing to compare.

    sizes: the size of each named dimension in the case.
    """
    detail = problem.detail
    match problem.kind:
        case "not answered" if detail == exercise:
            return f"`{exercise}` is not answered yet. Replace `raise NotImplementedError()`."
        case "not answered":
            return (
                f"`{exercise}` uses `{detail}`, which is not answered yet: write `{detail}` first."
            )
        case "arguments":
            return f"`{exercise}` takes {detail}. Restore the arguments of the first line."
        case "type":
            return f"`{exercise}` returned {detail}; it should return a torch tensor." + _cure(
                detail
            )
        case "plain":
            return (
                f"`{exercise}` returned {detail}; it should return a plain number (or a plain True "
                "or False)." + (_cure(detail) if detail.startswith("None") else ITEM)
            )
        case "module":
            return f"`{exercise}` returned {detail}; it should return a module." + _cure(detail)
        case "choice" | "keys":
            return f"`{exercise}` returned {detail}."
        case "same parameter":
            return (
                f"{detail}: one parameter has two names. Is a module in a list more than once, as "
                "in `[head] * n_heads`, or shared by two parts? Make a new one for each place."
            )
        case "shared":
            return f"{detail}: change one and the other changes. Copy the numbers, with `copy_`."
        case "method":
            return f"`{exercise}` should have a method `{detail}`; there is none."
        case "class":
            return f"`{exercise}` should be a class that inherits from `nn.Module`; it is {detail}."
        case "constructor":
            return f"The constructor of `{exercise}` takes {detail}. Restore its first line."
        case "parameters":
            return f"The parameters don't match: `{exercise}` {detail}."
        case "parameter shape":
            return f"In `{exercise}` the parameter {detail}."
        case "attribute":
            return f"`{exercise}` should keep `self.{detail}`; after the call there is none."
        case "attached":
            return (
                f"`self.{detail}` still holds the graph, and with it the memory of the call. "
                f"Keep `{detail}.detach()`."
            )
        case "graph":
            return (
                f"`{exercise}` returned a tensor that holds the graph of all it was made from. "
                "Return a number: `.item()` gives it."
            )
        case "mode":
            return (
                f"The call leaves the model in {detail} mode, and found it in the other. Save "
                "`self.training` first, and restore it with `self.train(…)`."
            )
        case "part's mode":
            return (
                f"The call changes whether `{detail}` is in train or in evaluation mode. Leave "
                "that to whoever calls `train()` and `eval()`."
            )
        case "setting":
            return SETTINGS.get(detail, "The call changes a setting of torch.")
        case "requires gradients":
            return f"The call makes its input `{detail}` require gradients. Leave it as it was."
        case "frozen":
            return (
                f"After the call, the parameter `{detail}` can't be trained: it no longer requires "
                "gradients, or is no longer a parameter of its own but the result of a "
                "computation. Copy into it under `torch.no_grad()`, and change nothing else."
            )
        case "parameter changed":
            return (
                f"The call changes the parameter `{detail}`, so the next call gives another "
                "answer. Only an optimizer should change parameters."
            )
        case "detached":
            return (
                f"No gradient flows back from `{detail}`. Is there a `detach()`, `.data`, "
                "`.item()`, `torch.tensor(…)`, NumPy or `no_grad` on the way?"
            )
        case "nan on the way":
            return (
                f"The gradient is right in the end, but on the way back `{detail}` makes a NaN, "
                "which a later step wipes away. Don't let NaN arise at all."
            )
        case "count":
            return f"`{exercise}` returned {detail}. Return them together, in this order."
        case "size":
            return (
                f"`{exercise}` returned a tensor of shape {detail}, far too large for this input."
            )
        case "forbidden":
            return (
                f"Write `{exercise}` yourself in this exercise, without torch's `{detail}`."
                + _at(problem)
            )
        case "time":
            return f"No answer after {detail} seconds of computing: does a loop never end?" + _at(
                problem
            )
        case "waiting":
            return (
                f"No answer after {detail} seconds, most of them spent waiting: does the code "
                "sleep, or ask for input?" + _at(problem)
            )
        case "recursion":
            return f"`{exercise}` calls itself without end."
        case "memory":
            return "The computer's memory ran out: is a tensor far larger than its input?" + _at(
                problem
            )
        case "raised" if _is_own_raise(problem):
            return (
                f"Your own `raise` stopped the code, but these sizes are fine.{_at(problem)} Is "
                "its condition the wrong way around?"
            )
        case "raised":
            ours = explain_error(detail, sizes or {})
            theirs = f"The code stopped with {detail}." + _at(problem)
            return f"{ours} {theirs}" if ours else theirs
        case "undefined":
            return (
                f"There is no `{exercise}`: the cell that should define it did not run to its end."
            )
        case "check timed out" | "check waited":
            return f"The check of `{exercise}` took too long: {detail}."
        case "not run":
            return f"The check of `{exercise}` did not run: {detail.rstrip('.')}."
        case "not judged":
            return f"The answer to `{exercise}` could not be judged ({detail})."
        case "unreadable":
            return f"What came in for `{exercise}` can't be read as an answer ({detail})."
    return f"No answer came in for `{exercise}`: its check did not run to the end."


def explain_no_error(problem: Problem | None, exercise: str, error: str) -> str:
    """Explain what happened where an exception was the right answer."""
    should = f"`{exercise}` should raise {error} here"
    if problem is None or problem.kind in RETURNED:
        given = problem.detail if problem else ""
        return f"{should}; it " + (f"returned {given}." if given else "raised nothing.")
    if problem.kind != "raised":
        return explain_problem(problem, exercise)
    if problem.detail.startswith("AssertionError"):
        return f"{should}, and `assert` raises AssertionError: write `if …: raise {error}(…)`."
    return f"{should}. The code stopped with {problem.detail}." + _at(problem)


def explain_borrowed(names: tuple[str, ...]) -> str:
    """Say that an answer reads variables of the notebook."""
    name = names[0].removeprefix("self.")
    if names[0] != name:
        return f"The code reads the notebook's `{name}`, not the module's own: `self.{name}`."
    return f"The code reads the notebook's `{name}`, the same for every call. Use the argument."


def is_explained(problem: Problem) -> bool:
    """Whether `explain_problem` says more than the exception's own message."""
    if problem.kind != "raised" or _is_own_raise(problem):
        return True
    return explain_error(problem.detail, {}) is not None


def _is_own_raise(problem: Problem) -> bool:
    """Whether a `raise` in the answer itself ended it."""
    return bool(re.match(r"line \d+: raise ", problem.where))


def _cure(detail: str) -> str:
    if detail.startswith("None"):
        return " Is a `return` missing?"
    if detail.startswith("a numpy"):
        return " `torch.from_numpy` makes one."
    if detail.startswith("a tuple"):
        return " Return only the one that the exercise asks for."
    if detail.startswith("a list of tensors"):
        return " `torch.stack` makes one tensor of them, and keeps their gradients."
    if detail.startswith("a list of numbers"):
        return " `torch.tensor` makes one of them."
    return ""


def _at(problem: Problem) -> str:
    if not problem.where:
        return ""
    at = "" if problem.where.startswith("in ") else "at "
    return f" It happened {at}{problem.where.rstrip(':')}."
