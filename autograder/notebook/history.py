"""What has run in this kernel, cell by cell.

A check reads it to tell whether the answer that it is given is the one on the screen.
"""

import os
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import autograder
from autograder.asking import QUESTIONS_VARIABLE
from autograder.notebook.source import defined_names, only_calls

COURSE = {*autograder.__all__}  # what a lesson imports


@dataclass(frozen=True)
class CellFailure:
    """What stopped a cell, without the traceback, which would keep the cell's tensors alive.

    kind: the exception's name.
    said: its message.
    line: of the cell; 0 if it is not known.
    name: what a NameError is about.
    """

    kind: str
    said: str = ""
    line: int = 0
    name: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        kind = type(error).__name__
        if isinstance(error, SyntaxError):
            return cls(kind, error.msg, error.lineno or 0)
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in frames if frame.name == "<module>"), 0)
        name = error.name if isinstance(error, NameError) else ""
        return cls(kind, str(error), line or 0, name or "")


@dataclass(frozen=True)
class PastRun:
    """One run of a cell.

    cell: the cell's id; "" if the front end gives none.
    failure: what stopped it, or kept it from starting; None if it ran to its end.
    started: False if Python could not read the cell.
    bound: the names that it gave a new value.
    ended: when, in seconds since 1970.
    """

    source: str
    cell: str = ""
    failure: CellFailure | None = None
    started: bool = True
    bound: frozenset[str] = frozenset()
    ended: float = field(default_factory=time.time)

    @property
    def failed_at(self) -> str:
        """The line that failed; "" if it is not known."""
        lines, number = self.source.splitlines(), self.failure.line if self.failure else 0
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    @cached_property
    def defines(self) -> list[str]:
        """The functions and classes that its text defines, even if Python can't read it."""
        return defined_names(self.source)


class RunHistory:
    """The runs so far, oldest first.

    namespace: the notebook's variables.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self.runs: list[PastRun] = []
        self._before = self._identities()

    def begin(self, info: Any = None) -> None:
        """Note the variables before a cell runs."""
        self._before = self._identities()

    def end(self, result: Any) -> None:
        """Note how a cell ran. result: IPython's `ExecutionResult`."""
        error = result.error_before_exec or result.error_in_exec
        self.runs.append(
            PastRun(
                source=result.info.raw_cell,
                cell=getattr(result.info, "cell_id", None) or "",
                failure=None if error is None else CellFailure.of(error),
                started=result.error_before_exec is None,
                bound=frozenset(self._new()),
            )
        )

    @property
    def last(self) -> PastRun | None:
        """The last run of a cell that does more than call the course, such as `check(softmax)`."""
        own = (run for run in reversed(self.runs) if not only_calls(run.source, COURSE))
        return next(own, None)

    def defined_now(self, name: str) -> bool:
        """Whether the cell that is running has given `name` its value."""
        return name in self._new()

    def definition(self, name: str) -> int | None:
        """Return the index of the run that gave `name` its value; None if none of them did."""
        indices = [index for index, run in enumerate(self.runs) if name in run.bound]
        return indices[-1] if indices else None

    def _identities(self) -> dict[str, int]:
        return {name: id(value) for name, value in self.namespace.items()}

    def _new(self) -> set[str]:
        now = self._identities()
        return {name for name in now if now[name] != self._before.get(name)}


_history: RunHistory | None = None


def history() -> RunHistory | None:
    """Return the history of this notebook; None where no notebook runs, or it is graded."""
    return _history


def watch(shell: Any) -> None:
    """Keep the history of an IPython shell from now on, and explain what its cells lack.

    It does nothing where there is no shell, and where a notebook is graded.
    """
    global _history
    if shell is None or QUESTIONS_VARIABLE in os.environ:
        return
    if _history is not None and _history.namespace is shell.user_ns:
        return
    _history = kept = RunHistory(shell.user_ns)
    shell.events.register("pre_run_cell", kept.begin)
    shell.events.register("post_run_cell", kept.end)
    shell.events.register("post_run_cell", lambda _: _explain(kept))


load_ipython_extension = watch  # by IPython's name: from a kernel's start, before the imports ran


def _explain(kept: RunHistory) -> None:
    failure = kept.runs[-1].failure
    if failure and failure.kind in ("NameError", "TypeError"):
        # Loads torch, which a kernel that has just started need not wait for.
        from autograder.notebook.missing_name import show_missing

        show_missing(kept)
