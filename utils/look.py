"""The look that all plots share: colors, fonts, labels along the x axis."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib.style
from matplotlib.axes import Axes

RED, GRAY, BLUE, ORANGE = "#b00020", "#6a6a6a", "#31688e", "#d98c2b"
LINE_LOOKS = [(BLUE, "o"), (ORANGE, "s"), ("#440154", "^"), (RED, "D"), (GRAY, "v")]
LETTER, LINE = 0.085, 0.16  # approximate letter width and line height in inches

HOUSE_STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Treat a word such as "$x$" as a word, not a formula.
    "text.parse_math": False,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the course's look inside, and keep the reader's matplotlib settings outside."""
    with matplotlib.style.context(["default", HOUSE_STYLE]):
        yield


def label_columns(ax: Axes, labels: list[str], width: float, every: int = 1) -> None:
    """Write every `every`-th label below its column, `width` inches wide; slant long labels."""
    slanted = max(map(len, labels)) * LETTER > width * every
    slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    ax.set_xticks(range(0, len(labels), every), labels[::every], **slant)
