"""An SVG that grows piece by piece: cells, words and arrows. `diagrams` draws with it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from autograder.utils.palette import GRAY, ink

CELL = 20  # pixels
INK = "#222222"
FONT = "DejaVu Sans, Verdana, sans-serif"
MARGIN = 10
LETTER = 0.62  # as a share of the font's size; most letters are narrower
HEAD = 5  # length of an arrow's head
GAP, BEND = 5, 22  # between an arrow and a box, and between its last turn and its end


class Box(NamedTuple):
    """A rectangle on a sketch."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def center(self) -> float:
        return self.x + self.width / 2


class Sketch:
    """Shapes and words at any place; the picture grows to hold them."""

    def __init__(self) -> None:
        self._pieces: list[ElementTree.Element] = []
        self._boxes: list[Box] = []

    def cells(
        self,
        x: float,
        y: float,
        fills: Sequence[Sequence[str]],
        texts: Sequence[Sequence[str]] | None = None,
        width: float = CELL,
    ) -> Box:
        """Draw a matrix, one color and at most one word per cell."""
        for i, row in enumerate(fills):
            for j, fill in enumerate(row):
                place = Box(x + j * width, y + i * CELL, width, CELL)
                self._rectangle(place, fill, "#ffffff")
                if texts:
                    self.words(place.center, place.middle, texts[i][j], size=10, color=ink(fill))
        return Box(x, y, len(fills[0]) * width, len(fills) * CELL)

    def frame(self, box: Box, color: str) -> None:
        """Draw a thick line around a box."""
        self._rectangle(box, "none", color, 2.5)

    def block(self, box: Box, fill: str, text: str, size: float = 12) -> Box:
        """Draw a box with a text of one or more lines in it."""
        self._rectangle(box, fill, GRAY, rx=4)
        lines = text.split("\n")
        for number, line in enumerate(lines):
            height = box.middle + 16 * (number - (len(lines) - 1) / 2)
            self.words(box.center, height, line, size=size, color=ink(fill))
        return box

    def words(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 12,
        color: str = INK,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write a line, its middle at height `y`.

        anchor: what `x` is: start, middle or end.
        """
        look = {"font-weight": "bold"} if bold else {}
        self._add(
            "text",
            {"x": x, "y": y, "fill": color, "font-size": size, "text-anchor": anchor}
            | {"dominant-baseline": "central"}
            | look,
        ).text = text
        width = len(text) * size * LETTER
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        self._boxes.append(Box(left, y - size / 2, width, size))

    def arrow(self, *points: tuple[float, float], text: str = "") -> None:
        """Draw an arrow through the points, with a text above the middle of its first stretch."""
        form = {"fill": "none", "stroke": GRAY, "stroke-width": 1.5}
        self._add("polyline", {"points": _joined(points)} | form)
        (x0, y0), (x, y) = points[-2:]
        dx, dy = HEAD * np.sign(x - x0), HEAD * np.sign(y - y0)
        wings = (x - dx + 0.7 * dy, y - dy + 0.7 * dx), (x - dx - 0.7 * dy, y - dy - 0.7 * dx)
        self._add("polygon", {"points": _joined([(x, y), *wings]), "fill": GRAY})
        if text:
            (x0, y0), (x1, y1) = points[:2]
            self.words((x0 + x1) / 2, (y0 + y1) / 2 - 10, text, size=11)

    def connect(self, one: Box, other: Box, text: str = "") -> None:
        """Draw an arrow from the right side of a box to the left side of another."""
        start, end = (one.right + GAP, one.middle), (other.x - GAP, other.middle)
        bend = end[0] - BEND
        turns = [] if one.middle == other.middle else [(bend, start[1]), (bend, end[1])]
        self.arrow(start, *turns, end, text=text)

    def svg(self) -> str:
        """Return the whole sketch as the text of an SVG."""
        left = min(box.x for box in self._boxes) - MARGIN
        top = min(box.y for box in self._boxes) - MARGIN
        width = max(box.right for box in self._boxes) + MARGIN - left
        height = max(box.bottom for box in self._boxes) + MARGIN - top
        form = {"width": f"{width:g}", "height": f"{height:g}", "font-family": FONT}
        form |= {"viewBox": f"{left:g} {top:g} {width:g} {height:g}"}
        root = ElementTree.Element("svg", form | {"xmlns": "http://www.w3.org/2000/svg"})
        root.extend(self._pieces)
        return ElementTree.tostring(root, encoding="unicode")

    def _rectangle(self, box: Box, fill: str, stroke: str, thick: float = 1, rx: float = 0) -> None:
        form = {"x": box.x, "y": box.y, "width": box.width, "height": box.height, "rx": rx}
        self._add("rect", form | {"fill": fill, "stroke": stroke, "stroke-width": thick})
        self._boxes.append(box)

    def _add(self, tag: str, attributes: dict[str, object]) -> ElementTree.Element:
        said = {
            name: f"{value:g}" if isinstance(value, int | float) else str(value)
            for name, value in attributes.items()
        }
        piece = ElementTree.Element(tag, said)
        self._pieces.append(piece)
        return piece


def _joined(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def column(values: Iterable[str]) -> list[list[str]]:
    """Return one value per row."""
    return [[value] for value in values]
