"""What a lesson imports: `check` and its companions.

In a learner's notebook, `check` judges (`autograder.notebook`). In a kernel that is being graded,
it sends answers without knowing what they should be (`autograder.asking.sending`). Each loads on
first use because it imports torch: nbgrader's plug-ins live in this package too, and every nbgrader
command would start a second later.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograder.asking import QUESTIONS_VARIABLE

if TYPE_CHECKING:
    from autograder.notebook.calls import (
        ask_for_review,
        check,
        failing_case,
        give_up,
        hint,
        made_for,
        predict,
        progress,
    )

__all__ = [
    "ask_for_review",
    "check",
    "failing_case",
    "give_up",
    "hint",
    "made_for",
    "predict",
    "progress",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_graded = QUESTIONS_VARIABLE in os.environ
    module = "autograder.asking.sending" if is_graded else "autograder.notebook.calls"
    return getattr(import_module(module), name)
