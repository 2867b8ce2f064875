"""A cell's outputs as HTML, each in the best of its forms that shows something."""

import base64
import re
from html import escape
from typing import Any

from autograder.grading.pages.pictures import SVG
from autograder.grading.pages.sanitizer import NO_ALT, Sanitizer
from autograder.grading.pages.text import printed
from autograder.grading.submission.cells import joined_text

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
KINDS = ("text/html", "text/markdown", "text/latex", SVG, *PICTURES, "text/plain")
TAG = re.compile(r"<[^>]*>")
SHOWS = re.compile(r"<(img|math|hr|em class=\"left-out\")\b")
BARE_FIGURE = re.compile(r"<[\w.]*Figure[^>]*>")  # matplotlib's words for a figure
BASE64 = re.compile(r"[A-Za-z0-9+/]+=*")
OPEN = '<div class="shown" tabindex="0" role="group" aria-label="output">'


def output_html(output: dict[str, Any], sanitizer: Sanitizer) -> str:
    """Return an output as harmless HTML, which is empty if there is nothing to see."""
    match output:
        case {"output_type": "stream"}:
            return printed(joined_text(output.get("text")))
        case {"output_type": "error"}:
            return printed(_error(output))
        case {"data": dict(data)}:
            return _best(data, sanitizer)
    return ""


def _error(output: dict[str, Any]) -> str:
    lines = output.get("traceback")
    told = "\n".join(map(joined_text, lines)) if isinstance(lines, list) else ""
    return told or ": ".join(joined_text(output.get(part)) for part in ("ename", "evalue"))


def _best(data: dict[str, Any], sanitizer: Sanitizer) -> str:
    for kind in KINDS:
        html = _shown(kind, data, sanitizer) if kind in data else ""
        if SHOWS.search(html) or TAG.sub("", html).strip():
            return html
    return ""


def _shown(kind: str, data: dict[str, Any], sanitizer: Sanitizer) -> str:
    text = joined_text(data[kind])
    if kind == "text/plain":
        return printed(text)
    if kind == "text/html":
        html = sanitizer.html(text)
    elif kind in (*PICTURES, SVG):
        html = sanitizer.html(_picture(kind, text, joined_text(data.get("text/plain"))))
    else:
        html = sanitizer.markdown(text)
    return f"{OPEN}{html}</div>"


def _picture(kind: str, data: str, words: str) -> str:
    """Return an <img> with a picture; the text beside it, if any, becomes its description."""
    code = base64.b64encode(data.encode()).decode() if kind == SVG else "".join(data.split())
    if not BASE64.fullmatch(code):
        return ""
    alt = NO_ALT if not words.strip() or BARE_FIGURE.fullmatch(words.strip()) else words[:600]
    return f'<img src="data:{kind};base64,{code}" alt="{escape(alt)}">'
