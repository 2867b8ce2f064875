"""The look that all plots share: color scales, fonts, panels, frames and ticks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

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
MASK = ListedColormap([HIDDEN, SEEN], "mask")  # colors of False and True
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
APART = 1.45  # smallest ratio of neighboring ticks on a logarithmic axis
MOST_TICKS = 12
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

HOUSE_STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Words of a legend can be read where it covers a line.
    "legend.edgecolor": "none",
    # Treat a word such as "$x$" as a word, not a formula.
    "text.parse_math": False,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the course's look inside, and keep the reader's matplotlib settings outside."""
    with matplotlib.style.context(["default", HOUSE_STYLE]):
        yield


def panels_of(figure: Figure, n: int, **shared: Any) -> list[Axes]:
    """Make the axes of `n` panels side by side; each has all labels, as a page may stack them.

    shared: `sharex` and `sharey`, passed to `Figure.subplots`.
    """
    panels = list(figure.subplots(1, n, squeeze=False, **shared)[0])
    for ax in panels:
        ax.tick_params(labelleft=True)
    return panels


def frame_cells(ax: Axes, n_rows: int, n_columns: int) -> None:
    """Draw thin lines between the cells of a map, so that pale ones show on a white page."""
    ax.set_xticks([column - 0.5 for column in range(n_columns + 1)], minor=True)
    ax.set_yticks([row - 0.5 for row in range(n_rows + 1)], minor=True)
    ax.grid(which="minor", color=FRAME, lw=0.6)
    ax.tick_params(which="minor", length=0)


def label_columns(ax: Axes, labels: list[str], width: float, every: int = 1) -> None:
    """Write every `every`-th label below its column, `width` inches wide; slant long labels."""
    slanted = max(map(len, labels)) * LETTER > width * every
    slant: dict[str, Any] = (
        {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    )
    ax.set_xticks(range(0, len(labels), every), labels[::every], **slant)


def label_measured(axis: Axis, places: np.ndarray) -> None:
    """Put a logarithmic axis's ticks at measured values, as many as there is room for."""
    places = np.unique(places)
    apart = max(APART, (places[-1] / places[0]) ** (1 / MOST_TICKS))
    ticks = [places[0]]
    for place in places:
        if place >= apart * ticks[-1]:
            ticks.append(place)
    write = notation(places[0], places[-1])
    axis.set_ticks(ticks, [write(place) for place in ticks])
    axis.set_minor_locator(NullLocator())


def label_plainly(axis: Axis, low: float, high: float) -> None:
    """Write a logarithmic axis's ticks in one notation; add ticks if its range is small."""
    if high / low < 3:
        axis.set_major_locator(MaxNLocator(5))
    elif high / low < 100:
        axis.set_major_locator(LogLocator(subs=range(1, 10) if high / low < 10 else (1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    write = notation(low, high)
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


def notation(low: float, high: float) -> Callable[[float], str]:
    """Return how to write numbers in a range: all as 0.01, or all as 10⁻² if one has many zeros."""
    return "{:g}".format if low >= 1e-4 and high < 1e6 else _as_power


def _as_power(value: float) -> str:
    digits, exponent = f"{value:.1e}".replace(".0e", "e").split("e")
    power = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
    return power if digits == "1" else f"{digits}·{power}"
