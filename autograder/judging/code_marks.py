"""Text in which `backticks` mark code."""

from collections.abc import Iterable
from html import escape

Rendered = tuple[str, str]  # of a card: as HTML, and as plain text


def in_backticks(names: Iterable[str]) -> str:
    """ "`a` and `b`"."""
    return " and ".join(f"`{name}`" for name in names)


def number(value: float) -> str:
    """ "1,234", "9.5"."""
    return f"{value:,}" if isinstance(value, int) else f"{round(value, 2):g}"


def count(amount: float, noun: str) -> str:
    """ "1 point", "1,234 points", "2.5 points", "3 queries"."""
    if amount == 1:
        return f"1 {noun}"
    many = f"{noun.removesuffix('y')}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number(amount)} {many}"


def points_of(points: float, most: float) -> str:
    """ "9.5 of 15 points"."""
    return f"{number(points)} of {count(most, 'point')}"


def as_html(text: str) -> str:
    """Escape the text as HTML, with its code in <code>."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))


def paragraph(text: str) -> Rendered:
    """Return a paragraph of a card."""
    return f'<p style="margin:6px 0">{as_html(text)}</p>', text
