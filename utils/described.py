"""Whether pictures are drawn, or only described."""

import os

# Where nobody looks, drawing is what takes most of a lesson's time. A grader may set this to
# `DESCRIBED`: pictures then show their caption and description, and are drawn when asked for.
FIGURES_VARIABLE = "ATTENTION_FIGURES"
DESCRIBED = "described"


def are_described() -> bool:
    """Whether pictures are described here and not drawn."""
    return os.environ.get(FIGURES_VARIABLE) == DESCRIBED
