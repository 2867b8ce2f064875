"""Bars: their values are printed, and what is not finite is marked."""

import numpy as np
import pytest

from autograder.utils.data import six_words
from autograder.utils.plots import plot_bars
from autograder.utils.plots.bars import draw_bars

LABELS, WORDS = six_words()


def test_bars_print_values_and_mark_nan_and_infinity():
    figure = draw_bars({"x": np.array([1.5, -0.25, np.nan])}, list("abc"))
    positive, negative, nan = figure.axes[0].texts
    assert [t.get_text() for t in (positive, negative, nan)] == ["1.50", "-0.25", "NaN"]
    assert (positive.get_va(), negative.get_va()) == ("bottom", "top")
    assert nan.get_color() != positive.get_color()
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == [1.5, -0.25, 0]


def test_bars_have_a_panel_each_and_a_scale_of_their_own():
    series = {"small": np.array([0.1]), "large": np.array([100.0])}
    small, large = draw_bars(series, ["a"]).axes
    assert (small.get_title(), large.get_title()) == ("small", "large")
    assert small.get_ylim() != large.get_ylim()
    small, large = draw_bars(series, ["a"], share_y=True).axes
    assert small.get_ylim() == large.get_ylim()


def test_bars_alt_text_holds_the_numbers():
    assert (
        "softmax: Your 0.25, journey 0.75."
        in plot_bars({"softmax": [0.25, 0.75]}, LABELS[:2], caption="c").alt
    )


@pytest.mark.parametrize(
    ("panels", "words"),
    [
        ({}, "at least one panel"),
        ({"softmax": [1, 2]}, r"panels\['softmax'\].*\[2\] for 3 label.*one number for each label"),
        ({"softmax": [[1, 2, 3]]}, r"panels\['softmax'\].*\[1, 3\]"),
    ],
)
def test_wrong_bars_are_refused(panels, words):
    with pytest.raises(ValueError, match=words):
        plot_bars(panels, list("abc"), caption="c")
