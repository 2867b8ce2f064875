"""Make PNGs of a figure: one for each of its panels, so that a narrow page can stack them."""

import io
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageChops

DPI = 130
MARGIN = 13  # pixels
CSS_PIXELS_PER_INCH = 96


def to_pngs(figure: Figure) -> list[bytes]:
    """Render a figure whose panels are side by side as PNGs of one height, from left to right.

    This draws it once; `savefig` with a tight box draws everything twice.
    """
    figure.dpi = DPI
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = _cut(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"), sides="tb")
    edges = [0, *_gaps(figure), image.width]
    pieces = [image.crop((left, 0, right, image.height)) for left, right in pairwise(edges)]
    return [_packed(_cut(piece, sides="lr")) for piece in pieces]


def css_width(png: bytes) -> int:
    """Return the width at which a PNG is shown: smaller than it is, to stay sharp on any screen."""
    return int.from_bytes(png[16:20]) * CSS_PIXELS_PER_INCH // DPI  # where a PNG has its width


def _gaps(figure: Figure) -> list[int]:
    """Return the middles of the gaps between panels. A color bar belongs to the panel before it."""
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    spans = [_span(ax) for ax in panels]
    return [round((right + left) / 2) for (_, right), (left, _) in pairwise(spans)]


def _span(ax: Axes) -> tuple[float, float]:
    """Return the left and right end of axes with all that belongs to them, in pixels."""
    box = ax.get_tightbbox()
    assert box is not None  # only invisible axes have none
    return box.x0, box.x1


def _cut(image: Image.Image, sides: str) -> Image.Image:
    """Crop the white around the drawing, except for a margin: `tb` is top and bottom."""
    white = Image.new("RGB", image.size, "white")
    whole = 0, 0, *image.size
    left, top, right, bottom = ImageChops.difference(image, white).getbbox() or whole
    if sides == "tb":
        return image.crop((0, max(top - MARGIN, 0), image.width, min(bottom + MARGIN, whole[3])))
    return image.crop((max(left - MARGIN, 0), 0, min(right + MARGIN, whole[2]), image.height))


def _packed(image: Image.Image) -> bytes:
    # A palette makes the file four times smaller, so that executed notebooks stay small. Maximum
    # coverage keeps white white and every color within 3% of the original; other methods do not.
    image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    image.save(packed, format="png")
    return packed.getvalue()
