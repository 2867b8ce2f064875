"""Small heat maps as HTML tables that people, screen readers and diffs can read."""

import math
from html import escape

import torch
from torch import Tensor

MOST_ROWS = MOST_COLUMNS = 8
# Cividis from dark to light, which people with color blindness can read easily.
STOPS = ((0, 34, 78), (87, 93, 109), (124, 123, 120), (177, 165, 112), (254, 232, 56))
CAPTION = "text-align:left;caption-side:top;white-space:nowrap;font-size:12px;padding:0 0 2px 0"
CELL = "padding:2px 6px;text-align:right;font-family:monospace;font-size:12px;border:0;"


def pick_slice(wrong: Tensor) -> tuple[int, ...]:
    """Return the index into the leading dimensions of the matrix with the first wrong value."""
    if wrong.dim() <= 2 or not wrong.any():
        return (0,) * max(wrong.dim() - 2, 0)
    return tuple(wrong.nonzero()[0, :-2].tolist())


def heatmap(values: Tensor, title: str, low: float, high: float, decimals: int) -> str:
    """Show at most 8 by 8 values, [n] or [rows, columns], as a table colored from low to high."""
    grid = torch.atleast_2d(values)
    rows = "".join(_row(row, low, high, decimals) for row in grid[:MOST_ROWS])
    if grid.shape[0] > MOST_ROWS:
        rows += f'<tr><td style="{CELL}">…</td></tr>'
    caption = f'<caption style="{CAPTION}">{escape(title)}</caption>'
    return (
        '<table style="display:inline-table;border-collapse:collapse;margin:4px 24px 4px 0;'
        f'vertical-align:top">{caption}{rows}</table>'
    )


def value_range(*tensors: Tensor) -> tuple[float, float]:
    """Return the smallest and the largest finite value of all tensors."""
    finite = torch.cat([t[t.isfinite()].double().flatten() for t in tensors])
    return (finite.min().item(), finite.max().item()) if len(finite) else (0.0, 0.0)


def telling_decimals(expected: Tensor, got: Tensor) -> int:
    """Return how many decimals show that two tensors of the same shape differ."""
    gap = (expected.double() - got.double()).abs()
    largest = gap[gap.isfinite()].max().item() if gap.isfinite().any() else 1.0
    return next((d for d in (3, 5, 7) if largest >= 0.5 * 10**-d), 7)


def _row(row: Tensor, low: float, high: float, decimals: int) -> str:
    cells = "".join(_cell(value, low, high, decimals) for value in row[:MOST_COLUMNS])
    more = f"<td style={CELL!r}>…</td>" if len(row) > MOST_COLUMNS else ""
    return f"<tr>{cells}{more}</tr>"


def _cell(value: Tensor, low: float, high: float, decimals: int) -> str:
    number = value.item()
    red, green, blue = _color(float(number), low, high)
    ink = "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#fff"
    style = f"{CELL}background:rgb({red},{green},{blue});color:{ink}"
    return f'<td style="{style}">{format_value(value, decimals)}</td>'


def _color(number: float, low: float, high: float) -> tuple[int, int, int]:
    if not math.isfinite(number):
        return (200, 60, 60)
    share = (number - low) / (high - low) if high > low else 0.5
    position = min(max(share, 0.0), 1.0) * (len(STOPS) - 1)
    left = min(int(position), len(STOPS) - 2)
    mix = position - left
    red, green, blue = (
        round(a + (b - a) * mix) for a, b in zip(STOPS[left], STOPS[left + 1], strict=True)
    )
    return red, green, blue


def format_value(value: Tensor, decimals: int) -> str:
    """Format a number short enough for a cell; booleans as words."""
    number = value.item()
    if isinstance(number, bool | int):
        return str(number)
    if not math.isfinite(number):
        return {"nan": "NaN", "inf": "∞", "-inf": "-∞"}[str(number)]
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{number + 0.0:.{decimals}f}" if abs(number) < 100 else f"{number:.{decimals + 1}g}"
