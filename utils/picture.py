"""A finished picture that carries its caption and its description.

Every plot of the course returns a `Picture` instead of leaving a figure behind in pyplot: nothing
leaks from one cell to the next, and no picture is without alt text.
"""

import html
import io
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

DPI = 130
CSS_PIXELS_PER_INCH = 96

FIGURE_STYLE = (
    # A light ground of its own keeps the picture readable in JupyterLab's dark theme.
    "display:inline-block;margin:0;padding:8px;max-width:100%;box-sizing:border-box;"
    "background:#fff;color:#222"
)


@dataclass(frozen=True)
class Picture:
    """A PNG with the words that belong to it; Jupyter shows it as a captioned figure."""

    png: bytes = field(repr=False)
    alt: str
    caption: str

    def save(self, path: str | Path) -> None:
        """Write the PNG to `path`."""
        Path(path).write_bytes(self.png)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self._html(), "text/plain": f"{self.caption}\n[{self.alt}]"}

    def _html(self) -> str:
        # Bytes 16 to 20 of a PNG are its width. Shown smaller than it is, it stays sharp on
        # screens of high density.
        width = int.from_bytes(self.png[16:20]) * CSS_PIXELS_PER_INCH // DPI
        return (
            f'<figure style="{FIGURE_STYLE}">'
            f'<img alt="{html.escape(self.alt)}" width="{width}" style="max-width:100%" '
            f'src="data:image/png;base64,{b64encode(self.png).decode()}">'
            f'<figcaption style="color:#222">{html.escape(self.caption)}</figcaption></figure>'
        )


def render(figure: Figure, caption: str, alt: str) -> Picture:
    """Turn a figure into a Picture; the same figure gives the same bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, bbox_inches="tight", facecolor="white")
    # A palette makes the file four times smaller, so that executed notebooks stay light. Maximum
    # coverage keeps white white and every colour within 3 % of its own; other methods do not.
    palette = {"method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
    image = Image.open(drawn).convert("RGB").quantize(256, **palette)
    packed = io.BytesIO()
    image.save(packed, format="png", optimize=True)
    return Picture(packed.getvalue(), alt, caption)
