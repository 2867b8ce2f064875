"""The picture of a mask at work: scales, signs, alt text, and errors for wrong input."""

import numpy as np
import pytest
import torch

from autograder.utils.plots import plot_masking
from autograder.utils.plots.masking import draw_masking

LABELS = ["a", "b", "c"]
SCORES = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.5, 0.5], [9.0, 1.0, 0.0]])
KEEP = torch.ones(3, 3, dtype=torch.bool).tril()
WEIGHTS = {
    "without": SCORES.softmax(-1),
    "with": SCORES.masked_fill(~KEEP, -torch.inf).softmax(-1),
}


def panels():
    return {"scores": SCORES.numpy(), "keep": KEEP.numpy(), **WEIGHTS}


def test_weights_share_a_scale_that_is_not_that_of_the_scores():
    arrays = {title: np.asarray(values, dtype=float) for title, values in panels().items()}
    axes = draw_masking(arrays, LABELS).axes
    assert [ax.get_title() for ax in axes] == ["scores", "keep", "without", "with"]
    limits = [ax.images[0].get_clim() for ax in axes]
    assert limits == [(-2, 9), (0, 1), (0, 1), (0, 1)]


def test_the_mask_is_drawn_in_signs():
    arrays = {title: np.asarray(values, dtype=float) for title, values in panels().items()}
    mask = draw_masking(arrays, LABELS).axes[1]
    assert [text.get_text() for text in mask.texts] == list("✓××✓✓×✓✓✓")


def test_the_alt_text_counts_what_may_be_seen_and_gives_the_weights():
    alt = plot_masking(SCORES, KEEP, WEIGHTS, LABELS, caption="c").alt
    assert "4 panels, query by key: scores, keep, without, with." in alt
    assert "Keys that a query may see: a 1, b 2, c 3." in alt
    assert "with: a 1 0 0; b 0.50 0.50 0; c" in alt


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"keep": KEEP[:2]}, r"keep has the shape \[2, 3\] for 3 queries and 3 keys"),
        ({"weights": {"late": SCORES[None]}}, r"late has the shape \[1, 3, 3\]"),
        ({"labels": ["a", "b"]}, r"scores has the shape \[3, 3\] for 2 queries and 2 keys"),
        ({"labels": "a b c"}, r"labels is one string.*split\(\)"),
    ],
)
def test_wrong_input_is_refused(change, words):
    given = {"attn_scores": SCORES, "keep": KEEP, "weights": WEIGHTS, "labels": LABELS}
    with pytest.raises(ValueError, match=words):
        plot_masking(**given | change, caption="c")


def test_unreadable_input_is_refused():
    large = torch.ones(9, 9)
    with pytest.raises(ValueError, match="9 by 9 is too large"):
        plot_masking(large, large, {}, list("abcdefghi"), caption="c")
