"""A view of packed weights: where each row goes when it is cut into query, key and value."""

import numpy as np

from autograder.utils.palette import BLUE, GRAY, PURPLE, RED, lighter
from autograder.utils.plots.picture import Diagram
from autograder.utils.plots.sketch import CELL, Box, Sketch, column
from autograder.utils.views.live import View

COLORS = {"query": BLUE, "key": PURPLE, "value": GRAY}
PALE = 0.75  # share of white in a row's color
WIDE, STEP = 76, 110  # width of a row, and from one column to the next
CHOSEN = 6  # the row to begin with


def view_packing(n_heads: int, d_head: int, *, caption: str) -> View:
    """Show where each row of packed weights goes, by how it is packed and how it is cut.

    Raises ValueError if a size is not positive.
    """
    if min(n_heads, d_head) < 1:
        raise ValueError(f"n_heads is {n_heads} and d_head {d_head}: give sizes of at least 1")
    orders = packed_orders(n_heads, d_head)
    data = {"orders": orders, "colors": COLORS, "start": min(CHOSEN, 3 * n_heads * d_head - 1)}
    return View(draw_packing(orders, caption=caption), "packing", data | {"d_head": d_head})


def packed_orders(n_heads: int, d_head: int) -> dict[str, list[int]]:
    """Return what each packed row is, by library: its place among all rows of query, key, value."""
    rows = np.arange(3 * n_heads * d_head).reshape(3, n_heads, d_head)
    return {
        "PyTorch": rows.ravel().tolist(),
        "GPT-NeoX": rows.transpose(1, 0, 2).ravel().tolist(),
    }


def draw_packing(orders: dict[str, list[int]], *, caption: str) -> Diagram:
    """Draw the rows as each library packs them; those that thirds misplace are framed."""
    sketch, names = Sketch(), list(COLORS)
    size = len(orders["PyTorch"]) // 3
    for number, (library, order) in enumerate(orders.items()):
        parts = [names[row // size] for row in order]
        fills = column(lighter(COLORS[part], PALE) for part in parts)
        texts = column(f"{part} {row % size}" for part, row in zip(parts, order, strict=True))
        box = sketch.cells(STEP * number, 0, fills, texts, width=WIDE)
        sketch.words(box.center, -14, library, bold=True)
        for row, place in enumerate(order):
            if row != place:
                sketch.frame(Box(box.x, CELL * row, WIDE, CELL), RED)
    for row in range(3 * size):
        sketch.words(-8, CELL * (row + 0.5), f"row {row}", anchor="end", size=10)
    for number, name in enumerate(names):
        at = CELL * size * (number + 0.5)
        sketch.words(STEP * len(orders), at, f"{number + 1}. third: {name}.weight", anchor="start")
    return Diagram(sketch.svg(), _summary(orders, size), caption)


def _summary(orders: dict[str, list[int]], size: int) -> str:
    names = list(COLORS)
    said = [
        f"{library}: {', '.join(f'{names[row // size]} {row % size}' for row in order)}"
        for library, order in orders.items()
    ]
    right = sum(one == other for one, other in zip(*orders.values(), strict=True))
    return (
        f"{3 * size} packed rows, from first to last. {'. '.join(said)}. Cut in thirds, the second "
        f"order leaves {3 * size - right} rows in the wrong place."
    )
