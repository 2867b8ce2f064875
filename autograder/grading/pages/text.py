"""Text that is not parsed, as HTML: what a program printed, or a source as it was written."""

import re
from html import escape

from autograder.grading.pages.harmless import MOST_TEXT

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colors, and moves of the cursor
OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)  # by a progress bar
LINE_END = re.compile(r"\r\n?")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def printed(text: str) -> str:
    """Show what a program printed, as a terminal would leave it."""
    lines = without_controls(OVERWRITTEN.sub("", ESCAPES.sub("", _clipped(text)))).strip("\n")
    if not lines.strip():
        return ""
    html = escape(lines, quote=False)
    return f'<pre class="printed" tabindex="0" role="group" aria-label="output">{html}</pre>'


def as_text(source: str) -> str:
    """Show a source as it was written."""
    return f'<pre class="source">{escape(without_controls(_clipped(source)), quote=False)}</pre>'


def without_controls(text: str) -> str:
    """Return text with one kind of line end, and no other control characters."""
    return UNPRINTABLE.sub("", LINE_END.sub("\n", text))


def _clipped(text: str) -> str:
    """Leave out the middle of a long text: a traceback says most at its end."""
    half = MOST_TEXT // 2
    missing = len(text) - 2 * half
    if missing <= 0:
        return text
    return f"{text[:half]}\n… ({missing:,} characters are left out here)\n{text[-half:]}"
