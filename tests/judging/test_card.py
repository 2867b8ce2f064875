"""A card says in HTML and in plain text what is right, what is not, and where to look."""

import math

import pytest
import torch
from bs4 import BeautifulSoup

from autograder.asking.problem import Problem, ProblemKind
from autograder.judging.card import headline, verdict_card
from autograder.judging.code_marks import in_backticks, points_of
from autograder.judging.tensor_table import (
    Style,
    format_value,
    heatmap,
    pick_slice,
    telling_decimals,
    value_range,
)
from autograder.judging.verdict import AspectResult, CaseCount, Exhibit, Verdict
from autograder.utils.palette import BLUE, PARTLY, RED, RIGHT, WRONG

HELD = AspectResult("one row", 1, True)
MISSED = AspectResult("rows <b> & more", 2, False, CaseCount(1, 2), CaseCount(0, 2))
EXPECTED = torch.arange(24.0).reshape(2, 3, 4)
GOT = EXPECTED.clone()
GOT[1, 2, 3] = 0.0


def verdict(*aspects, **more):
    return Verdict("softmax", "01", list(aspects), **more)


def exhibit(expected=EXPECTED, got=GOT, **more):
    about = {"label": "", "shapes": {"x": [2, 3]}, "output": "y"} | more
    return Exhibit(1, about.pop("label"), about.pop("shapes"), expected=expected, got=got, **about)


def lines(card):
    """Return the card's lines of text, after checking that its HTML has the same words."""
    assert card._repr_html_() == card.html and repr(card) == card.text
    seen = BeautifulSoup(card.html, "html.parser").get_text("\n")
    for word in card.text.replace("`", " ").split():
        assert word.removesuffix(":") in seen, word
    return [line.strip() for line in card.text.splitlines()]


def color(card):
    return card.html.split("solid ")[1].split(";")[0]


# ---------------------------------------------------------------- the whole


def test_a_right_answer_has_its_aspects_and_nothing_else():
    card = verdict_card(verdict(HELD))
    assert lines(card) == ["✓ softmax: 1 of 1 point", "✓ one row (1 point)"]
    assert color(card) == RIGHT


def test_a_wrong_answer_has_a_sentence_and_its_case():
    card = verdict_card(
        verdict(MISSED, sentence="Use `exp`.", exhibit=exhibit(None, None), printed=1)
    )
    assert lines(card) == [
        "✗ softmax: 0 of 2 points",
        "✗ rows <b> & more (2 points)",
        "Use `exp`.",
        "Tried with `x` of shape (2, 3).",
        "(Your code printed 1 line in all cases together.)",
    ]
    assert color(card) == WRONG
    assert "<b>" not in card.html and "<code>exp</code>." in card.html


def test_partial_points_are_amber():
    card = verdict_card(verdict(HELD, MISSED, sentence="No.", printed=1234))
    assert lines(card)[0] == "✗ softmax: 1 of 3 points"
    assert lines(card)[-1] == "(Your code printed 1,234 lines in all cases together.)"
    assert color(card) == PARTLY


def test_what_the_code_printed_in_the_case_is_shown():
    card = verdict_card(verdict(MISSED, printed=20, output="<b>\n3\n", exhibit=exhibit(None, None)))
    assert lines(card)[-3:] == [
        "Your code printed 20 lines in all cases together. In the case above:",
        "<b>",
        "3",
    ]
    assert "&lt;b&gt;\n3</pre>" in card.html


def test_an_unanswered_exercise_is_not_wrong():
    card = verdict_card(verdict(MISSED, sentence="Write it.", answered=False))
    assert lines(card) == ["○ softmax: not answered yet", "Write it."]
    assert color(card) == PARTLY
    assert headline(verdict(MISSED, answered=False)) == "softmax: not answered yet"


def test_a_hidden_case_gives_no_inputs():
    card = verdict_card(verdict(MISSED, exhibit=exhibit(None, None, hidden=True, label="large")))
    assert (
        lines(card)[-1] == "Tried with a case that only grading uses: `x` of shape (2, 3) (large)."
    )


def test_a_case_without_tensors_has_a_label_or_nothing():
    named, nothing = (
        verdict_card(verdict(MISSED, exhibit=exhibit(label=label, shapes={})))
        for label in ("large scores", "")
    )
    assert "Tried with large scores." in named.text
    assert "Tried" not in nothing.text


def test_a_challenge_mentions_no_points():
    shown = verdict_card(verdict(HELD, MISSED, sentence="No.", challenge=True))
    assert lines(shown)[:2] == ["✗ softmax: not solved yet", f"✓ {HELD.name}"]
    given_up = verdict_card(verdict(MISSED, sentence="Go on.", given_up=True, challenge=True))
    assert lines(given_up) == ["○ softmax: given up", "Go on."]


def test_a_given_up_exercise_has_no_points():
    card = verdict_card(verdict(MISSED, sentence="Delete `give_up`.", given_up=True))
    assert lines(card) == ["○ softmax: given up, 0 of 2 points", "Delete `give_up`."]
    assert color(card) == PARTLY


def test_signs_differ_in_shape_and_color():
    html = verdict_card(verdict(HELD, MISSED)).html
    assert f'<b style="color:{RIGHT}">✓</b>' in html and f'<b style="color:{WRONG}">✗</b>' in html


def test_half_points_are_written_out():
    assert points_of(1.5, 2) == "1.5 of 2 points"
    assert in_backticks(["a", "b"]) == "`a` and `b`"


# ---------------------------------------------------------------- tensors side by side


def test_tensors_are_shown_where_they_first_differ():
    card = verdict_card(verdict(MISSED, exhibit=exhibit()))
    text = lines(card)
    assert text[3] == "expected: y (2, 3, 4) at [1]:"
    assert text[4] == "12.000   13.000   14.000   15.000"
    assert text[7] == "yours: y (2, 3, 4) at [1]:"
    assert text[10] == "20.000   21.000   22.000    0.000"
    titles = [title.text for title in BeautifulSoup(card.html, "html.parser").find_all("caption")]
    assert titles == ["expected: y (2, 3, 4) at [1]", "yours: y (2, 3, 4) at [1]"]


def test_wrong_values_are_marked_unless_all_are_wrong():
    some = verdict_card(verdict(MISSED, exhibit=exhibit(wrong=EXPECTED != GOT)))
    assert "✗0.000" in some.text and some.text.count("✗0.000") == 1
    cells = BeautifulSoup(some.html, "html.parser").find_all("td")
    assert [cell.text for cell in cells if "inset" in cell["style"]] == ["0.000"]
    every = verdict_card(verdict(MISSED, exhibit=exhibit(wrong=EXPECTED == EXPECTED)))
    assert "✗" not in "".join(lines(every)[2:])
    assert "yours: y (2, 3, 4) at [0], wrong everywhere:" in lines(every)
    assert "inset" not in every.html and "wrong everywhere" in every.html


def test_a_single_wrong_number_is_not_called_everywhere():
    one = exhibit(torch.ones(1), torch.zeros(1), wrong=torch.tensor([True]))
    assert "everywhere" not in verdict_card(verdict(MISSED, exhibit=one)).text


def test_omitted_values_are_folded_away():
    def folded(got):
        html = verdict_card(verdict(MISSED, exhibit=exhibit(got, got + 1))).html
        return [found.find("pre").text for found in BeautifulSoup(html, "html.parser")("details")]

    assert folded(torch.zeros(8, 8)) == []
    assert folded(torch.zeros(9, 8)) == [str(torch.ones(9, 8))]
    assert folded(torch.zeros(2, 2, 2)) == [str(torch.ones(2, 2, 2))]


def test_a_wrong_shape_is_shown_from_its_beginning():
    text = verdict_card(verdict(MISSED, exhibit=exhibit(got=torch.ones(2, 2, 2, 1) / 3))).text
    assert "expected: y (2, 3, 4) at [0]:\n       0.000    1.000" in text
    assert "yours: y (2, 2, 2, 1) at [0, 0]:\n       0.333\n       0.333" in text
    text = verdict_card(verdict(MISSED, exhibit=exhibit(got=torch.ones(2)))).text
    assert "yours: y (2,):\n       1.000    1.000" in text
    text = verdict_card(verdict(MISSED, exhibit=exhibit(got=torch.tensor(1.0)))).text
    assert "yours: y ():\n       1.000" in text
    text = verdict_card(verdict(MISSED, exhibit=exhibit(got=torch.zeros(0, 3)))).text
    assert "yours: y (0, 3):" in text


def test_small_differences_are_shown_with_more_decimals():
    text = verdict_card(verdict(MISSED, exhibit=exhibit(got=EXPECTED + 1e-4))).text
    assert "    0.00010" in text


def test_a_single_number_has_no_table():
    one = torch.tensor(1.0)
    card = verdict_card(verdict(MISSED, exhibit=exhibit(one, one)))
    assert "Tried with" in card.text and "<table" not in card.html


def test_a_large_tensor_is_cut_to_8_by_8():
    large = torch.arange(900.0).reshape(30, 30)
    card = verdict_card(verdict(MISSED, exhibit=exhibit(large, large + 1)))
    text = card.text.split("expected")[1].split("yours")[0].splitlines()[1:-1]
    assert [len(row.split()) for row in text] == [8] * 8
    table = BeautifulSoup(card.html, "html.parser").find("table")
    rows = [[cell.text for cell in row.find_all("td")] for row in table.find_all("tr")]
    assert [len(row) for row in rows] == [9] * 8 + [1]
    assert {row[-1] for row in rows} == {"…"}
    assert heatmap(torch.zeros(9, 1), "t", Style(0.0, 1.0, 3)).count("…") == 1
    assert heatmap(torch.zeros(1, 9), "t", Style(0.0, 1.0, 3)).count("…") == 1
    fits = heatmap(torch.zeros(8, 8), "t", Style(0.0, 1.0, 3))
    assert "…" not in fits and fits.count("<td") == 64


# ---------------------------------------------------------------- numbers and colors


def test_a_table_starts_where_it_shows_a_wrong_value():
    expected = torch.zeros(2, 30, 20)
    got = expected.clone()
    got[1, 2, 15] = 7.0
    card = verdict_card(verdict(MISSED, exhibit=exhibit(expected, got, wrong=got != expected)))
    assert "yours: y (2, 30, 20) at [1], from [0, 11]" in card.text and "✗7.000" in card.text
    got[1, 0, 3] = 5.0
    card = verdict_card(verdict(MISSED, exhibit=exhibit(expected, got, wrong=got != expected)))
    assert "yours: y (2, 30, 20) at [1]:" in card.text and "✗5.000" in card.text


@pytest.mark.parametrize(
    ("shape", "place", "where"),
    [((3, 4), (1, 1), ()), ((2, 3, 4), (1, 0, 0), (1,)), ((2, 2, 3, 4), (1, 0, 2, 3), (1, 0))],
)
def test_the_slice_holds_the_first_wrong_value(shape, place, where):
    wrong = torch.zeros(shape, dtype=torch.bool)
    assert pick_slice(wrong) == (0,) * len(where)
    wrong[place] = True
    assert pick_slice(wrong) == where


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (0.12345, 3, "0.123"),
        (-0.0, 3, "0.000"),
        (99.99, 1, "100.0"),
        (100.0, 3, "100"),
        (-12345.6, 3, "-1.235e+04"),
        (100.1234, 5, "100.123"),
        (7, 3, "7"),
        (True, 3, "True"),
        (math.nan, 3, "NaN"),
        (math.inf, 3, "∞"),
        (-math.inf, 3, "-∞"),
    ],
)
def test_a_number_is_short(value, decimals, shown):
    assert format_value(torch.tensor(value), decimals) == shown


@pytest.mark.parametrize(
    ("gap", "decimals"),
    [(1.0, 3), (6e-4, 3), (4e-4, 5), (6e-6, 5), (4e-6, 7), (1e-9, 7), (math.nan, 3)],
)
def test_enough_decimals_to_see_a_difference(gap, decimals):
    gaps = torch.tensor([[gap / 9, gap], [gap, -gap]], dtype=torch.float64)
    assert telling_decimals(torch.full((2, 2), 5.0), 5.0 + gaps) == decimals


def test_the_range_covers_all_finite_values():
    strange = torch.tensor([math.nan, math.inf, -math.inf])
    assert value_range(torch.tensor([1, 5]), torch.tensor([-2.0]), strange) == (-2.0, 5.0)
    assert value_range(strange) == (0.0, 0.0)


def grounds(values, low, high):
    table = BeautifulSoup(heatmap(values, "t", Style(low, high, 3)), "html.parser")
    return [cell["style"].split("background:")[1] for cell in table.find_all("td")]


def test_colors_go_from_none_to_strong():
    values = torch.tensor([0.0, 1.0, 2.0, 4.0, 5.0, math.nan])
    found = grounds(values, 0.0, 4.0)
    opaque = ["00", "2a", "53", "a6", "a6"]
    assert found == [*(f"{BLUE}{one}" for one in opaque), f"{RED};color:#fff"]
    assert grounds(torch.ones(1), 1.0, 1.0) == [f"{BLUE}53"]


# JupyterLab's ground and ink in both themes, and Colab's and VS Code's in the dark.
PAGES = [
    ("#ffffff", "#212121"),
    ("#111111", "#dedede"),
    ("#383838", "#d5d5d5"),
    ("#1f1f1f", "#cccccc"),
]


@pytest.mark.parametrize(("ground", "ink"), PAGES)
def test_each_number_is_readable_on_its_color(ground, ink):
    for found in grounds(torch.linspace(0, 1, 8), 0.0, 1.0):
        lights = luminance(blend(found, ground)), luminance(channels(ink))
        assert (max(lights) + 0.05) / (min(lights) + 0.05) >= 4.5, found


def test_what_is_no_number_is_readable():
    assert 1.05 / (luminance(channels(RED)) + 0.05) >= 4.5


def channels(color):
    digits = color[1:] if len(color) > 4 else "".join(one * 2 for one in color[1:])
    return [part / 255 for part in bytes.fromhex(digits)]


def blend(color, ground):
    *over, opaque = channels(color)
    return [o * opaque + g * (1 - opaque) for o, g in zip(over, channels(ground), strict=True)]


def luminance(color):
    """Return the relative luminance that WCAG 2.2 defines, from shares of red, green and blue."""
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in color]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# ---------------------------------------------------------------- for a gradebook


def test_a_summary_is_plain():
    found = verdict(
        HELD,
        MISSED,
        sentence="No.",
        mistake="naive",
        exhibit=exhibit(),
        problems=(Problem(ProblemKind.TIME, "10"),),
    ).summary()
    cases = {"public": {"right": 1, "of": 2}, "hidden": {"right": 0, "of": 2}}
    none = {"public": {"right": 0, "of": 0}, "hidden": {"right": 0, "of": 0}}
    assert found == {
        "exercise": "softmax",
        "points": 1,
        "graded": True,
        "max_points": 3,
        "aspects": [
            {"name": "one row", "points": 1, "held": True} | none,
            {"name": "rows <b> & more", "points": 2, "held": False} | cases,
        ],
        "sentence": "No.",
        "mistake": "naive",
        "rules": [],
        "blamed_on": [],
        "given_up": False,
        "answered": True,
        "problems": [{"kind": "time", "detail": "10", "place": None, "instead": "other"}],
    }
