"""A finished picture with its caption and its description.

Every plot in the course returns a `Picture` instead of leaving a figure behind in pyplot: nothing
leaks from one cell to the next, and every picture has alt text.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree import ElementTree

from matplotlib.figure import Figure

from autograder.utils.plots.look import house_style
from autograder.utils.plots.pixels import css_width, to_pngs
from autograder.utils.plots.theme import MOST, figure_html, image_html, wrapping
from autograder.utils.watching import are_described


class Shown:
    """Jupyter shows it as a captioned figure or, if nobody is looking, only as text."""

    alt: str
    caption: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        picture = {} if are_described() else {"text/html": self._html()}
        return picture | {"text/plain": str(self)}

    def __str__(self) -> str:
        return f"{self.caption}\n[{self.alt}]"

    def _html(self) -> str:
        return figure_html(self.image(), self.caption)

    def image(self) -> str:
        """Return the picture alone, as HTML."""
        raise NotImplementedError


@dataclass(frozen=True)
class Picture(Shown):
    """PNGs, one for each panel, with their caption and alt text."""

    draw: Callable[[], Figure] = field(repr=False)
    alt: str
    caption: str

    @cached_property
    def pngs(self) -> list[bytes]:
        """The PNGs' bytes; the same numbers give the same bytes."""
        with house_style():
            return to_pngs(self.draw())

    def image(self) -> str:
        """Return the picture alone, as HTML; the first panel has the alt text of all."""
        alts = [self.alt] + [""] * (len(self.pngs) - 1)
        most = MOST if len(self.pngs) == 1 else 1
        panels = [
            image_html("png", png, alt, css_width(png), most)
            for png, alt in zip(self.pngs, alts, strict=True)
        ]
        return f"<div>{wrapping(panels)}</div>"


@dataclass(frozen=True)
class Diagram(Shown):
    """An SVG with its caption and alt text."""

    svg: str = field(repr=False)
    alt: str
    caption: str

    def image(self) -> str:
        """Return the picture alone, as HTML."""
        width = float(ElementTree.fromstring(self.svg).attrib["width"])
        return image_html("svg+xml", self.svg.encode(), self.alt, width)


def render(draw: Callable[[], Figure], caption: str, alt: str) -> Picture:
    """Make a Picture of the figure that `draw` makes; draw it now, as its numbers may change."""
    picture = Picture(draw, alt, caption)
    if not are_described():
        _ = picture.pngs
    return picture
