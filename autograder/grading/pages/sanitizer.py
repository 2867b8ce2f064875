"""Make the HTML and Markdown of a submission harmless, and fit it into the page.

`harmless` decides what may stay. On top of that, headings get levels that continue the page's,
formulas become MathML, code gets colors, and pictures beyond the budget are left out.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.grading.pages.budget import MOST_PIXELS, Budget
from autograder.grading.pages.formulas import mathml
from autograder.grading.pages.harmless import MOST_MARKDOWN, MOST_TAGS, TAGS, clean_html
from autograder.grading.pages.pictures import DATA, pixels_of
from autograder.grading.pages.text import as_text, highlighted
from autograder.grading.submission.cells import pictures_of

INLINE, BLOCK, PYTHON = "tex", "tex-block", "python"  # in `RENDERED_LATER`
DEEPEST = 6
HEADINGS = {f"h{level}" for level in range(1, 10)}
# An element as nh3 writes it: it escapes each < and > that isn't part of a tag, and quotes values.
ELEMENT = re.compile(
    r'<code class="(?P<rendered>[a-z-]+)">(?P<text>[^<]*)</code>'
    r'|<(?P<close>/?)(?P<name>[a-z][a-z0-9]*)(?P<rest>(?:[^>"]|"[^"]*")*)>'
)
# Something meant as a tag; "a<b and c>d" only looks as if it had one.
TAG = re.compile(r"""</?([a-z][a-z0-9]*)(\s+[\w-]+=("[^"]*"|'[^']*'|[^\s"'=<>`]+))*\s*/?>""", re.I)
SRC = re.compile(rf' src="({DATA})"', re.ASCII)
ALT = re.compile(r' alt="[^"]*"')
NO_ALT = "a picture without a description"
NOT_HERE = "A picture is left out: it is not in the notebook itself."
UNKNOWN = "A picture is left out: this page shows PNG, JPEG, GIF, WebP and plain SVG."
TOO_LARGE = "A picture is left out: this page keeps {} kB and {} megapixels of pictures."
RENDERED: dict[str, Callable[[str], str]] = {
    INLINE: mathml,
    BLOCK: lambda tex: mathml(tex, block=True),
    PYTHON: lambda source: f"<code>{highlighted(source)}</code>",
}


class Sanitizer:
    """Sanitizes the pieces of a page, in their order."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.put_below(1)

    def put_below(self, level: int) -> None:
        """From now on, put headings below a heading of this level."""
        self._top = self._last = level
        self._open: list[int] = []

    def html(self, html: str) -> str:
        """Return harmless HTML, or the source as text if it would take too long to parse."""
        if html.count("<") > MOST_TAGS or not self.budget.in_time:
            return as_text(html)
        with self.budget.timed():
            return ELEMENT.sub(self._element, clean_html(html))

    def markdown(self, source: str, attachments: dict[str, Any] | None = None) -> str:
        """Render Markdown as harmless HTML."""
        if len(source) > MOST_MARKDOWN or not self.budget.in_time:
            return as_text(source)
        renderer = _Renderer(pictures_of(attachments), self.budget.most_pictures)
        try:
            with self.budget.timed():
                html = MarkdownWithMath(renderer=renderer).render(source)
        except Exception:  # whatever goes wrong here, the source is shown as it was written
            return as_text(source)
        return self.html(html)

    def _element(self, found: re.Match[str]) -> str:
        if found["rendered"]:
            return RENDERED[found["rendered"]](unescape(found["text"]))
        name = found["name"]
        if name == "img":
            return self._picture(found["rest"])
        if name in HEADINGS:
            level = self._leave() if found["close"] else self._enter(int(name[1]))
            return f"<{found['close']}h{level}>"
        return found[0]

    def _enter(self, level: int) -> int:
        """Return a heading's level on the page, which never goes two steps down at once."""
        self._last = min(self._top + level, self._last + 1, DEEPEST)
        self._open.append(self._last)
        return self._last

    def _leave(self) -> int:
        return self._open.pop() if self._open else self._last

    def _picture(self, attributes: str) -> str:
        src, alt = SRC.search(attributes), ALT.search(attributes)
        if not src:
            return left_out(NOT_HERE)
        pixels = pixels_of(src[1]) if len(src[1]) <= self.budget.pictures else 0
        if pixels is None:
            return left_out(UNKNOWN)
        if not self.budget.has_room_for_picture(src[1], pixels):
            most = self.budget.most_pictures // 1000, MOST_PIXELS // 1_000_000
            return left_out(TOO_LARGE.format(*most))
        described = attributes if alt else f'{attributes} alt="{NO_ALT}"'
        return f"<img{described}>"


def left_out(sentence: str) -> str:
    """Say that something is not on the page."""
    return f'<em class="left-out">{sentence}</em>'


class _Renderer(IPythonRenderer):
    """Renders Markdown, but leaves formulas and Python until it has been sanitized.

    room: for attached pictures, in bytes, however often each is shown.
    """

    def __init__(self, attachments: dict[str, dict[str, str]], room: int) -> None:
        super().__init__(escape=False, exclude_anchor_links=True, attachments=attachments)
        self._room = room

    def inline_math(self, body: str) -> str:
        return _code(INLINE, body)

    def block_math(self, body: str) -> str:
        return _code(BLOCK, body)

    def latex_environment(self, name: str, body: str) -> str:
        return _code(BLOCK, rf"\begin{{{name}}}{body}\end{{{name}}}")

    def inline_html(self, html: str) -> str:
        tag = TAG.fullmatch(html)
        is_meant = html.startswith("<!--") or (tag and tag[1].lower() in TAGS)
        return super().inline_html(html) if is_meant else escape(html, quote=False)

    def block_code(self, code: str, info: str | None = None) -> str:
        is_python = (info or "").split()[:1] in (["python"], ["py"], ["python3"])
        return f"<pre>{_code(PYTHON, code) if is_python else f'<code>{escape(code)}</code>'}</pre>"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        name = url.removeprefix("attachment:")
        if name != url and not self._has_room_for(name):
            url = ""
        return super().image(text, url, title)

    def _has_room_for(self, name: str) -> bool:
        """Whether there is such an attachment, and room to show it; if so, it is counted."""
        forms = self.attachments.get(name)
        self._room -= max(map(len, forms.values())) if forms else 0
        return bool(forms) and self._room >= 0


def _code(kind: str, source: str) -> str:
    return f'<code class="{kind}">{escape(source, quote=False)}</code>'
