"""Diagrams: well-formed, within their frame, described, and with true numbers."""

from xml.etree import ElementTree

import pytest
import torch

from autograder.utils import plots
from autograder.utils.data import six_words
from autograder.utils.plots.sketch import Box, Sketch

LABELS, WORDS = six_words()
COLUMN = 720  # pixels, of the site and of JupyterLab in a window of 900
TAG = "{http://www.w3.org/2000/svg}"
DIAGRAMS = {
    "attention": lambda: plots.draw_attention(WORDS, LABELS, 1, caption="a & b"),
    "keepdim": lambda: plots.draw_keepdim(caption="a & b"),
    "projections": lambda: plots.draw_projections(caption="a & b"),
    "split": lambda: plots.draw_split(caption="a & b"),
    "encoder and decoder": lambda: plots.draw_encoder_decoder(caption="a & b"),
}


def texts(diagram):
    return [element.text for element in ElementTree.fromstring(diagram.svg).iter(f"{TAG}text")]


@pytest.mark.parametrize("draw", DIAGRAMS.values(), ids=DIAGRAMS)
def test_everything_is_within_the_frame_and_described(draw):
    diagram = draw()
    root = ElementTree.fromstring(diagram.svg)
    left, top, width, height = map(float, root.get("viewBox").split())
    sizes = [float(text.get("font-size")) for text in root.iter(f"{TAG}text")]
    assert min(sizes) * min(1, COLUMN / width) >= 9 and height < 600
    for element in root:
        xs, ys = ends(element)
        assert left <= min(xs) and max(xs) <= left + width
        assert top <= min(ys) and max(ys) <= top + height
    assert len(diagram.alt) > 100
    shown = diagram._repr_mimebundle_()
    assert "a &amp; b" in shown["text/html"] and diagram.alt in shown["text/plain"]


def ends(element):
    """The places on x and on y that an element surely touches."""
    if element.tag == f"{TAG}rect":
        x, y, width, height = (float(element.get(name)) for name in ("x", "y", "width", "height"))
        return [x, x + width], [y, y + height]
    if element.tag == f"{TAG}text":
        return [float(element.get("x"))], [float(element.get("y"))]
    points = [tuple(map(float, point.split(","))) for point in element.get("points").split()]
    return list(zip(*points, strict=True))


def test_the_numbers_are_those_of_attention():
    weights = torch.softmax(WORDS @ WORDS[1], dim=0)
    numbers = [*(WORDS @ WORDS[1]), *weights, *(weights @ WORDS)]
    shown = texts(DIAGRAMS["attention"]())
    assert shown.count("journey") == 1
    assert [text for text in shown if text[0].isdigit()][18:] == [f"{n:.2f}" for n in numbers]


def test_the_wrong_split_gives_a_head_two_rows_of_one_word():
    words = [text for text in texts(DIAGRAMS["split"]()) if text.startswith("word")]
    right, wrong = [f"word {i}" for i in (0, 1, 2)], ["word 0", "word 0", "word 1"]
    assert words == [*right, *right, *right, *wrong, "word 1", "word 2", "word 2"]


def test_an_arrow_bends_where_boxes_differ_in_height():
    sketch = Sketch()
    sketch.connect(Box(0, 0, 10, 10), Box(100, 0, 10, 10))
    sketch.connect(Box(0, 0, 10, 10), Box(100, 50, 10, 10))
    sketch.words(0, 0, "here")
    lines = ElementTree.fromstring(sketch.svg()).iter(f"{TAG}polyline")
    assert [len(line.get("points").split()) for line in lines] == [2, 4]
