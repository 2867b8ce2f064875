"""What a lesson imports: `check` and its companions.

In a learner's notebook `check` judges (`autograder.learner`); in a kernel that is being graded it
hands in answers and knows nothing of what they should be (`autograder.asking.hand_in`). Either is
loaded when it is first used: with it comes torch, for which nbgrader's commands, that have their
plug-ins in this package too, would wait a second each.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograder.asking import QUESTIONS_VARIABLE

if TYPE_CHECKING:
    from autograder.learner import check, failing_case, hint, progress

__all__ = ["check", "failing_case", "hint", "progress"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_graded = QUESTIONS_VARIABLE in os.environ
    module = "autograder.asking.hand_in" if is_graded else "autograder.learner"
    return getattr(import_module(module), name)
