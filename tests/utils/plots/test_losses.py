"""Losses and errors: what is drawn, what the alt text says, and what is refused."""

import numpy as np
import pytest

from autograder.utils.plots import plot_errors, plot_losses
from autograder.utils.plots.losses import draw_errors, draw_losses
from autograder.utils.training import History

CURVES = {"a": np.array([[1.0, 0.5, 0.1], [1.1, 0.6, 0.3]])}
BASELINES = {"floor": 0.01}


def drawn(figure):
    figure.draw_without_rendering()
    return figure.axes


def test_a_panel_for_each_run_on_one_scale():
    axes = drawn(draw_losses({name: CURVES["a"] for name in "abcd"}, BASELINES))
    assert [ax.get_title() for ax in axes] == list("abcd")
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert all(ax.get_yscale() == "log" for ax in axes)


def test_both_losses_are_drawn_over_the_epochs():
    (ax,) = drawn(draw_losses(CURVES, BASELINES, every=5))
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["training"].get_xdata().tolist() == [5, 10, 15]
    assert lines["training"].get_ydata().tolist() == [1.0, 0.5, 0.1]
    assert lines["test"].get_ydata().tolist() == [1.1, 0.6, 0.3]


def test_baselines_are_named_once_beside_the_panels():
    axes = drawn(draw_losses({name: CURVES["a"] for name in "abcdef"}, BASELINES))
    assert [len(ax.texts) for ax in axes] == [0, 0, 0, 0, 0, 1]
    assert axes[5].texts[0].get_text() == "floor\n0.01"
    assert all(0.01 in line.get_ydata() for ax in axes for line in ax.lines[-1:])
    assert all(ax.get_ylim()[0] < 0.01 for ax in axes)
    assert any(tick == pytest.approx(0.01) for tick in axes[0].get_yticks())


def test_a_loss_of_zero_or_nan_does_not_break_the_scale():
    (ax,) = drawn(draw_losses({"a": np.array([[1.0, 0.0], [1.0, np.nan]])}, {}))
    train = ax.lines[1].get_ydata()
    assert train[1] > 0 and np.isnan(ax.lines[0].get_ydata()[1])


def test_each_run_is_a_point():
    (ax,) = drawn(draw_errors({"x": np.array([0.1, 0.2]), "y": np.array([0.3])}, BASELINES))
    heights = [line.get_ydata() for line in ax.lines[:2]]
    assert heights[0].tolist() == [0.1, 0.2] and heights[1].tolist() == [0.3]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["x", "y"]


def test_alt_texts():
    alt = plot_losses({"a": CURVES["a"]}, baselines=BASELINES, every=5, caption="c").alt
    assert alt == (
        "Losses over 15 epochs. a: training from 1 to 0.10, test from 1.10 to 0.30. "
        "Dashed: floor at 0.01."
    )
    alt = plot_errors({"x": [0.1, 0.25]}, caption="c").alt
    assert alt == "Errors run by run. x: 0.10, 0.25."


def test_a_history_can_be_drawn_as_it_is():
    assert "from 2 to 1" in plot_losses({"a": History([2.0, 1.0], [3.0, 2.0])}, caption="c").alt


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot_losses({}, caption="c"), "runs is empty"),
        (
            lambda: plot_losses({"a": ([1.0], [1.0, 2.0])}, caption="c"),
            r"a: losses of shapes \[1\]",
        ),
        (lambda: plot_losses({"a": (None, [1.0])}, caption="c"), "a, train is None"),
        (lambda: plot_errors({}, caption="c"), "errors is empty"),
        (lambda: plot_errors({"x": [0.0]}, caption="c"), "positive numbers"),
        (lambda: plot_errors({"x": [float("nan")]}, caption="c"), "positive numbers"),
    ],
)
def test_input_that_cannot_be_drawn_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
