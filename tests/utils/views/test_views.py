"""Views answer mouse and keyboard with true numbers, and are pictures where no script runs."""

import io
import math

import pytest
import torch
from PIL import Image

from autograder.utils.palette import BLUE, GRAY, HIDDEN, ORANGE, PURPLE, RED, ink
from autograder.utils.plots.theme import figure_html
from autograder.utils.views import (
    view_dial,
    view_heads,
    view_packing,
    view_tiles,
    view_training,
    view_writing,
)
from autograder.utils.watching import DESCRIBED, FIGURES_VARIABLE
from tests.support.accessible import barriers_on
from tests.utils.views.made import (
    CAUSAL,
    HEADS,
    HEADS_OVER_TIME,
    LABELS,
    LETTERS,
    PRODUCTS,
    SCORES,
    SCORES_OVER_TIME,
    VIEWS,
    WRITER,
    html,
    view,
)


def said(page):
    return page.locator(".said").inner_text()


@pytest.mark.parametrize("name", VIEWS)
def test_no_script_leaves_the_picture(browser, name, monkeypatch):
    drawn = view(name)
    still = browser.new_page(java_script_enabled=False)
    still.set_content(html(name))
    assert still.get_by_role("img").get_attribute("alt") == drawn.still.alt
    assert "1 < 2" in still.inner_text("figcaption")
    monkeypatch.setenv(FIGURES_VARIABLE, DESCRIBED)
    assert drawn._repr_mimebundle_() == {"text/plain": f"1 < 2\n[{drawn.still.alt}]"}
    still.close()


def test_all_on_one_page_even_twice(open_view):
    page = open_view(*VIEWS, "mask")
    assert page.locator(".attention-view img").count() == 0
    assert page.locator(".said").count() == len(VIEWS) + 1
    assert barriers_on(page) == []


# How pages say that they are dark; the last follows the system.
DARK = [
    ('data-jp-theme-light="false"', "--jp-layout-color0", "#111111"),
    ('data-theme="dark"', "--color-background-primary", "#131416"),
    ('data-theme="auto"', "--color-background-primary", "#131416"),
    ('class="vscode-dark"', "--vscode-editor-background", "#1f1f1f"),
]
SWATCH = '<i style="display:inline-block;width:10px;height:10px;background:{}"></i>'


def swatches_on(browser, theme, name, ground, colors):
    """The page's ground and the colors of a figure, as they are shown."""
    page = browser.new_page(color_scheme="dark")
    swatches = "".join(map(SWATCH.format, colors))
    look = f"margin:0;background:{ground};{name}:{ground}"
    page.set_content(
        f'<!doctype html><body {theme} style="{look}">{figure_html(f"<div>{swatches}</div>", "")}'
    )
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return shot.getpixel((600, 300)), [shot.getpixel((13 + 10 * i, 13)) for i in range(len(colors))]


def contrast(one, other):
    """The ratio of WCAG, from 1 to 21."""
    lighter, darker = sorted(map(luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color):
    shares = [part / 255 for part in color]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("theme", "name", "ground"), DARK)
def test_figures_take_a_dark_pages_ground_and_can_be_read(browser, theme, name, ground):
    words, fills = ["#222222", "#000000", GRAY, BLUE, RED], [BLUE, RED, ORANGE, HIDDEN, PURPLE]
    colors = ["#ffffff", *words, *fills, *map(ink, fills)]
    page, (white, *shown) = swatches_on(browser, theme, name, ground, colors)
    assert page == white == tuple(bytes.fromhex(ground[1:]))
    assert min(contrast(color, page) for color in shown[: len(words)]) >= 4.5
    fills, inks = shown[len(words) : -5], shown[-5:]
    assert min(map(contrast, fills, inks)) >= 4.5
    red, green, blue = shown[len(words) - 1]
    assert red > 1.3 * max(green, blue)  # still what is wrong


def test_figures_stay_as_they_are_on_a_light_page(browser):
    theme, name, colors = 'data-jp-theme-light="true"', "--jp-layout-color0", [RED, "#ffffff"]
    _, (red, white) = swatches_on(browser, theme, name, "#eeeeee", colors)
    assert red == tuple(bytes.fromhex(RED[1:])) and white == (255, 255, 255)


def test_words_in_tables_have_the_color_of_the_view(browser):
    """JupyterLab gives tables its own color, white in the dark theme."""
    page = browser.new_page()
    page.set_content(f"<style>.lab table {{ color: white }}</style><div class=lab>{html('tiles')}")
    color = page.locator("th").first.evaluate("cell => getComputedStyle(cell).color")
    page.close()
    assert color == "rgb(34, 34, 34)"


def test_a_word_is_chosen_by_mouse_or_by_arrow_keys(open_view):
    page = open_view("heads")
    page.get_by_text("starts", exact=True).hover()
    row = HEADS[0, 2]
    best = LABELS[row.argmax()]
    assert said(page).startswith(f"head 0: “starts” looks at “{best}” {row.max():.2f}")
    page.get_by_label("starts", exact=True).focus()
    page.keyboard.press("ArrowDown")
    assert "“with” looks at" in said(page)
    page.get_by_label("head 0").focus()
    page.keyboard.press("ArrowRight")
    row = HEADS[1, 3]
    assert said(page).startswith(
        f"head 1: “with” looks at “{LABELS[row.argmax()]}” {row.max():.2f}"
    )
    numbers = page.locator("[aria-hidden] label").all_inner_texts()
    assert numbers == [f"{label} {weight:.2f}" for label, weight in zip(LABELS, row, strict=True)]


def test_heads_open_on_the_query_that_gives_most_to_another():
    weights = torch.eye(3) * 0.6 + 0.1
    weights[1] = torch.tensor([0.8, 0.1, 0.1])
    words = ["a", "b", "c"]
    assert view_heads(weights, words, caption="c").data["start"] == 1
    assert view_heads(weights, words, opens_on="c", caption="c").data["start"] == 2
    assert view_heads(weights, words, opens_on=-1, caption="c").data["start"] == len(words) - 1
    with pytest.raises(ValueError, match="d"):
        view_heads(weights, words, opens_on="d", caption="c")


def shown_weights(page):
    cells = page.locator("table").nth(1).locator("td:not(.bare)").all_inner_texts()
    return [cells[6 * row : 6 * row + 6] for row in range(6)]


@pytest.mark.parametrize(
    ("way", "hidden", "said_of_it"),
    [
        ("−∞ before softmax", -torch.inf, "Each row shares 1"),
        ("−10⁹ before softmax", -1e9, "Each row shares 1"),
        ("0 after softmax", None, "A row doesn't sum to 1"),
    ],
)
def test_a_mask_gives_the_weights_that_torch_gives(open_view, way, hidden, said_of_it):
    page = open_view("mask")
    page.get_by_label(way).check()
    page.get_by_role("button", name="“Your” doesn't see “step”").click()
    page.get_by_role("button", name="“step” sees “one”").press("Space")
    keep = CAUSAL.clone()
    keep[0, 5], keep[5, 4] = True, False
    masked = SCORES if hidden is None else SCORES.masked_fill(~keep, hidden)
    weights = masked.softmax(-1) * (keep if hidden is None else 1)
    assert shown_weights(page) == [[f"{weight:.2f}" for weight in row] for row in weights.tolist()]
    assert said(page).startswith(said_of_it)


@pytest.mark.parametrize(
    ("way", "cell", "said_of_it"),
    [
        ("−∞ before softmax", "NaN", "A row with nothing to see is NaN."),
        ("−10⁹ before softmax", "0.17", "A hidden key gets weight (framed)."),
        ("0 after softmax", "0.00", "A row doesn't sum to 1"),
    ],
)
def test_a_row_with_nothing_to_see(open_view, way, cell, said_of_it):
    page = open_view("mask")
    page.get_by_label(way).check()
    page.get_by_role("button", name="“Your” sees “Your”").click()
    assert shown_weights(page)[0] == [cell] * 6
    assert said_of_it in said(page)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("mask", "A row doesn't sum to 1"),
        ("scale", "The scores spread by about 8.0"),
        ("memory", "more than the card's 24 GB"),
        ("tiles", "A larger score came"),
        ("packing", "8 of 12 rows are in the wrong place"),
        ("probe", "1 moved too early"),
    ],
)
def test_a_view_opens_on_what_it_is_about(open_view, name, what):
    assert what in said(open_view(name))


def test_longer_vectors_saturate_softmax_unless_scaled(open_view):
    page = open_view("scale")
    page.get_by_label("d_k", exact=True).fill("8")
    weights = (PRODUCTS * 16).softmax(-1)
    assert f"spread by about 16.0; the largest weight is {weights.max():.2f}" in said(page)
    assert "next to nothing is learned" in said(page)
    page.get_by_label("q · k / √d_k").check()
    weights = PRODUCTS.softmax(-1)
    slope = (weights * (1 - weights)).max()
    assert f"weight is {weights.max():.2f}" in said(page) and f"{slope:.2g}" in said(page)


def test_a_score_depends_on_the_distance_alone(open_view):
    page = open_view("dial")
    places, distance = page.get_by_role("slider").all()
    product = f"{-0.5 * math.sin(3):.2f}".replace("-", "−")
    distance.fill("3")
    for place in ("0", "17", "40"):
        places.fill(place)
        assert f"product is {product}." in said(page)
    distance.fill("-3")
    assert "the key at 37. Their dot product is 0.07" in said(page)


def test_a_dial_takes_pairs():
    with pytest.raises(ValueError, match="key has 3 features: give two"):
        view_dial((1.0, 0.0), (1.0, 0.0, 2.0), caption="c")


def test_tiles_are_read_one_by_one(open_view):
    page = open_view("tiles")
    assert said(page).startswith("A larger score came for query 0 (m rises by 2.00, so its earlier")
    assert page.locator("td.bare").all_inner_texts()[1:] == ["3.00", "1.19", "2.00", "1.50"]
    page.get_by_label("tiles taken in").press("ArrowLeft")
    assert said(page) == "The first tile."
    page.get_by_label("tiles taken in").press("Home")
    assert said(page) == "Nothing is known yet: m is −∞, and ℓ is 0."


def test_a_tile_has_at_least_one_key():
    with pytest.raises(ValueError, match="at least one key in a tile"):
        view_tiles([[1.0, 2.0]], tile=0, caption="c")


def test_memory_depends_on_what_is_kept(open_view):
    page = open_view("memory")
    assert said(page) == (
        "The model takes 13.5 GB, the cache 17.2 GB. Together that is more than the card's 24 GB."
    )
    page.get_by_text("8 key heads").click()
    assert said(page).endswith("the cache 4.3 GB. 6.2 GB of the card's 24 GB are left.")
    page.get_by_label("texts at once").press("Home")
    assert "the cache 1.1 GB" in said(page)


def test_rows_packed_by_heads_and_cut_in_thirds_go_wrong(open_view):
    page = open_view("packing")
    assert said(page) == (
        "Row 6 makes feature 2 of the query, in head 1. It arrives in row 2 of key.weight: wrong. "
        "8 of 12 rows are in the wrong place, and all shapes fit."
    )
    page.get_by_text("cut head by head").click()
    assert said(page).endswith("It arrives there. Every row is in its place.")
    page.get_by_label("packed as in GPT-NeoX").press("ArrowLeft")
    assert "of the key, in head 1. It arrives in row 2 of query.weight: wrong." in said(page)
    page.get_by_text("cut in thirds").click()
    page.get_by_label("row 6", exact=True).press("ArrowDown")
    assert said(page).startswith("Row 7 makes feature 3 of the key, in head 1. It arrives there.")


@pytest.mark.parametrize(("n_heads", "d_head"), [(2, 2), (3, 1), (2, 5)])
def test_rows_are_packed_as_the_libraries_do(n_heads, d_head):
    parts = torch.arange(3 * n_heads * d_head).chunk(3)
    heads = zip(*(part.chunk(n_heads) for part in parts), strict=True)
    by_head = torch.cat([torch.cat(head) for head in heads])
    orders = view_packing(n_heads, d_head, caption="c").data["orders"]
    assert orders == {"PyTorch": torch.cat(parts).tolist(), "GPT-NeoX": by_head.tolist()}


def test_packed_rows_need_heads_and_features():
    with pytest.raises(ValueError, match="n_heads is 2 and d_head 0: give sizes of at least 1"):
        view_packing(2, 0, caption="c")


def shown_states(page):
    cells = page.locator("table td:not(.bare)").all_inner_texts()
    return {"healthy": cells[::2], "ill": cells[1::2]}


def test_a_word_is_changed_and_outputs_move(open_view):
    page = open_view("probe")
    assert shown_states(page) == {
        "healthy": ["–", "–", *4 * ["moves"]],
        "ill": ["–", "leaks", "blind", *3 * ["moves"]],
    }
    assert said(page) == (
        "“starts” is changed. healthy: nothing wrong. ill: 1 moved too early, 1 stood still."
    )
    page.get_by_label("starts").press("ArrowLeft")
    assert shown_states(page)["ill"] == ["leaks", "blind", *4 * ["moves"]]


def corner(page, number):
    return page.get_by_role("button", name=f"corner {number} at")


def test_a_square_is_shown_through_the_training(open_view):
    page = open_view("square")
    assert said(page).startswith("Corner 3: 1.00, 1.00; it gives 1.00 to corner 1 and 0.00 to")
    page.get_by_label("after epoch").press("ArrowLeft")
    assert said(page).startswith("Corner 3: 0.00, 0.00; it gives 0.50 to corner 1 and 0.50 to")


def test_a_corner_is_moved_by_keys_and_by_mouse(open_view):
    page = open_view("square")
    corner(page, 1).press("ArrowRight")
    corner(page, 1).press("ArrowDown")
    assert said(page).startswith("Corner 3: 0.90, 1.10;")
    box = page.locator(".attention-view svg").bounding_box()
    at = corner(page, 2).locator("circle").bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=4)
    page.mouse.up()
    numbers = [float(text.replace("−", "-")) for text in coordinates(said(page), "4")]
    assert numbers == pytest.approx([0, 0], abs=0.03)
    for _ in range(30):
        corner(page, 2).press("ArrowUp")
    assert float(coordinates(said(page), "4")[1].replace("−", "-")) == -1.5  # no further


def coordinates(text, name):
    return text.split(f"Corner {name}: ")[1].split(";")[0].split(", ")


def greedy(text, n_new):
    """The text that the model writes by lesson 10's rule, the likeliest character each time."""
    tokens, start = [LETTERS.index(letter) for letter in text], 0
    for _ in range(n_new):
        if len(tokens) - start > WRITER.n_context:
            start = len(tokens) - WRITER.n_context // 2
        with torch.no_grad():
            tokens.append(WRITER(torch.tensor([tokens[start:]]))[0, -1].argmax().item())
    return "".join(LETTERS[token] for token in tokens)


def test_a_model_writes_in_the_page_as_in_torch(open_view):
    page = open_view("writing")
    page.get_by_label("temperature").fill("0")
    written, wanted = page.locator("pre"), greedy("ab", 101)
    page.get_by_role("button", name="one character").click()
    assert written.text_content() == wanted[:3]
    page.get_by_role("button", name="100 characters").click()
    page.wait_for_function("root => root.textContent.length == 103", arg=written.element_handle())
    assert written.text_content() == wanted
    page.get_by_label("Text to go on with").fill("X⏎é")
    page.get_by_role("button", name="start over").click()
    assert written.text_content() == "X\n"


def test_knobs_cut_off_what_they_should(open_view):
    page = open_view("writing")
    with torch.no_grad():
        logits = WRITER(torch.tensor([[0, 1]]))[0, -1].double()
    page.get_by_label("temperature").fill("2")
    ranked = (logits / 2).softmax(-1).sort(descending=True).values
    shares = page.locator("table tr td:last-child")
    page.get_by_label("top-k").fill("4")
    kept = ranked[:4] / ranked[:4].sum()
    assert "draws from 4 of 10 characters" in said(page)
    page.get_by_label("top-p").fill("0.5")
    count = int((kept.cumsum(0) < 0.5).sum()) + 1
    assert f"draws from {count} of 10 characters" in said(page)
    percents = [f"{100 * share / kept[:count].sum():.0f}%" for share in kept[:count]]
    assert shares.all_inner_texts() == percents + ["0%"] * (10 - count)


def test_a_prompt_needs_letters_that_the_model_knows():
    with pytest.raises(ValueError, match="'q', which is none of the letters"):
        view_writing(WRITER, LETTERS, "aq", caption="c")
    with pytest.raises(ValueError, match="nothing"):
        view_writing(WRITER, LETTERS, "", caption="c")


def test_a_training_is_shown_step_by_step(open_view):
    page = open_view("training")
    best = HEADS_OVER_TIME[2].flatten(0, 1).mean(dim=(-2, -1))
    name = f"layer {best.argmax() // 2}, head {best.argmax() % 2}"
    assert said(page) == (
        "After step 30, the loss is 0.50. The highest score for “induction” is "
        f"{best.max():.2f} ({name})."
    )
    words = page.locator("svg text").all_text_contents()
    assert words == ["loss", "steps", "0.00", "3.00", "10", "30", *["key", "query"] * 4]
    page.get_by_label("step").press("Home")
    assert said(page).startswith("After step 10, the loss is 3.00.")
    assert page.locator("svg rect").count() == 4 * 10


def test_moments_have_losses_and_scores():
    with pytest.raises(ValueError, match=r"have \[2, 3\] moments"):
        view_training([1, 2], [3.0, 2.0, 1.0], HEADS_OVER_TIME, SCORES_OVER_TIME, caption="c")
