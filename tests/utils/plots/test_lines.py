"""Lines: what is drawn, what the alt text says, and what is refused."""

import numpy as np
import pytest
import torch

from autograder.utils.plots import plot_lines

X = [2, 4, 8, 16]
NAMES = {"x_name": "d_k", "y_name": "deviation", "caption": "c"}


def drawn(x=X, series=None, **options):
    series = {"a": np.array([1.0, 2, 3, 4])} if series is None else series
    figure = plot_lines(x, series, **NAMES, **options).draw()
    figure.draw_without_rendering()
    return figure.axes[0]


def test_each_line_has_its_name_and_a_look_of_its_own():
    ax = drawn(series={name: np.arange(4.0) + i for i, name in enumerate("abc")})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("d_k", "deviation")


def test_six_lines_look_different():
    ax = drawn(series={name: np.arange(4.0) for name in "abcdef"})
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 6


def test_several_runs_are_their_mean_and_a_band():
    ax = drawn(series={"a": np.array([[1.0, 2, 3, 4], [3, 2, 5, 4]])})
    assert ax.lines[0].get_ydata().tolist() == [2, 2, 4, 4]
    band = ax.collections[0].get_paths()[0].vertices
    edges = {x: {y for at, y in band.tolist() if at == x} for x in X}
    assert edges == {2: {1, 3}, 4: {2}, 8: {3, 5}, 16: {4}}
    assert "a: from 2 to 4" in plot_lines(X, {"a": [[1.0, 2, 3, 4], [3, 2, 5, 4]]}, **NAMES).alt


def test_one_line_needs_no_legend():
    assert drawn().get_legend() is None


def test_a_rule_is_dashed_and_uses_up_no_line_style():
    rule, measured = drawn(series={"rule": np.ones(4), "a": np.ones(4)}, dashed=["rule"]).lines
    assert (rule.get_linestyle(), rule.get_marker()) == ("--", "None")
    assert measured.get_color() == drawn().lines[0].get_color()


def test_many_points_have_no_markers():
    assert drawn(range(30), {"a": np.ones(30)}).lines[0].get_marker() == "o"
    assert drawn(range(31), {"a": np.ones(31)}).lines[0].get_marker() == ""


def test_logarithmic_axes_have_plain_numbers():
    ax = drawn(series={"a": np.array([1e-6, 0.1, 1, 100])}, log_x=True, log_y=True)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "4", "8", "16"]
    assert {"10⁻⁶", "10⁰", "10²"} <= {tick.get_text() for tick in ax.get_yticklabels()}


@pytest.mark.parametrize("y", [[1, 3], [20, 60], [1, 1.5], [2, 90]])
def test_a_short_logarithmic_axis_has_enough_ticks(y):
    ax = drawn([1, 2], {"a": np.array(y, float)}, log_y=True)
    low, high = ax.get_ylim()
    assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 2


def test_there_is_room_for_the_ticks():
    assert len(drawn(range(1, 101), {"a": np.ones(100)}, log_x=True).get_xticks()) <= 13


def test_alt_text_says_where_each_line_goes():
    alt = plot_lines(X, {"a": [1, 4, 0, 2], "b": torch.ones(4)}, **NAMES).alt
    assert alt == (
        "Lines of deviation against d_k, 2 to 16. a: from 1 to 2, least 0 at 8, greatest 4 at 4; "
        "b: from 1 to 1."
    )


def test_a_gap_is_mentioned_in_the_alt_text():
    y = [1, np.nan, np.inf, 4]
    assert plot_lines(X, {"a": y}, **NAMES).alt.endswith(" to 4. a is not finite at 4, 8.")
    assert "a: no finite value" in plot_lines(X, {"a": [np.nan] * 4}, **NAMES, log_y=True).alt


def test_a_gap_is_a_gap():
    (line,) = drawn(series={"a": np.array([1, np.inf, 3, 4])}).lines
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": [1]}, r"x has the shape \[1\]"),
        ({"x": [1, 2, np.nan, 3]}, r"x\[2\] is nan"),
        ({"x": [0, 1, 2, 3], "log_x": True}, "x holds 0, .* logarithmic"),
        ({"lines": {}}, "lines is empty"),
        ({"lines": {"a": [1, 2]}}, r"lines\['a'\] has the shape \[2\] for 4 places"),
        ({"lines": {"a": [1, 2, 3, -4]}, "log_y": True}, r"lines\['a'\] holds -4"),
        ({"lines": {"a": None}}, r"lines\['a'\] is None"),
        ({"dashed": ["b"]}, r"dashed is \['b'\].*\['a'\]"),
        ({"dashed": "a"}, "dashed is 'a': give a list"),
    ],
)
def test_input_that_cannot_be_drawn_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        plot_lines(**{"x": X, "lines": {"a": X}} | NAMES | change)


def test_the_legend_of_many_lines_covers_none():
    ax = drawn(series={name: X for name in "abcd"})
    [legend] = ax.figure.legends
    assert legend.get_window_extent().y0 >= ax.get_window_extent().y1
