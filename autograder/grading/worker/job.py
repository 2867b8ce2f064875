"""What goes to whoever grades a submission, and what comes back: plain data."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.grading.submission.blueprint import Blueprint
from autograder.sandbox.limits import Limits

RUN = "attention_run"  # what the engine says of its run, in the metadata of a graded notebook
TIMESTAMP = "timestamp.txt"  # nbgrader's, and no work of the learner's


@dataclass(frozen=True)
class Job:
    """A submission to grade.

    path: where the notebook was handed in; data: what it holds; broken: why there is nothing.
    files: what lies beside the notebook, by name.
    reference: the lesson's, with hidden cases, as bytes; empty for an assignment without one.
    imports: what the released notebook imports, for the sandbox to have ready.
    figures: whether the course's figures are drawn, and not only described.
    """

    path: str
    blueprint: Blueprint
    data: bytes = b""
    broken: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    reference: bytes = b""
    imports: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    figures: bool = False

    @property
    def digest(self) -> str:
        """Of what was handed in: another when the notebook or a file beside it is another."""
        digest = hashlib.sha256(self.data)
        digest.update(self.broken.encode())
        for name, data in sorted(self.files.items()):
            if name != TIMESTAMP:
                digest.update(repr((name, len(data))).encode() + data)
        return digest.hexdigest()


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


def earlier_run(path: Path) -> dict[str, Any]:
    """What the engine said of its run in a graded notebook; nothing where it did not grade it."""
    try:
        run = json.loads(path.read_bytes())["metadata"][RUN]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return run if isinstance(run, dict) else {}
