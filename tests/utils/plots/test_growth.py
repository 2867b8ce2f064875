"""Growth: the slope is the exponent, whatever small sizes cost."""

import numpy as np
import pytest

from autograder.utils.plots import growth_slope, plot_growth
from autograder.utils.plots.growth import draw_growth


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_slope_is_the_exponent():
    sizes = np.array([8, 16, 32, 64])
    assert growth_slope(sizes, 3e-6 * sizes**2.0) == pytest.approx(2)
    assert growth_slope([3, 1, 2], [27, 1, 8]) == pytest.approx(3)
    assert growth_slope([1, 10], [5, 5]) == pytest.approx(0)


def test_slope_leaves_out_the_fixed_costs_of_small_sizes():
    sizes = 2.0 ** np.arange(12)
    seconds = np.where(sizes < 64, 64.0, sizes) ** 2
    assert growth_slope(sizes, seconds) == pytest.approx(2)
    assert growth_slope(sizes[::-1], seconds[::-1]) == pytest.approx(2)


def test_growth_is_log_log_with_slopes_in_the_legend():
    points = np.array([[1, 10, 100], [2, 200, 20_000]])
    ax = draw_growth({"loop": points, "flat": np.ones((2, 3)) * points[:1]}, "n", "s").axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["loop (slope 2.0)", "flat (slope 1.0)"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "10", "100"]


@pytest.mark.parametrize(
    ("seconds", "ticks"),
    [
        ([1e-5, 1e-4, 1e-3], ["10⁻⁵", "10⁻⁴", "10⁻³"]),
        ([2e-4, 1e-3, 2e-1], ["0.001", "0.01", "0.1"]),
        ([2e-5, 4e-4], ["2·10⁻⁵", "5·10⁻⁵", "10⁻⁴"]),
    ],
)
def test_ticks_have_one_notation(seconds, ticks):
    sizes = range(1, len(seconds) + 1)
    axis = draw_growth({"loop": np.array([sizes, seconds])}, "n", "s").axes[0].yaxis
    low, high = axis.get_view_interval()
    seen = [text for at, text in tick_texts(axis) if low <= at <= high]
    assert set(ticks) <= set(seen) and len({"10" in text for text in seen}) == 1


def tick_texts(axis):
    places = axis.get_ticklocs()
    return zip(places, axis.get_major_formatter().format_ticks(places), strict=True)


def test_growth_alt_text_gives_the_slopes():
    alt = plot_growth([1, 2, 4], {"loop": [1, 4, 16]}, caption="c").alt
    assert "seconds against n_words, 1 to 4" in alt and "loop has slope 2.0" in alt


@pytest.mark.parametrize(
    ("sizes", "seconds", "words"),
    [
        ([1, 2], {}, "seconds is empty"),
        ([1, 2], {"loop": [1]}, r"sizes has the shape \[2\], seconds\['loop'\] \[1\]"),
        ([1, 2], {"loop": [0, 1]}, r"seconds\['loop'\] holds 0.*above 0"),
        ([1, 1], {"loop": [1, 2]}, "at least two, all different"),
        ([1], {"loop": [1]}, "at least two"),
    ],
)
def test_wrong_growth_is_refused(sizes, seconds, words):
    with pytest.raises(ValueError, match=words):
        plot_growth(sizes, seconds, caption="c")
