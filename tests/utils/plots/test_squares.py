"""Pictures of squares: what is drawn, what the alt text says, and what is refused."""

import numpy as np
import pytest
import torch

from autograder.utils.data import generate_squares
from autograder.utils.plots import plot_predictions, plot_square_attention, plot_squares
from autograder.utils.plots.squares import (
    WIDEST,
    draw_predictions,
    draw_square_attention,
    draw_squares,
)

POINTS = generate_squares(5).points
SOURCE, TARGET = POINTS[:, :2], POINTS[:, 2:]
WEIGHTS = torch.tensor([[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0.1, 0.9]]])


def panels(figure):
    figure.draw_without_rendering()
    return figure.axes


def test_a_panel_for_each_square_with_its_way():
    axes = panels(draw_squares(POINTS.numpy(), list("abcde"), 2))
    assert [ax.get_title() for ax in axes] == list("abcde")
    for ax, square in zip(axes, POINTS.numpy(), strict=True):
        marks = [tuple(line.get_xydata()[0]) for line in ax.lines]
        assert np.allclose(marks, square)
        arrows = [text for text in ax.texts if text.arrow_patch]
        assert len(arrows) == 3
        assert np.allclose([arrow.xy for arrow in arrows], square[1:])


def test_given_corners_are_full_and_the_others_hollow():
    (ax,) = panels(draw_squares(POINTS[:1].numpy(), ["a"], 2))
    assert [line.get_markerfacecolor() == "white" for line in ax.lines] == [False] * 2 + [True] * 2
    assert [text.get_text() for text in ax.texts if not text.arrow_patch] == list("1234")


def test_predictions_stand_beside_the_truth():
    (ax,) = panels(draw_predictions(*(x[:1].numpy() for x in (SOURCE, TARGET, -TARGET)), ["a"]))
    *_, crosses = ax.lines
    assert np.allclose(crosses.get_xydata(), -TARGET[0])
    ends = [text.xy for text in ax.texts if text.arrow_patch]
    assert np.allclose(ends, torch.cat([SOURCE[0, 1:], TARGET[0], -TARGET[0]]))


def test_the_alt_text_follows_the_corners():
    square = torch.tensor([[[-1.0, -1], [-1, 1], [1, 1], [1, -1]]])
    assert plot_squares(square, ["one"], caption="c").alt == (
        "Squares corner by corner, the first 2 given. one: (-1, -1) → (-1, 1) → (1, 1) → (1, -1)."
    )
    alt = plot_predictions(square[:, :2], square[:, 2:], square[:, 2:] * 0, caption="c").alt
    assert alt == (
        "True and predicted corners. square 0: true (1, 1) → (1, -1), predicted (0, 0) → (0, 0)."
    )
    assert plot_squares(square, caption="c", alt="By hand.").alt == "By hand."


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("encoder self", "corner 2 asks corner 1 (0.25), corner 2 (0.75)"),
        ("decoder self", "corner 4 asks corner 2 (0.25), corner 3 (0.75)"),
        ("cross", "corner 4 asks corner 1 (0.25), corner 2 (0.75)"),
    ],
)
def test_in_each_kind_of_attention_other_corners_ask(kind, words):
    assert words in plot_square_attention(kind, POINTS[0], WEIGHTS[0], caption="c").alt


def test_the_more_weight_the_wider_the_arrow():
    figure = draw_square_attention("cross", POINTS[0], np.array([[[1.0, 0.0], [0.5, 0.5]]]))
    widths = [text.arrow_patch.get_linewidth() for text in figure.axes[0].texts if text.arrow_patch]
    assert widths == [WIDEST, WIDEST / 2, WIDEST / 2]


@pytest.mark.parametrize(
    ("weights", "words"),
    [(WEIGHTS / 0, "NaN in 1 cell"), (WEIGHTS / 2, "do not sum to 1"), (WEIGHTS * 0, "nothing")],
    ids=["not finite", "half", "zeros"],
)
def test_weights_that_need_a_note_are_drawn_as_a_map(weights, words):
    alt = plot_square_attention("cross", POINTS[0], weights, caption="c").alt
    assert "2 attention maps" in alt and words in alt


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot_squares(POINTS[0], caption="c"), r"points has the shape \[4, 2\]"),
        (lambda: plot_squares(POINTS / 0, caption="c"), "points.* is -?inf"),
        (lambda: plot_squares(POINTS, ["a"], caption="c"), "1 title.* for 5 square"),
        (
            lambda: plot_predictions(SOURCE, TARGET, TARGET[:, :1], caption="c"),
            r"target \[5, 2, 2\] and prediction \[5, 1, 2\]",
        ),
        (
            lambda: plot_predictions(SOURCE[:4], TARGET, TARGET, caption="c"),
            r"source \[4, 2, 2\]",
        ),
        (
            lambda: plot_square_attention("self", POINTS[0], WEIGHTS, caption="c"),
            "kind is 'self': give one",
        ),
        (
            lambda: plot_square_attention("cross", POINTS[0], WEIGHTS[None], caption="c"),
            "4 dimension",
        ),
        (
            lambda: plot_square_attention("cross", POINTS, WEIGHTS, caption="c"),
            r"square has the shape \[5, 4, 2\]: give \[4, 2\]",
        ),
        (
            lambda: plot_square_attention("cross", SOURCE[0], WEIGHTS, caption="c"),
            r"square has the shape \[2, 2\]",
        ),
    ],
)
def test_input_that_cannot_be_drawn_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
