"""The learner's half of the autograder: what a lesson imports."""

from autograder.check import check, failing_case, hint, progress

__all__ = ["check", "failing_case", "hint", "progress"]
