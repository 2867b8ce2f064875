"""Text as HTML: what a program printed, a source as it was written, Python code with colors."""

import re
from html import escape
from itertools import groupby

from markupsafe import Markup
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from autograder.grading.pages.harmless import MOST_TEXT

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colors, and moves of the cursor
OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)  # by a progress bar
LINE_END = re.compile(r"\r\n?")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Classes in `page.css`; the first that a token belongs to counts. Pygments' own formatter has
# eighty, and would wrap each name and bracket in an element, which triples the size.
CLASSES = (
    (Comment, "c"),
    (String.Doc, "c"),
    (String, "s"),
    (Number, "m"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
)
LEXER = PythonLexer(stripnl=False, ensurenl=False)

Html = Markup  # safe to put on a page


def printed(text: str) -> str:
    """Show what a program printed, as a terminal would show it in the end."""
    lines = without_controls(OVERWRITTEN.sub("", ESCAPES.sub("", _clipped(text)))).strip("\n")
    if not lines.strip():
        return ""
    html = escape(lines, quote=False)
    return f'<pre class="printed" tabindex="0" role="group" aria-label="output">{html}</pre>'


def as_text(source: str) -> str:
    """Show a source as it was written."""
    return f'<pre class="source">{escape(without_controls(_clipped(source)), quote=False)}</pre>'


def highlighted(source: str) -> str:
    """Return Python code as HTML; anything else has no colors."""
    tokens = ((_class(kind), text) for kind, text in LEXER.get_tokens(source))
    return "".join(
        _span(name, "".join(text for _, text in same))
        for name, same in groupby(tokens, key=lambda token: token[0])
    )


def without_controls(text: str) -> str:
    """Return text with \\n at its line ends and no other control characters."""
    return UNPRINTABLE.sub("", LINE_END.sub("\n", text))


def _clipped(text: str) -> str:
    """Leave out the middle of a long text, because a traceback says most at its end."""
    half = MOST_TEXT // 2
    missing = len(text) - 2 * half
    if missing <= 0:
        return text
    return f"{text[:half]}\n… ({missing:,} characters are left out here)\n{text[-half:]}"


def _class(kind: object) -> str:
    return next((name for parent, name in CLASSES if kind in parent), "")


def _span(name: str, text: str) -> str:
    html = escape(text, quote=False)
    return f'<span class="{name}">{html}</span>' if name else html
