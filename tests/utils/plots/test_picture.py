"""Pictures: their contents, and how numbers on them are written."""

import io
import subprocess
import sys
from functools import partial

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from autograder.utils.data import generate_squares, six_words
from autograder.utils.plots import (
    Picture,
    look,
    plot_attention,
    plot_errors,
    plot_lines,
    plot_losses,
    plot_matrix,
    plot_squares,
)
from autograder.utils.plots.numbers import short

LABELS, WORDS = six_words()
SCORES = WORDS @ WORDS.T
WEIGHTS = SCORES.softmax(-1)


def test_html_shows_the_picture_and_escapes_the_words():
    picture = Picture(plot_attention([[1]], caption="").draw, 'say "a" & <b>', "<i>c</i>")
    html = picture._repr_mimebundle_()["text/html"]
    assert '<img alt="say &quot;a&quot; &amp; &lt;b&gt;"' in html
    assert "&lt;i&gt;c&lt;/i&gt;</figcaption>" in html
    assert 'src="data:image/png;base64,iVBOR' in html
    assert "background:#fff" in html


def test_without_a_viewer_a_picture_is_only_described(monkeypatch):
    monkeypatch.setenv("ATTENTION_FIGURES", "described")
    picture = plot_attention([[1]], caption="what it shows")
    bundle = picture._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert bundle["text/plain"].startswith("what it shows")
    assert "pngs" not in vars(picture)  # not drawn
    assert picture.pngs[0].startswith(b"\x89PNG")  # until requested


def test_plain_text_carries_caption_and_alt():
    plain = Picture(Figure, "what is seen", "what it shows")._repr_mimebundle_()["text/plain"]
    assert plain == "what it shows\n[what is seen]"


def test_the_png_is_small_and_white():
    [png] = plot_attention(WEIGHTS, LABELS, LABELS, caption="c").pngs
    assert png.startswith(b"\x89PNG") and len(png) < 25_000
    assert Image.open(io.BytesIO(png)).convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_each_panel_is_a_picture_of_its_own_and_only_the_first_is_described():
    picture = plot_matrix(np.stack([SCORES, WEIGHTS, SCORES]), LABELS, LABELS, caption="c")
    assert len(picture.pngs) == 3
    panels = [pixels(png) for png in picture.pngs]
    assert len({len(panel) for panel in panels}) == 1  # of one height
    assert all((panel[:, [0, -1]] == 255).all() for panel in panels)  # nothing is cut through
    html = picture.image()
    assert html.count("<img") == 3 and html.count('alt=""') == 2
    assert html.index(picture.alt) < html.index('alt=""')


def test_colors_survive_the_palette():
    picture = plot_matrix([[0, 1, 2], [3, 4, 5]], caption="c")
    drawn = pixels(*picture.pngs).reshape(-1, 3)
    for value in range(6):
        color = 255 * np.array(look.WEIGHTS(value / 5)[:3])
        assert abs(drawn - color).max(axis=1).min() < 10


def test_the_same_input_gives_the_same_bytes():
    first, second = (plot_matrix(SCORES, caption="c").pngs for _ in range(2))
    assert first == second


def test_neither_pyplot_nor_torch_is_imported():
    code = (
        "import sys; from autograder.utils.plots import plot_matrix;"
        "plot_matrix([[1]], caption='c'); print({'matplotlib.pyplot', 'torch'} & {*sys.modules})"
    )
    assert subprocess.check_output([sys.executable, "-c", code], encoding="utf-8") == "set()\n"


def settings():
    # Reading "backend" would import pyplot.
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}


@pytest.mark.parametrize(
    "plot",
    [
        partial(plot_matrix, SCORES),
        partial(plot_lines, [1, 2], {"a": [3, 4]}, x_name="x", y_name="y"),
        partial(plot_losses, {"a": ([2, 1], [3, 2])}),
        partial(plot_errors, {"x": [0.1]}),
        partial(plot_squares, generate_squares(5).points),
    ],
    ids=lambda plot: plot.func.__name__,
)
def test_settings_neither_leak_in_nor_out(plot):
    expected = plot(caption="c").pngs
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
        before = settings()
        assert plot(caption="c").pngs == expected
        assert settings() == before


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0, "0"),
        (1, "1"),
        (0.1455, "0.15"),
        (-0.25, "-0.25"),
        (9.996, "10.0"),
        (99.96, "100"),
        (9999.7, "1e4"),
        (3e-44, "3e-44"),
        (-1e9, "-1e9"),
        (1_234_567, "1.2e6"),
        (np.nan, "NaN"),
        (-np.inf, "-inf"),
    ],
)
def test_numbers_are_short(value, printed):
    assert short(value) == printed
