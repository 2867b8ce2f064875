"""Several panels in one figure, row by row."""

from math import ceil
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def panel_grid(figure: Figure, n: int, across: int, **shared: Any) -> list[Axes]:
    """Make the axes of `n` panels, `across` per row; the rest of the last row stays empty.

    shared: `sharex` and `sharey`, passed to `Figure.subplots`.
    """
    grid = figure.subplots(ceil(n / across), across, squeeze=False, **shared).ravel()
    for ax in grid[n:]:
        ax.remove()
    return list(grid[:n])
