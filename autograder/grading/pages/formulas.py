"""Formulas in TeX as MathML, which browsers show without any script.

latex2mathml makes the elements, but would write them unescaped: `\\text{<script>}` would become a
script. Here only known elements and attributes are written, and all text is escaped.
"""

import re
from html import escape, unescape
from types import MappingProxyType
from xml.etree.ElementTree import Element

from latex2mathml.converter import Converter

LONGEST = 1_000  # characters of TeX
ELEMENTS = {
    *("math", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"),
    *("mprescripts", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup"),
    *("mtable", "mtd", "mtext", "mtr", "munder", "munderover"),
}
ATTRIBUTES = {
    *("accent", "accentunder", "columnalign", "columnspacing", "depth", "display", "displaystyle"),
    *("fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize"),
    *("minsize", "movablelimits", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy"),
    *("symmetric", "voffset", "width"),
}
# Replacements for environments that latex2mathml doesn't know, or would number.
ALIKE = {
    **dict.fromkeys(("align", "align*", "aligned"), "split"),
    **dict.fromkeys(("gather", "gather*", "gathered"), "matrix"),
}
ENVIRONMENT = re.compile(r"(\\(?:begin|end)\s*)\{([a-z]+\*?)\}")
IN_TEXT = re.compile(r"\\([_$%&#{}])")
NARROW = {"negativethinmathspace": "-0.167em"}  # MathML Core has no names for widths


class NotConverted(ValueError):
    """A formula has something that latex2mathml can't convert."""


def mathml(tex: str, block: bool = False) -> str:
    """Return a formula as MathML, or as its TeX in <code> if it can't be converted."""
    try:
        html = _written(_element(tex, block))
    except Exception:  # latex2mathml raises many kinds; no formula may spoil the page
        return f"<code>{escape(tex.strip()[:LONGEST])}</code>"
    if block:
        return f'<span class="formula" tabindex="0" role="group" aria-label="formula">{html}</span>'
    return html


def _element(tex: str, block: bool) -> Element:
    if len(tex) > LONGEST:
        raise NotConverted("it is too long")
    converter = Converter(display="block" if block else "inline")
    # Macros could grow without end, so none can be defined.
    converter.macros = MappingProxyType({})  # type: ignore[assignment]
    known = ENVIRONMENT.sub(lambda m: f"{m[1].strip()}{{{ALIKE.get(m[2], m[2])}}}", tex)
    return converter.convert_to_element(known)


def _written(element: Element) -> str:
    """Write an element with everything in it. Raises NotConverted for an unknown part."""
    if element.tag not in ELEMENTS or "linebreak" in element.attrib:
        raise NotConverted(element.tag)
    attributes = "".join(
        f' {name}="{escape(NARROW.get(value, value))}"'
        for name, value in element.attrib.items()
        if name in ATTRIBUTES
    )
    inside = _text(element) + "".join(map(_written, element))
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def _text(element: Element) -> str:
    """Return an element's text, in which latex2mathml writes symbols as character references."""
    text = unescape(element.text or "")
    if element.tag == "mtext":
        text = IN_TEXT.sub(r"\1", text)
    elif text == "&" or re.match(r"\\[a-zA-Z]", text):
        raise NotConverted(text)
    return escape(text, quote=False)
