"""Text in which `backticks` mark code."""

from collections.abc import Iterable
from html import escape


def in_backticks(names: Iterable[str]) -> str:
    """ "`a` and `b`"."""
    return " and ".join(f"`{name}`" for name in names)


def as_html(text: str) -> str:
    """Escape the text as HTML, with its code in <code>."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
