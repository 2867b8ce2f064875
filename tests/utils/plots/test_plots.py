"""Plots: wrong input is refused with an explanation; wrong numbers are drawn and marked."""

import io
import subprocess
import sys
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from autograder.utils.data import six_words
from autograder.utils.plots import (
    Picture,
    growth_slope,
    look,
    plot_attention,
    plot_bars,
    plot_growth,
    plot_matrix,
    plot_words,
)
from autograder.utils.plots.bars import draw_bars
from autograder.utils.plots.growth import draw_growth
from autograder.utils.plots.heatmap import draw_maps
from autograder.utils.plots.maps import attention_maps, matrix_maps
from autograder.utils.plots.plane import draw_words, hull
from autograder.utils.plots.values import short

LABELS, WORDS = six_words()
SCORES = WORDS @ WORDS.T
WEIGHTS = SCORES.softmax(-1)


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def images(figure):
    return [image for ax in figure.axes for image in ax.images]


# What a picture is


def test_html_shows_the_picture_and_escapes_the_words():
    picture = Picture(plot_attention([[1]], caption="").draw, 'say "a" & <b>', "<i>c</i>")
    html = picture._repr_mimebundle_()["text/html"]
    assert '<img alt="say &quot;a&quot; &amp; &lt;b&gt;"' in html
    assert "&lt;i&gt;c&lt;/i&gt;</figcaption>" in html
    assert 'src="data:image/png;base64,iVBOR' in html
    assert "background:#fff" in html


def test_where_nobody_looks_a_picture_is_described(monkeypatch):
    monkeypatch.setenv("ATTENTION_FIGURES", "described")
    picture = plot_attention([[1]], caption="what it shows")
    bundle = picture._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert bundle["text/plain"].startswith("what it shows")
    assert "png" not in vars(picture)  # not drawn
    assert picture.png.startswith(b"\x89PNG")  # until requested


def test_plain_text_carries_caption_and_alt():
    plain = Picture(Figure, "what is seen", "what it shows")._repr_mimebundle_()["text/plain"]
    assert plain == "what it shows\n[what is seen]"


def test_save_writes_a_small_png_on_white(tmp_path):
    plot_attention(WEIGHTS, LABELS, LABELS, caption="c").save(tmp_path / "map.png")
    png = (tmp_path / "map.png").read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) < 25_000
    assert Image.open(tmp_path / "map.png").convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_colors_survive_the_palette():
    picture = plot_matrix([[0, 1, 2], [3, 4, 5]], caption="c")
    drawn = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).reshape(-1, 3)
    for value in range(6):
        color = 255 * np.array(look.WEIGHTS(value / 5)[:3])
        assert abs(drawn - color).max(axis=1).min() < 10


def test_the_same_input_gives_the_same_bytes():
    first, second = (plot_matrix(SCORES, caption="c").png for _ in range(2))
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


def test_settings_neither_leak_in_nor_out():
    expected = plot_matrix(SCORES, caption="c").png
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
        before = settings()
        assert plot_matrix(SCORES, caption="c").png == expected
        assert settings() == before


# Maps


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
    assert matrix_maps([[-3, 1]], diverging=True).value_range == (-3, 3)
    assert matrix_maps([[-np.inf, 1, 2]]).value_range == (1, 2)


def test_values_printed_up_to_eight_by_eight():
    assert len(texts(draw_maps(attention_maps(torch.full((8, 8), 1 / 8))))) == 64
    assert texts(draw_maps(attention_maps(torch.full((8, 9), 1 / 9)))) == []
    assert texts(draw_maps(attention_maps(torch.full((9, 8), 1 / 8)))) == []


def test_values_are_legible_on_their_color():
    figure = draw_maps(matrix_maps([[0.0, 1.0]]))
    low, high = figure.axes[0].texts
    assert (to_hex(low.get_color()), to_hex(high.get_color())) == ("#000000", "#ffffff")


def test_what_is_next_to_nothing_is_printed_so():
    assert texts(draw_maps(attention_maps([[1.0, 4e-26, 0.0]]))) == ["1", "≈0", "0"]
    assert texts(draw_maps(matrix_maps([[3e-5, 4e-5]]))) == ["3e-5", "4e-5"]


@pytest.mark.parametrize("mask", [torch.ones(2, 3).tril() > 0, [[True, False], [True, True]]])
def test_a_mask_is_drawn_with_signs_and_no_scale(mask):
    figure = draw_maps(matrix_maps(mask))
    assert len(figure.axes) == 1
    signs = ["✓" if seen else "×" for row in mask for seen in row]
    assert texts(figure) == signs


def test_zeros_and_ones_that_are_numbers_are_no_mask():
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


@pytest.mark.parametrize("alt", [None, "By hand."])
def test_marks_are_in_the_alt_text(alt):
    said = plot_attention(marked_weights(), LABELS, LABELS, caption="c", alt=alt).alt
    assert "NaN in 6 cell(s), in rows starts." in said
    assert "Rows that do not sum to 1: with (Σ = 0.155)." in said
    assert "Rows that are all zeros: step (nothing)." in said
    assert alt is None or said.startswith("By hand.")


def test_a_sum_marked_as_wrong_does_not_read_as_one():
    (notes,) = attention_maps([[0.5, 0.502], [0.5, 0.5005]]).notes
    assert {row: note.text for row, note in notes.items()} == {0: "Σ = 1.002"}


def test_sound_weights_have_no_marks():
    assert attention_maps(WEIGHTS + 1e-4).notes == [{}]
    assert plot_attention(WEIGHTS, caption="c", alt="By hand.").alt == "By hand."


def test_marks_name_the_head():
    heads = torch.stack([WEIGHTS, marked_weights()])
    assert "head 1: NaN in 6" in plot_attention(heads, caption="c").alt


def test_softmax_over_queries_is_seen():
    assert len(attention_maps(SCORES.softmax(-2)).notes[0]) == 6


def test_a_matrix_need_not_sum_to_one():
    picture = plot_matrix(SCORES.masked_fill(SCORES < 0.4, -torch.inf), caption="c", alt="By hand.")
    assert "sum" not in picture.alt
    assert "-inf in" in picture.alt


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


# Bars


def test_bars_print_values_and_mark_what_is_not_finite():
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


# Words in the plane


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


# Growth


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
