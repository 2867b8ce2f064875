"""The picture of a leak: which outputs moved, which of them may, and errors for wrong input."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from autograder.utils.palette import BLUE, RED
from autograder.utils.plots import plot_leak
from autograder.utils.plots.leaks import draw_leak, outputs_moved

LABELS = ["a", "b", "c", "d"]
WORDS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


def sees_the_past(words):
    return words.cumsum(1)


def sees_all(words):
    return words - words.mean(1, keepdim=True)


def sees_the_next(words):
    return words + words.roll(-1, 1)


@pytest.mark.parametrize(
    ("attention", "moved"),
    [
        (sees_the_past, [False, False, True, True]),
        (sees_all, [True, True, True, True]),
        (sees_the_next, [False, True, True, False]),
        (torch.zeros_like, [False, False, False, False]),
        (lambda words: words + 1e-7 * words.sum(), [False, False, True, False]),
        (lambda words: words.cumsum(1).requires_grad_(), [False, False, True, True]),
    ],
    ids=["past", "all", "next", "constant", "rounding", "grad"],
)
def test_outputs_that_move(attention, moved):
    assert outputs_moved(attention, WORDS, 2).tolist() == moved


def test_the_words_are_left_as_they_are():
    before = WORDS.clone()
    outputs_moved(sees_all, WORDS, 1)
    assert WORDS.equal(before)


def test_outputs_that_must_not_move_are_red_and_dashed():
    figure = draw_leak({"next": np.array([False, True, True, False])}, LABELS, changed=2)
    (ax,) = figure.axes
    boxes = [patch for patch in ax.patches if hasattr(patch, "get_x")]
    outputs = [to_hex(box.get_facecolor()) for box in boxes if box.get_y() > 0.5]
    assert outputs == ["#ffffff", RED, BLUE, "#ffffff"]
    arrows = [patch for patch in ax.patches if not hasattr(patch, "get_x")]
    looks = [(to_hex(arrow.get_edgecolor()), arrow.get_linestyle()) for arrow in arrows]
    assert looks == [(RED, "--"), (BLUE, "-")]


def test_one_panel_for_each_attention():
    moved = np.ones(4, dtype=bool)
    figure = draw_leak(dict.fromkeys(["one", "two", "three"], moved), LABELS, changed=0)
    assert [ax.get_title() for ax in figure.axes] == ["one", "two", "three"]


def test_the_alt_text_names_the_outputs():
    attentions = {"past": sees_the_past, "all": sees_all, "constant": torch.zeros_like}
    alt = plot_leak(attentions, WORDS, LABELS, changed=2, caption="c").alt
    assert alt == (
        "“c” is changed. Outputs that moved. past: moved and may: c, d. "
        "all: moved and may: c, d; moved and must not: a, b. constant: moved and may: none."
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": ["a"]}, r"words has the shape \[4, 2\] for 1 label.*one sentence, \[n, d\]"),
        ({"words": WORDS[None]}, r"words has the shape \[1, 4, 2\]"),
        ({"changed": 4}, "changed is 4: give the index of a word, 0 to 3"),
        ({"words": WORDS * 0}, "'b' is all zeros, and so has no sign"),
        ({"attentions": {"sum": lambda x: x.sum(1)}}, r"'sum' gave outputs of the shape \[1, 2\]"),
    ],
)
def test_wrong_input_is_refused(change, words):
    arguments = {
        "attentions": {"all": sees_all},
        "words": WORDS,
        "labels": LABELS,
        "changed": 1,
        "caption": "c",
    } | change
    attentions, sentence, labels = (arguments.pop(k) for k in ("attentions", "words", "labels"))
    with pytest.raises(ValueError, match=words):
        plot_leak(attentions, sentence, labels, **arguments)
