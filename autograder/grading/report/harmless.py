"""Make the HTML of submissions safe to view: no scripts, forms or frames.

formgrader and feedback pages show what learners wrote and what their code displayed. A script in it
would run in the viewer's browser, with the viewer's rights; an instructor's can change marks.
These are filters for nbconvert's templates (see nbgrader_config.py).
"""

import time
from collections.abc import Callable
from html import escape

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div"),
    *("dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i"),
    *("img", "kbd", "li", "ol", "p", "pre", "s", "small", "span", "strong", "sub", "summary"),
    *("sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
}
ATTRIBUTES = {
    "*": {"class", "id", "title", "style"},
    "a": {"href", "name"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
STYLES = {
    *("background", "background-color", "border", "border-bottom", "border-collapse"),
    *("border-left", "border-right", "border-top", "caption-side", "color", "display"),
    *("font-family", "font-size", "font-style", "font-weight", "height", "list-style", "margin"),
    *("margin-bottom", "margin-left", "margin-right", "margin-top", "max-width", "min-width"),
    *("padding", "padding-left", "padding-right", "text-align", "vertical-align", "white-space"),
    *("width",),
}
PROTOCOLS = {"http", "https", "mailto", "data"}
MOST_MARKDOWN = 10_000  # characters in a cell
MOST_TAGS = 10_000  # in an output
MOST_TEXT = 10_000  # characters shown of anything that exceeds one of these limits
MOST_SECONDS = 10.0  # per page
SPENT = "harmless_seconds"


@pass_context
def harmless_html(context: Context, html: str | bytes) -> str:
    """Filter HTML, removing everything not known to be harmless."""
    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    return _in_time(context, text, clean_html)


@pass_context
def harmless_markdown(context: Context, source: str) -> str:
    """Render Markdown as harmless HTML, with the pictures attached to its cell."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = IPythonRenderer(escape=False, attachments=attachments)
    render = MarkdownWithMath(renderer=renderer).render
    if len(source) > MOST_MARKDOWN:
        return _as_text(source)
    return _in_time(context, source, lambda text: clean_html(render(text)))


def clean_html(html: str) -> str:
    """Remove everything from the HTML that is not known to be harmless."""
    if html.count("<") > MOST_TAGS:
        return _as_text(html)
    return CLEANER.clean(html)


def _in_time(context: Context, source: str, make: Callable[[str], str]) -> str:
    """Make HTML from a source, or show it as text once this page has taken too long.

    An attacker can make a parser's time grow with the square of the length.
    """
    page, start = context["resources"], time.monotonic()
    if page.get(SPENT, 0.0) > MOST_SECONDS:
        return _as_text(source)
    made = make(source)
    page[SPENT] = page.get(SPENT, 0.0) + time.monotonic() - start
    return made


def _as_text(source: str) -> str:
    more = " … (the rest is in the notebook)" if len(source) > MOST_TEXT else ""
    return f"<pre>{escape(source[:MOST_TEXT])}{more}</pre>"


def _if_harmless(tag: str, name: str, value: str) -> str | None:
    """Return an attribute's value if it may stay. Loading remote content would reveal viewers."""
    match name:
        case "src":
            harmless = value.startswith("data:image/")
        case "href":
            harmless = not value.strip().lower().startswith("data:")
        case "style":
            harmless = not any(word in value.lower() for word in ("url", "image", "\\"))
        case _:
            harmless = True
    return value if harmless else None


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    attribute_filter=_if_harmless,
    filter_style_properties=STYLES,
    url_schemes=PROTOCOLS,
)
