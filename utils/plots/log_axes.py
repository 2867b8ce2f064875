"""Readable ticks for logarithmic axes."""

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

APART = 1.45  # smallest ratio of neighboring ticks
MOST_TICKS = 12


def label_measured(axis: Axis, places: np.ndarray) -> None:
    """Put ticks at measured values, as many as there is room for."""
    places = np.unique(places)
    apart = max(APART, (places[-1] / places[0]) ** (1 / MOST_TICKS))
    ticks = [places[0]]
    for place in places:
        if place >= apart * ticks[-1]:
            ticks.append(place)
    axis.set_ticks(ticks, [_plainly(place) for place in ticks])
    axis.set_minor_locator(NullLocator())


def label_plainly(axis: Axis, low: float, high: float) -> None:
    """Write 0.01 instead of a power of ten, with more ticks if the axis has a small range."""
    if high / low < 3:
        axis.set_major_locator(MaxNLocator(5))
    elif high / low < 100:
        axis.set_major_locator(LogLocator(subs=range(1, 10) if high / low < 10 else (1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plainly(value)))


def _plainly(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")  # Python writes 1e-05
