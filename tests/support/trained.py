"""Compare results of training roughly: it magnifies rounding, which differs between processors.

Cells that show such numbers have the tag `trained`. nbval alone compares every digit.
"""

import math
import re
from collections.abc import Iterator, MutableMapping

from nbformat import NotebookNode
from nbval.plugin import IPyNbCell

TAG = "trained"
# How far apart numbers may be. Percents are hundredths.
RELATIVE, ABSOLUTE, PERCENT = 0.2, 0.01, 0.03
# A view's description says what it shows; its script has the same numbers with more digits.
SCRIPT = re.compile("<script>.*?</script>", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?%?")


def compare_roughly(cell: IPyNbCell) -> None:
    """Let a cell show other numbers than are stored, if they are close and all else is the same."""
    exactly = cell.compare_outputs

    def roughly(new: list[NotebookNode], stored: list[NotebookNode]) -> bool:
        # Missing and additional texts are for nbval to name.
        for (one, key), (other, of) in zip(_texts(new), _texts(stored), strict=False):
            if agree(*(SCRIPT.sub("", cell.sanitize(text)) for text in (one[key], other[of]))):
                one[key] = other[of]
        return exactly(new, stored)

    cell.compare_outputs = roughly


def agree(text: str, stored: str) -> bool:
    """Whether two texts differ in nothing but numbers, and in these only a little."""
    if NUMBER.split(text) != NUMBER.split(stored):
        return False
    return all(map(_close, NUMBER.findall(text), NUMBER.findall(stored)))


def _close(one: str, other: str) -> bool:
    if one.endswith("%") != other.endswith("%"):
        return False
    most = 100 * PERCENT if one.endswith("%") else ABSOLUTE
    values = float(one.rstrip("%")), float(other.rstrip("%"))
    return math.isclose(*values, rel_tol=RELATIVE, abs_tol=most)


def _texts(outputs: list[NotebookNode]) -> Iterator[tuple[MutableMapping[str, str], str]]:
    for output in outputs:
        if "text" in output:
            yield output, "text"
        data = output.get("data", {})
        yield from ((data, kind) for kind in sorted(data) if kind.startswith("text/"))
