"""The learner's half of the autograder: what a lesson imports."""

from autograder.check import check, hint, progress

__all__ = ["check", "hint", "progress"]
