"""What a learner's notebook calls, and what its kernel remembers. An IPython extension, too."""

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Remember from the start what runs, so that the first cell can be told what it lacks."""
    from autograder.notebook.history import watch  # later, so that importing this loads nothing

    watch(shell)
