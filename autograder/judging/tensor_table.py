"""Small heat maps as HTML tables that people, screen readers and diffs can read."""

import math
from dataclasses import dataclass
from html import escape

import torch
from torch import Tensor

from autograder.utils.palette import BLUE, RED, WRONG

MOST = 8  # rows and columns
MOST_OPAQUE = 0xA6  # so that a page's own ink can be read on it
CAPTION = "text-align:left;caption-side:top;white-space:nowrap;font-size:12px;padding:0 0 2px 0"
FRAME = f";box-shadow:inset 0 0 0 1px {WRONG};font-weight:bold"
CELL = "padding:2px 6px;text-align:right;font-family:monospace;font-size:12px;border:0;"


def pick_slice(wrong: Tensor) -> tuple[int, ...]:
    """Return the index into the leading dimensions of the matrix with the first wrong value."""
    if wrong.dim() <= 2 or not wrong.any():
        return (0,) * max(wrong.dim() - 2, 0)
    return tuple(wrong.nonzero()[0, :-2].tolist())


def pick_corner(wrong: Tensor) -> tuple[slice, ...]:
    """Return the part of a matrix that a table starts with, so that it shows a wrong value."""
    first = wrong.nonzero()[0].tolist() if wrong.any() else [0] * wrong.dim()
    return tuple(slice(0 if place < MOST else place - MOST // 2, None) for place in first)


@dataclass(frozen=True)
class Style:
    """How to show values: colored from low to high, with this many decimals.

    width: that of a cell, in digits.
    """

    low: float
    high: float
    decimals: int
    width: int = 0


def heatmap(values: Tensor, title: str, style: Style, wrong: Tensor | None = None) -> str:
    """Show at most 8 by 8 values, [n] or [rows, columns], as a table.

    wrong: booleans of the same shape; where given, wrong values are framed, and right ones plain.
    """
    more_rows, more_columns = (size > MOST for size in torch.atleast_2d(values).shape)
    ellipsis = f'<td style="{CELL}">…</td>'
    rows = [
        "".join(_cell(value, mark, style, mark or wrong is None) for value, mark in row)
        + ellipsis * more_columns
        for row in _corner(values, wrong)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows + [ellipsis] * more_rows)
    caption = f'<caption style="{CAPTION}">{escape(title)}</caption>'
    return (
        '<table style="display:inline-table;border-collapse:collapse;margin:4px 24px 4px 0;'
        f'vertical-align:top;color:inherit">{caption}{body}</table>'
    )


def plain_table(values: Tensor, decimals: int, wrong: Tensor | None) -> str:
    """Show the same values as lines of text."""
    rows = [
        [f"{_mark(mark)}{format_value(value, decimals)}" for value, mark in row]
        for row in _corner(values, wrong)
    ]
    return "\n".join("    " + " ".join(f"{text:>8}" for text in row) for row in rows)


def _corner(values: Tensor, wrong: Tensor | None) -> list[list[tuple[Tensor, bool]]]:
    """Return the values that a table shows, in rows, each with whether it is wrong."""
    grid = torch.atleast_2d(values)[:MOST, :MOST]
    marks = torch.atleast_2d(torch.zeros_like(grid, dtype=torch.bool) if wrong is None else wrong)
    pairs = zip(grid, marks[:MOST, :MOST].tolist(), strict=True)
    return [list(zip(row, marked, strict=True)) for row, marked in pairs]


def _mark(wrong: bool) -> str:
    return "✗" if wrong else ""


def value_range(*tensors: Tensor) -> tuple[float, float]:
    """Return the smallest and the largest finite value of all tensors."""
    finite = torch.cat([t[t.isfinite()].double().flatten() for t in tensors])
    return (finite.min().item(), finite.max().item()) if len(finite) else (0.0, 0.0)


def telling_decimals(expected: Tensor, got: Tensor) -> int:
    """Return how many decimals show that two tensors of the same shape differ."""
    gap = (expected.double() - got.double()).abs()
    largest = gap[gap.isfinite()].max().item() if gap.isfinite().any() else 1.0
    return next((d for d in (3, 5, 7) if largest >= 0.5 * 10**-d), 7)


def widest(decimals: int, *tables: Tensor) -> int:
    """Return the width of the widest value that some tables show, in digits."""
    corners = [torch.atleast_2d(values)[:MOST, :MOST].flatten() for values in tables]
    return max((len(format_value(v, decimals)) for c in corners for v in c), default=0)


def _cell(value: Tensor, is_wrong: bool, style: Style, colored: bool) -> str:
    look = f"{CELL}min-width:{style.width}ch;"
    if colored:
        look += _ground(float(value.item()), style) + (FRAME if is_wrong else "")
    return f'<td style="{look}">{format_value(value, style.decimals)}</td>'


def _ground(number: float, style: Style) -> str:
    """Return the color behind a number, in CSS; the page, light or dark, shines through."""
    if not math.isfinite(number):
        return f"background:{RED};color:#fff"
    spread = style.high - style.low
    share = min(max((number - style.low) / spread, 0.0), 1.0) if spread > 0 else 0.5
    return f"background:{BLUE}{round(MOST_OPAQUE * share):02x}"


def format_value(value: Tensor, decimals: int) -> str:
    """Format a number short enough for a cell; booleans as words."""
    number = value.item()
    if isinstance(number, bool | int):
        return str(number)
    if not math.isfinite(number):
        return {"nan": "NaN", "inf": "∞", "-inf": "-∞"}[str(number)]
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{number + 0.0:.{decimals}f}" if abs(number) < 100 else f"{number:.{decimals + 1}g}"
