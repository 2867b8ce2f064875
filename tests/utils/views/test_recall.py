"""The view of a memory of fixed size brings back what its writes leave in the state."""

import math
import re

import pytest
import torch

from autograder.utils.views import view_recall
from tests.utils.views.made import MEMORIES

START = [("A", 4), ("B", 2), ("A", 1)]  # what is written before anyone touches it


def said(page):
    return page.locator(".said").inner_text()


def press(page, *names):
    for name in names:
        page.get_by_role("button", name=name).click()


def answers(page):
    """For each memory, its rows: what was last written, what comes back, and the verdict."""
    tables = page.locator("table:has(th)").all()
    cells = [table.locator("td").all_inner_texts() for table in tables]
    return {name: (found[:3], found[3:]) for name, found in zip(MEMORIES, cells, strict=True)}


def number(text):
    return float(text.replace("−", "-"))


def read(name, writes, angle, beta, decay):
    """What A and B read from a state [d_k, d_v], by the formulas of the papers."""
    turn = math.radians(angle)
    keys = torch.tensor([[1.0, 0.0], [math.cos(turn), math.sin(turn)]], dtype=torch.float64)
    state, eye = torch.zeros(2, 1, dtype=torch.float64), torch.eye(2)
    for letter, value in writes:
        key = keys["AB".index(letter)]
        if name == "adds":
            state = state + value * key[:, None]
            continue
        state = state * (decay if name.startswith("fades") else 1)
        state = (eye - beta * key.outer(key)) @ state + beta * value * key[:, None]
    return dict(zip("AB", (keys @ state)[:, 0].tolist(), strict=True))


@pytest.mark.parametrize(
    ("presses", "angle", "beta", "decay"),
    [
        ([], 60, 1, 0.8),
        (["B = 2"], 45, 0.5, 0.8),
        (["A = 4", "A = 4", "B = 2"], 0, 0.3, 1),
        (["empty", "B = 2", "A = 1", "A = 4"], 180, 1, 0.5),
        (["empty", "A = 4"], 90, 0, 0.65),
        (["A = 1", *["A = 4"] * 9], 135, 0.9, 0.95),
    ],
)
def test_numbers_are_those_of_torch(open_view, presses, angle, beta, decay):
    page = open_view("recall")
    press(page, *presses)
    page.get_by_label("angle between the keys").fill(str(angle))
    page.get_by_label("beta").fill(str(beta))
    page.get_by_label("what stays").fill(str(decay))
    writes = [] if "empty" in presses else list(START)
    writes += [(text[0], int(text[-1])) for text in presses if text != "empty"]
    last = dict(writes)
    for name, rows in answers(page).items():
        wanted = read(name, writes, angle, beta, decay)
        for key, (written, back, verdict) in zip("AB", rows, strict=True):
            assert number(back) == pytest.approx(wanted[key], abs=0.0051)
            if key not in last:
                assert (written, verdict) == ("nothing", "–")
            else:
                right = abs(wanted[key] - last[key]) <= 0.05
                assert (written, verdict) == (str(last[key]), "✓ right" if right else "× wrong")


def test_it_says_what_each_memory_gives_back(open_view):
    page = open_view("recall")
    assert said(page).splitlines() == [
        "A · B = 0.50: moving one key's answer by 1 moves the other's by 0.50.",
        "adds: A gives back 6.00, not 1; B gives back 4.50, not 2.",
        "replaces: A is right; B gives back 0.50, not 2.",
        "fades and replaces: A is right; B gives back 0.74, not 2.",
    ]
    page.get_by_label("angle between the keys").fill("90")
    assert "replaces: A is right; B is right." in said(page)
    assert "fades and replaces: A is right; B gives back 1.60, not 2." in said(page)


def test_writes_are_listed_and_the_state_is_a_column(open_view):
    page = open_view("recall")
    assert page.get_by_text("Written so far: A = 4, B = 2, A = 1.").is_visible()
    page.get_by_role("button", name="empty").press("Enter")
    assert page.get_by_text("Written so far: nothing.").is_visible()
    assert said(page) == "Nothing is written yet."
    page.get_by_role("button", name="A = 4").press("Space")
    assert said(page).splitlines()[1] == "adds: A is right; B was never written."
    state = page.locator("table", has=page.locator("caption", has_text="state")).first
    assert state.locator("td").all_inner_texts() == ["4.00", "0.00"]
    page.get_by_label("angle between the keys").press("ArrowRight")
    assert page.get_by_text("65°").is_visible()


def test_adding_alone_has_one_slider_and_is_right_at_a_right_angle(open_view):
    page = open_view("adding")
    assert page.get_by_role("slider").count() == 1
    assert said(page).endswith("adds: A gives back 5.00, not 4; B gives back 4.00, not 2.")
    page.get_by_role("slider").fill("90")
    assert said(page).endswith("adds: A is right; B is right.")
    press(page, "A = 1")
    assert said(page).endswith("adds: A gives back 5.00, not 1; B is right.")


def test_replacing_without_fading_has_no_slider_for_it(browser):
    page = browser.new_page()
    page.set_content(view_recall(["replaces"], caption="c")._repr_mimebundle_()["text/html"])
    assert page.get_by_role("slider").count() == 2
    assert page.get_by_label("what stays").count() == 0
    page.close()


@pytest.mark.parametrize(
    ("memories", "writes"),
    [(["adds"], START[:2]), (MEMORIES, START), (["adds", "replaces"], START)],
)
def test_the_picture_describes_the_start(memories, writes):
    alt = view_recall(memories, caption="c").still.alt
    order = ", ".join(f"{key} = {value}" for key, value in writes)
    assert f"60° apart, and what comes back. Written in this order: {order}." in alt
    for name in memories:
        found = re.search(rf"\. {name}: A ([\d.]+), B ([\d.]+)\.(?: |$)", alt)
        wanted = read(name, writes, 60, 1, 0.8)
        assert [*map(float, found.groups())] == pytest.approx([*wanted.values()], abs=0.0051)


@pytest.mark.parametrize("memories", [["adds", "subtracts"], [], "adds"])
def test_memories_have_names(memories):
    with pytest.raises(ValueError, match="memories is"):
        view_recall(memories, caption="c")
    with pytest.raises(ValueError, match="'adds', 'replaces', 'fades and replaces'"):
        view_recall(["subtracts"], caption="c")
