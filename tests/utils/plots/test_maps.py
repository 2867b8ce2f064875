"""Maps: wrong input is refused with an explanation; wrong numbers are drawn and marked."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from autograder.utils.data import six_words
from autograder.utils.plots import plot_attention, plot_matrix
from autograder.utils.plots.heatmap import draw_maps
from autograder.utils.plots.maps import attention_maps, matrix_maps

LABELS, WORDS = six_words()
SCORES = WORDS @ WORDS.T
WEIGHTS = SCORES.softmax(-1)


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def images(figure):
    return [image for ax in figure.axes for image in ax.images]


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS.clone().requires_grad_(),
        WEIGHTS.bfloat16(),
        WEIGHTS.numpy(),
        WEIGHTS.tolist(),
        [row.clone().requires_grad_() for row in WEIGHTS],
    ],
    ids=["grad", "bfloat16", "numpy", "lists", "list of tensors"],
)
def test_takes_tensors_arrays_and_lists(weights):
    maps = attention_maps(weights, LABELS, LABELS)
    np.testing.assert_allclose(maps.values[0], WEIGHTS, atol=2e-3)


def test_keys_run_along_x_and_queries_along_y():
    figure = draw_maps(attention_maps(torch.full((2, 3), 1 / 3), ["k", "l", "m"], ["q", "r"]))
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["k", "l", "m"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["q", "r"]


def test_heads_share_one_color_scale_and_one_bar():
    heads = torch.stack([(SCORES * k).softmax(-1) for k in (1, 5, 20)])
    figure = draw_maps(attention_maps(heads))
    limits = {image.get_clim() for image in images(figure)}
    assert limits == {(0, heads.double().max().item())}
    assert [ax.get_label() for ax in figure.axes].count("<colorbar>") == 1
    assert [ax.get_title() for ax in figure.axes[:3]] == ["head 0", "head 1", "head 2"]


def test_scale_starts_at_zero_or_as_told():
    assert attention_maps(WEIGHTS).value_range == (0, pytest.approx(WEIGHTS.max().item()))
    assert attention_maps(WEIGHTS, value_range=(0, 1)).value_range == (0, 1)
    assert attention_maps(torch.zeros(2, 2)).value_range == (0, 1)


def test_scale_of_a_matrix_covers_its_values():
    assert matrix_maps([[-3, 1]]).value_range == (-3, 1)
    assert matrix_maps([[-np.inf, 1, 2]]).value_range == (1, 2)


def test_values_printed_up_to_eight_by_eight():
    assert len(texts(draw_maps(attention_maps(torch.full((8, 8), 1 / 8))))) == 64
    assert texts(draw_maps(attention_maps(torch.full((8, 9), 1 / 9)))) == []
    assert texts(draw_maps(attention_maps(torch.full((9, 8), 1 / 8)))) == []


def test_values_are_legible_on_their_color():
    figure = draw_maps(matrix_maps([[0.0, 1.0]]))
    low, high = figure.axes[0].texts
    assert (to_hex(low.get_color()), to_hex(high.get_color())) == ("#000000", "#ffffff")


def test_negligible_values_are_printed_as_such():
    assert texts(draw_maps(attention_maps([[1.0, 4e-26, 0.0]]))) == ["1", "≈0", "0"]
    assert texts(draw_maps(matrix_maps([[3e-5, 4e-5]]))) == ["3e-5", "4e-5"]


@pytest.mark.parametrize("mask", [torch.ones(2, 3).tril() > 0, [[True, False], [True, True]]])
def test_a_mask_is_drawn_with_signs_and_no_scale(mask):
    figure = draw_maps(matrix_maps(mask))
    assert len(figure.axes) == 1
    signs = ["✓" if seen else "×" for row in mask for seen in row]
    assert texts(figure) == signs


def test_numeric_zeros_and_ones_are_no_mask():
    assert texts(draw_maps(matrix_maps([[0.0, 1.0]]))) == ["0", "1"]


@pytest.mark.parametrize("size", [6, 12])
def test_labels_do_not_overlap(size):
    labels = (LABELS * 2)[:size]
    figure = draw_maps(attention_maps(torch.full((size, size), 1 / size), labels, labels))
    figure.draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels()]
    assert not any(box.overlaps(other) for box, other in pairwise(boxes))
    # Slanted labels overlap as boxes, not as lines: check their distance across the slant.
    ticks = figure.axes[0].get_xticklabels()
    assert {tick.get_rotation() for tick in ticks} == {45}
    apart = np.diff([tick.get_window_extent().x1 for tick in ticks]).min() * np.sqrt(0.5)
    assert apart > ticks[0].get_fontsize() * figure.dpi / 72


# Errors in a map are drawn and mentioned


def marked_weights():
    weights = WEIGHTS.clone()
    weights[2] = torch.nan
    weights[3] *= 0.155
    weights[5] = 0
    return weights


def test_nan_is_hatched_and_printed():
    figure = draw_maps(attention_maps(marked_weights()))
    (hatched,) = figure.axes[0].patches
    assert hatched.get_hatch()
    assert hatched.get_path().get_extents().extents.tolist() == [-0.5, 1.5, 5.5, 2.5]
    printed = [text for text in figure.axes[0].texts if text.get_text() == "NaN"]
    assert len(printed) == 6
    assert to_hex(printed[0].get_color()) == "#000000"


def test_a_map_of_nan_alone_is_drawn():
    alt = plot_attention(np.full((64, 64), np.nan), caption="c").alt
    assert "Most weight: no finite value." in alt
    assert "NaN in 4096 cell(s), in rows 0, 1, 2, 3, 4, 5, 6, 7 and 56 more." in alt


def test_wrong_sums_are_red_and_empty_rows_gray():
    figure = draw_maps(attention_maps(marked_weights()))
    notes = {text.get_text(): text for text in figure.axes[0].texts}
    assert notes["Σ = 0.155"].get_color() != notes["nothing"].get_color()
    assert notes["Σ = 0.155"].get_position()[1] == 3
    assert notes["nothing"].get_position()[1] == 5
    assert sum("Σ" in text for text in texts(figure)) == 1


def test_marks_are_in_the_alt_text():
    said = plot_attention(marked_weights(), LABELS, LABELS, caption="c").alt
    assert "NaN in 6 cell(s), in rows starts." in said
    assert "Rows that do not sum to 1: with (Σ = 0.155)." in said
    assert "Rows that are all zeros: step (nothing)." in said


def test_a_sum_marked_as_wrong_does_not_read_as_one():
    (notes,) = attention_maps([[0.5, 0.502], [0.5, 0.5005]]).notes
    assert {row: note.text for row, note in notes.items()} == {0: "Σ = 1.002"}


def test_sound_weights_have_no_marks():
    assert attention_maps(WEIGHTS + 1e-4).notes == [{}]


def test_marks_name_the_head():
    heads = torch.stack([WEIGHTS, marked_weights()])
    assert "head 1: NaN in 6" in plot_attention(heads, caption="c").alt


def test_softmax_over_queries_is_noticed():
    assert len(attention_maps(SCORES.softmax(-2)).notes[0]) == 6


def test_a_matrix_need_not_sum_to_one():
    picture = plot_matrix(SCORES.masked_fill(SCORES < 0.4, -torch.inf), caption="c", alt="By hand.")
    assert picture.alt.startswith("By hand. ") and "-inf in" in picture.alt
    assert "sum" not in picture.alt


def test_alt_text_names_the_favorite_of_each_query():
    alt = plot_attention(WEIGHTS, LABELS, LABELS, caption="c").alt
    assert "Your → Your (0.21); journey → journey (0.24)" in alt
    uniform = plot_attention([[0.5, 0.5, 0], [1 / 3] * 3], list("abc"), list("pq"), caption="c").alt
    assert "p → a and b (0.50); q → 3 keys alike (0.33)" in uniform


def test_alt_text_of_maps_of_one_query_speaks_of_that_query():
    maps = torch.tensor([[[np.nan] * 3], [[1 / 3] * 3], [[0.0] * 3], [[0.2, 0.8, 0.0]]])
    alt = plot_attention(maps, list("abc"), ["q"], titles=list("rstu"), caption="c").alt
    assert "r: q → not finite; s: q → 3 keys alike (0.33); t: q → nothing; u: q → b (0.80)." in alt


def test_alt_text_of_a_map_of_zeros_names_no_favorite():
    alt = plot_attention(torch.zeros(2, 3, 3), titles=["s", "t"], caption="c").alt
    assert "s: all zeros; t: all zeros" in alt


def test_alt_text_of_zeros_and_ones_says_where_the_ones_are():
    keep = torch.tensor([[[True, False], [True, True]], [[False, False], [True, False]]])
    alt = plot_matrix(keep, list("ab"), list("pq"), titles=["s", "t"], caption="c").alt
    assert "Where the value is 1, not 0: s: p → a; q → a, b. t: p → none; q → a." in alt


def test_alt_text_of_large_maps_stays_short():
    assert len(plot_attention(torch.rand(60, 60), caption="c").alt) < 400


def test_alt_text_of_a_matrix_gives_range_and_place():
    alt = plot_matrix([[1, 2.5], [-3, 0]], list("ab"), list("pq"), caption="c", row_name="word").alt
    assert "word by key: 2 by 2" in alt
    assert "from -3 to 2.50; largest: p → b (2.50)" in alt


# What cannot be drawn is refused


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (
            torch.rand(2, 3, 5, 5),
            r"4 dimension.*\[2, 3, 5, 5\].*pick one sentence.*attn_weights\[0\]",
        ),
        (torch.rand(5), r"1 dimension.*\[5\].*\[n_query, n_key\].*attn_weights\[None\]"),
        (torch.rand(0, 5), r"\[0, 5\].*empty"),
        ([[1, 2], [3]], "attn_weights must hold numbers, in rows of equal length"),
        ([["a"]], "attn_weights must hold numbers"),
        (None, "attn_weights is None.*return"),
    ],
)
def test_wrong_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        plot_attention(weights, caption="c")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"key_labels": ["a", "b"]}, "key_labels has 2.* for 3 keys.*2 queries.*swapped"),
        ({"query_labels": list("abc")}, "query_labels has 3.* for 2 queries.*3 keys.*swapped"),
        (
            {"key_labels": list("abcd")},
            "key_labels has 4.* for 3 keys; give one label for each key",
        ),
        ({"key_labels": "a b c"}, r"key_labels is one string.*split\(\)"),
        ({"titles": ["a", "b"]}, r"titles has 2 title\(s\) for 1 map"),
    ],
)
def test_wrong_labels_are_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        plot_attention(torch.full((2, 3), 1 / 3), caption="c", **labels)


def test_a_matrix_speaks_of_rows_and_columns():
    with pytest.raises(ValueError, match=r"column_labels has 2.* for 3 columns.*2 rows.*swapped"):
        plot_matrix(torch.rand(2, 3), ["a", "b"], caption="c")
