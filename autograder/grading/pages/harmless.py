"""Make the HTML of submissions safe to view: no scripts, forms or frames, and no names or classes.

formgrader and feedback pages show what learners wrote and what their code displayed. A script in it
would run in the viewer's browser with the viewer's rights, and an instructor may change grades. A
class or an id could be mistaken for the page's own. A link into the server, or into the viewer's
network, would act with the viewer's rights, too.
"""

import re
from html import escape

import nh3

TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div"),
    *("dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i"),
    *("img", "kbd", "li", "ol", "p", "pre", "s", "small", "span", "strong", "sub", "summary"),
    *("sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
}
ATTRIBUTES = {
    "*": {"title", "style"},
    "a": {"href"},
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
# Words, numbers and colors; no function except those for colors, and no negative number.
VALUE = re.compile(r"(?:[a-z0-9#%.,'\" ]|-(?=[a-z])|(?:rgb|hsl)a?\([0-9., %/]*\))+", re.IGNORECASE)
PROTOCOLS = {"http", "https", "mailto", "data"}
# The address of a public site. Its host is a plain name with a dot: what a browser could read as a
# number, as a relative address or as any other host doesn't match.
PUBLIC = re.compile(
    r"https?://(?:[a-z0-9_-]+\.)+(?P<top>[a-z][a-z0-9-]*)(?::[0-9]*)?(?:[/?#].*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
# The ends of names that mean this machine or a network of its own.
PRIVATE = {
    *("arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain"),
    *("localhost", "private", "test"),
}
# Classes of <code> that `sanitizer` renders afterwards.
RENDERED_LATER = {"tex", "tex-block", "python"}
MOST_MARKDOWN = 10_000  # characters in a cell
MOST_TAGS = 10_000  # in an output
MOST_TEXT = 10_000  # the characters that are shown if one of these limits is exceeded
MOST_STYLE = 1000  # characters in a style


def clean_html(html: str) -> str:
    """Remove everything from the HTML that is not known to be harmless."""
    if html.count("<") > MOST_TAGS:
        return _as_text(html)
    return CLEANER.clean(html)


def clean_style(style: str) -> str:
    """Keep the declarations that can't load anything or move what they style."""
    if len(style) > MOST_STYLE:
        return ""
    declarations = (part.strip().partition(":") for part in style.split(";"))
    kept = ((name.strip().lower(), value.strip()) for name, _, value in declarations)
    return ";".join(
        f"{name}:{value}" for name, value in kept if name in STYLES and VALUE.fullmatch(value)
    )


def _as_text(source: str) -> str:
    more = " … (the rest is in the notebook)" if len(source) > MOST_TEXT else ""
    return f"<pre>{escape(source[:MOST_TEXT])}{more}</pre>"


def _leads_out(address: str) -> bool:
    """Whether a link writes a letter, or leads to a site by its public name."""
    found = PUBLIC.fullmatch(address)
    is_public = found is not None and found["top"].lower() not in PRIVATE
    return is_public or address.lower().startswith("mailto:")


def _if_harmless(tag: str, name: str, value: str) -> str | None:
    """Return the harmless part of an attribute. Loading remote content would reveal viewers."""
    match name:
        case "src":
            return value if value.startswith("data:image/") else None
        case "href":
            return value if _leads_out(value) else None
        case "style":
            return clean_style(value) or None
    return value


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes={"code": RENDERED_LATER},
    attribute_filter=_if_harmless,
    url_schemes=PROTOCOLS,
    url_relative="deny",
)
