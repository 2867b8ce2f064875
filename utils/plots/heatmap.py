"""Draw one or more maps as colored cells; `maps` decides what is drawn."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from autograder.utils.palette import FRAME, RED, ink_on
from autograder.utils.plots.look import (
    LETTER,
    LINE,
    MASK,
    SIGNS,
    frame_cells,
    label_columns,
    panels_of,
)
from autograder.utils.plots.numbers import short

PRINTED_UP_TO = 8  # rows and columns
NEGLIGIBLE = 0.002  # smaller shares of a map's largest value are printed as about 0
LABEL_ROOM = 0.25  # inches around a map's cells


@dataclass(frozen=True)
class Note:
    """The text to the right of a row in the drawing."""

    text: str
    color: str
    meaning: str  # "do not sum to 1": continues "Rows that"


@dataclass(frozen=True)
class Maps:
    """Maps of one shape, drawn on one color scale."""

    values: np.ndarray  # [n_maps, n_rows, n_columns]
    row_labels: list[str]
    column_labels: list[str]
    titles: list[str]
    row_name: str
    column_name: str
    value_name: str
    value_range: tuple[float, float]
    colors: Colormap
    notes: list[dict[int, Note]]  # for each map: row → note

    @property
    def is_mask(self) -> bool:
        """Whether the values say what may be seen, rather than how much."""
        return self.colors is MASK

    @property
    def cell(self) -> float:
        """The side of a cell in inches; of several maps, two fit in the site's column."""
        n_maps, *size = self.values.shape
        if self.printed:
            return 0.5 if n_maps == 1 else 0.4
        return min(0.27, (6 if n_maps == 1 else 2.8) / max(size))

    @property
    def printed(self) -> bool:
        """Whether there is room for the values in the cells."""
        return max(self.values.shape[1:]) <= PRINTED_UP_TO


def draw_maps(maps: Maps) -> Figure:
    """Draw one panel per map, and one color bar for all."""
    figure, panels = _panels(maps)
    scale = Normalize(*maps.value_range)
    for values, title, notes, ax in zip(maps.values, maps.titles, maps.notes, panels, strict=True):
        image = ax.imshow(values, cmap=maps.colors, norm=scale)
        ax.set_title(title)
        _mark_not_finite(ax, values)
        _write_notes(ax, notes, maps)
        if maps.printed and maps.is_mask:
            print_signs(ax, values)
        elif maps.printed:
            print_values(ax, values, image.to_rgba(values))
    if not maps.is_mask:
        _color_bar(figure, panels, image, maps)
    return figure


def _panels(maps: Maps) -> tuple[Figure, list[Axes]]:
    n, n_rows, n_columns = maps.values.shape
    beside = LABEL_ROOM + LETTER * max(map(len, maps.row_labels))
    width, height = n_columns * maps.cell + beside, n_rows * maps.cell + LABEL_ROOM
    figure = Figure(figsize=(n * width + 1.5, height + 0.8), layout="compressed")
    panels = panels_of(figure, n)
    for ax in panels:
        _label_axes(ax, maps)
    return figure, panels


def _label_axes(ax: Axes, maps: Maps) -> None:
    ax.tick_params(length=0)
    ax.spines[:].set_visible(not maps.printed)
    ax.spines[:].set_color(FRAME)
    if maps.printed:
        frame_cells(ax, *maps.values.shape[1:])
    every = 1 if maps.cell >= LINE else 10 * ceil(LINE / maps.cell / 4)
    label_columns(ax, maps.column_labels, maps.cell, every)
    ax.set_yticks(range(0, len(maps.row_labels), every), maps.row_labels[::every])
    ax.set(xlabel=maps.column_name, ylabel=maps.row_name)


def _mark_not_finite(ax: Axes, values: np.ndarray) -> None:
    places = np.argwhere(~np.isfinite(values))[:, None, ::-1]
    if len(places):
        # One patch for all cells: hatching them one by one takes seconds on a large map.
        corners = np.asarray(Path.unit_rectangle().vertices) - 0.5
        cells = Path.make_compound_path(*(Path(cell) for cell in places + corners))
        ax.add_patch(PathPatch(cells, fc="white", ec=RED, hatch="////", lw=0, alpha=0.45))


def _write_notes(ax: Axes, notes: dict[int, Note], maps: Maps) -> None:
    for row, note in notes.items():
        # Rows too thin for text get an arrowhead.
        text = note.text if maps.cell >= LINE else "◂"
        x = maps.values.shape[2] - 0.4
        ax.text(x, row, text, color=note.color, ha="left", va="center", fontsize=8)


def print_signs(ax: Axes, keep: np.ndarray) -> None:
    """Write ✓ where a mask is True, and × where it is False."""
    for (row, column), seen in np.ndenumerate(keep):
        ax.text(column, row, SIGNS[bool(seen)], ha="center", va="center", in_layout=False)


def print_values(ax: Axes, values: np.ndarray, colors: np.ndarray) -> None:
    largest = np.abs(values[np.isfinite(values)]).max(initial=0)
    for (row, column), value in np.ndenumerate(values):
        tiny = 0 < abs(value) < NEGLIGIBLE * largest
        shown = "≈0" if tiny else short(value)
        text = ax.text(column, row, shown, fontsize=8, ha="center", va="center", in_layout=False)
        if not np.isfinite(value):
            text.set_bbox({"facecolor": "white", "lw": 0, "pad": 1})
        else:
            text.set_color(ink_on(*colors[row, column, :3]))


def _color_bar(figure: Figure, panels: list[Axes], image: AxesImage, maps: Maps) -> None:
    bar = figure.colorbar(image, ax=panels, extend=_beyond(maps), pad=0.02)
    bar.outline.set_visible(False)
    short_bar = len(maps.row_labels) * maps.cell < 1.2
    bar.set_label(maps.value_name.replace(" ", "\n") if short_bar else maps.value_name)


def _beyond(maps: Maps) -> str:
    """Return which ends of the color bar are pointed because values lie beyond them."""
    low, high = maps.value_range
    finite = maps.values[np.isfinite(maps.values)]
    below, above = (finite < low).any(), (finite > high).any()
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
