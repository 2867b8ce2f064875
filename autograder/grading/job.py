"""What goes to whoever grades a submission, and what comes back: plain data."""

from dataclasses import dataclass, field

from autograder.grading.blueprint import Blueprint
from autograder.sandbox.limits import Limits


@dataclass(frozen=True)
class Job:
    """A submission to grade.

    path: where the notebook was handed in; data: what it holds; broken: why there is nothing.
    files: what lies beside the notebook, by name.
    reference: the lesson's, with hidden cases, as bytes; empty for an assignment without one.
    modules: what the released notebook imports, for the sandbox to have ready.
    figures: whether the course's figures are drawn, and not only described.
    """

    path: str
    blueprint: Blueprint
    data: bytes = b""
    broken: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    reference: bytes = b""
    modules: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    figures: bool = False


@dataclass(frozen=True)
class Graded:
    """A graded submission.

    path: that of its job.
    notebook: in nbformat's JSON, with outputs, verdicts and cards.
    outcome: "graded", "unanswered" or "failed"; reason: why it failed, if it did.
    """

    path: str
    notebook: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0
