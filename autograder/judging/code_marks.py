"""Text in which `backticks` mark code."""

from collections.abc import Iterable
from html import escape

Part = tuple[str, str]  # of a card: as HTML, and as plain text


def in_backticks(names: Iterable[str]) -> str:
    """ "`a` and `b`"."""
    return " and ".join(f"`{name}`" for name in names)


def count(number: float, noun: str) -> str:
    """ "1 point", "1,234 points", "2.5 points"."""
    shown = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    if number == 1:
        return f"{shown} {noun}"
    return f"{shown} {noun.removesuffix('y')}ies" if noun.endswith("ry") else f"{shown} {noun}s"


def as_html(text: str) -> str:
    """Escape the text as HTML, with its code in <code>."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))


def paragraph(text: str) -> Part:
    """Return a paragraph of a card."""
    return f'<p style="margin:6px 0">{as_html(text)}</p>', text
