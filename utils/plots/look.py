"""The look that all plots share: color scales, fonts, labels along the x axis."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap

from autograder.utils.palette import (
    BLUE,
    FRAME,
    GRAY,
    HIDDEN,
    ORANGE,
    PINK,
    PURPLE,
    SEEN,
    WEIGHT_STOPS,
)

WEIGHTS = LinearSegmentedColormap.from_list("weights", WEIGHT_STOPS)
MASK = ListedColormap([HIDDEN, SEEN], "mask")  # of False and True
SIGNS = {True: "✓", False: "×"}
LINE_LOOKS = [
    (BLUE, "o"),
    (ORANGE, "s"),
    (PURPLE, "^"),
    (GRAY, "D"),
    ("black", "v"),
    (PINK, "P"),
]
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


def frame_cells(ax: Axes, n_rows: int, n_columns: int) -> None:
    """Draw thin lines between the cells of a map, so that pale ones show on a white page."""
    ax.set_xticks([column - 0.5 for column in range(n_columns + 1)], minor=True)
    ax.set_yticks([row - 0.5 for row in range(n_rows + 1)], minor=True)
    ax.grid(which="minor", color=FRAME, lw=0.6)
    ax.tick_params(which="minor", length=0)


def label_columns(ax: Axes, labels: list[str], width: float, every: int = 1) -> None:
    """Write every `every`-th label below its column, `width` inches wide; slant long labels."""
    slanted = max(map(len, labels)) * LETTER > width * every
    slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    ax.set_xticks(range(0, len(labels), every), labels[::every], **slant)
