"""How long a lesson takes: its text at a reader's pace, its code, and its exercises as stated."""

import math
import re
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.lessons.cells import REGION

WORDS, LINES = 180, 60  # read in a minute
TO_WRITE = re.compile(r"^### (?:Exercise|Question) \d+: .*\b(\d+) minutes\)$", re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$", re.DOTALL)
ROUND = 10


def minutes_needed(cells: Iterable[NotebookNode]) -> int:
    """Return how many minutes a lesson takes, rounded up to the next ten.

    That is without its challenge, but for its text.
    """
    needed = 0.0
    for cell in cells:
        if cell.cell_type == "markdown":
            needed += sum(map(int, TO_WRITE.findall(cell.source)))
            needed += len(FORMULA.sub("", cell.source).split()) / WORDS
        else:
            needed += len(REGION.sub("", cell.source).split("\n")) / LINES
    return math.ceil(needed / ROUND) * ROUND
