"""Whether this kernel is being graded."""

import os

# The grader names a file of questions in it.
QUESTIONS_VARIABLE = "AUTOGRADER_QUESTIONS"


def is_grading() -> bool:
    """Whether this kernel is being graded."""
    return QUESTIONS_VARIABLE in os.environ
