"""Words in the plane: the area between them, and labels that can be read."""

import numpy as np
import pytest

from autograder.utils.data import six_words
from autograder.utils.plots import plot_words
from autograder.utils.plots.plane import draw_words, hull

LABELS, WORDS = six_words()
SCORES = WORDS @ WORDS.T
WEIGHTS = SCORES.softmax(-1)


def test_hull_is_made_of_the_outermost_words():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0]])
    assert sorted(map(tuple, hull(square))) == [(0, 0), (0, 2), (2, 0), (2, 2)]


def test_context_is_said_to_be_inside_or_outside():
    inside, outside = WEIGHTS[1] @ WORDS, WORDS.sum(0)
    said = plot_words(WORDS, LABELS, weights=WEIGHTS[1], context=inside, caption="c").alt
    assert "journey at (0.55, 0.87), weight 0.24" in said
    assert said.endswith("context vector is at (0.44, 0.65), inside the area between the words.")
    said = plot_words(WORDS, LABELS, context=outside, caption="c").alt
    assert said.endswith("outside the area between the words.")


def test_more_weight_makes_a_larger_point():
    figure = draw_words(WORDS.numpy()[:, :2], LABELS, WEIGHTS[1].numpy())
    (points,) = (c for c in figure.axes[0].collections if len(c.get_offsets()) == 6)
    assert (np.argsort(points.get_sizes()) == np.argsort(WEIGHTS[1].numpy())).all()


def test_labels_of_close_words_do_not_overlap():
    figure = draw_words(WORDS.numpy()[:, :2], LABELS, context=np.array([0.44, 0.65]))
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(boxes) == 7
    assert not any(box.count_overlaps(boxes[:i]) for i, box in enumerate(boxes))


def test_one_or_two_words_can_be_drawn():
    said = plot_words([[1, 0], [0, 1]], ["a", "b"], context=[0.5, 0.5], caption="c").alt
    assert said.endswith("The context vector is at (0.50, 0.50).")
    plot_words([[0, 0]], ["a"], weights=[0], caption="c")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"words": WORDS[:, :1]}, r"words has the shape \[6, 1\].*d of 2 or more"),
        ({"labels": ["a"]}, "labels has 1.* for 6 words"),
        ({"weights": WEIGHTS}, r"weights has the shape \[6, 6\].*\[n_words\], \[6\]"),
        ({"context": WEIGHTS[0]}, r"context has the shape \[6\].*\[d\], \[3\]"),
        ({"context": [0, np.nan, 0]}, r"context\[1\] is nan"),
    ],
)
def test_wrong_words_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        plot_words(**{"words": WORDS, "labels": LABELS, "caption": "c"} | change)
