"""Whether anyone is looking: if not, pictures aren't drawn and progress bars aren't shown."""

import os
import sys
from collections.abc import Iterable

from tqdm import tqdm

# Drawing takes most of a lesson's time, even if nobody looks. A grader may set this variable to
# `DESCRIBED`: pictures then show their caption and description, and are only drawn on request.
FIGURES_VARIABLE = "ATTENTION_FIGURES"
DESCRIBED = "described"


def are_described() -> bool:
    """Whether pictures are only described here, not drawn."""
    return os.environ.get(FIGURES_VARIABLE) == DESCRIBED


def someone_watches() -> bool:
    """Whether a person would see a progress bar, at a terminal or in an open notebook.

    A program that runs a notebook (nbconvert, nbval, a grader) can't answer input requests and says
    so with each cell, unlike a person's JupyterLab.
    """
    kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    kernel = getattr(kernel, "kernel", None)
    if kernel is None:
        return sys.stdout.isatty()
    return bool(getattr(kernel, "_allow_stdin", False))


def watched(rounds: range, unit: str) -> Iterable[int]:
    """Go through the remaining rounds of a training, with a progress bar if someone watches."""
    bar = {"initial": rounds.start, "total": rounds.stop, "file": sys.stdout, "leave": False}
    return tqdm(rounds, desc="training", unit=unit, disable=not someone_watches(), **bar)
