"""The learner's half of the autograder: what a lesson imports.

It is loaded when it is first used: with it comes torch, for which nbgrader's commands, that have
their plug-ins in this package too, would wait a second each.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.learner import check, failing_case, hint, progress

__all__ = ["check", "failing_case", "hint", "progress"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("autograder.learner"), name)
