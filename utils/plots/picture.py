"""A finished picture with its caption and its description.

Every plot in the course returns a `Picture` instead of leaving a figure behind in pyplot: nothing
leaks from one cell to the next, and every picture has alt text.
"""

import html
import io
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageChops

from autograder.utils.plots.look import house_style
from autograder.utils.watching import are_described

DPI = 130
MARGIN = 13  # pixels
CSS_PIXELS_PER_INCH = 96

FIGURE_STYLE = (
    # A light background keeps the picture readable in JupyterLab's dark theme.
    "display:inline-block;margin:0;padding:8px;max-width:100%;box-sizing:border-box;"
    "background:#fff;color:#222"
)


class Shown:
    """Jupyter shows it as a captioned figure or, if nobody is looking, only as text."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        picture = {} if are_described() else {"text/html": self._html()}
        return picture | {"text/plain": str(self)}

    def _html(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Picture(Shown):
    """A PNG with its caption and alt text."""

    draw: Callable[[], Figure] = field(repr=False)
    alt: str
    caption: str

    @cached_property
    def png(self) -> bytes:
        """The PNG's bytes; the same numbers give the same bytes."""
        with house_style():
            return to_png(self.draw())

    def __str__(self) -> str:
        return f"{self.caption}\n[{self.alt}]"

    def _html(self) -> str:
        return figure_html(self.image(), self.caption)

    def image(self) -> str:
        """Return the picture alone, as HTML."""
        # Bytes 16 to 20 of a PNG are its width. Shown smaller than its size, it stays sharp on
        # high-density screens.
        width = int.from_bytes(self.png[16:20]) * CSS_PIXELS_PER_INCH // DPI
        return image_html("png", self.png, self.alt, f'width="{width}" ')


@dataclass(frozen=True)
class Diagram(Shown):
    """An SVG with its caption and alt text."""

    svg: str = field(repr=False)
    alt: str
    caption: str

    def __str__(self) -> str:
        return f"{self.caption}\n[{self.alt}]"

    def _html(self) -> str:
        return figure_html(self.image(), self.caption)

    def image(self) -> str:
        """Return the picture alone, as HTML."""
        return image_html("svg+xml", self.svg.encode(), self.alt)


def image_html(kind: str, image: bytes, alt: str, size: str = "") -> str:
    """Return an image of type image/`kind` as HTML. size: more attributes, ending in a space."""
    return (
        f'<img alt="{html.escape(alt)}" {size}style="max-width:100%" '
        f'src="data:image/{kind};base64,{b64encode(image).decode()}">'
    )


def figure_html(image: str, caption: str) -> str:
    """Return a captioned figure as HTML."""
    return (
        f'<figure style="{FIGURE_STYLE}">{image}'
        f'<figcaption style="color:#222">{html.escape(caption)}</figcaption></figure>'
    )


def render(draw: Callable[[], Figure], caption: str, alt: str) -> Picture:
    """Make a Picture of the figure that `draw` makes; draw it now, as its numbers may change."""
    picture = Picture(draw, alt, caption)
    if not are_described():
        _ = picture.png
    return picture


def to_png(figure: Figure) -> bytes:
    """Render a figure as a PNG, cropped to its content.

    This draws it once; `savefig` with a tight box draws everything twice.
    """
    figure.dpi = DPI
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = _cut(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"))
    # A palette makes the file four times smaller, so that executed notebooks stay small. Maximum
    # coverage keeps white white and every color within 3% of the original; other methods do not.
    image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    image.save(packed, format="png")
    return packed.getvalue()


def _cut(image: Image.Image) -> Image.Image:
    """Crop the white around the drawing, except for a margin."""
    white = Image.new("RGB", image.size, "white")
    left, top, right, bottom = ImageChops.difference(image, white).getbbox() or (0, 0, *image.size)
    box = (left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN)
    within = (max(box[0], 0), max(box[1], 0), min(box[2], image.width), min(box[3], image.height))
    return image.crop(within)
