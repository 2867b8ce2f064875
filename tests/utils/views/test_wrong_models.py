"""The view of wrong models gives their answers first, and what tells on request."""

import pytest

from autograder.utils.views import view_wrong_models
from tests.utils.views.made import RIGHT, WRONG


def told(page):
    """What stands below each heading, without buttons that are still to be pressed."""
    return [text.strip() for text in page.locator("dd").all_inner_texts()]


def test_it_opens_on_the_lowest_loss_and_gives_nothing_away(open_view):
    page = open_view("wrong")
    assert told(page) == ["France.", "show loss", "show logits", "show what is wrong"]
    page.get_by_role("button", name="show loss").click()
    page.get_by_role("button", name="show logits").click()
    assert told(page)[1:3] == [
        "1.25 (the right model: 2.5)",
        "off by 20 at most; in pieces, by 30",
    ]
    page.get_by_role("button", name="show what is wrong").click()
    assert told(page)[3] == "no mask"


def test_another_model_starts_anew(open_view):
    page = open_view("wrong")
    page.get_by_role("button", name="show what is wrong").click()
    seen = set()
    for number in ("2", "3"):
        page.get_by_text(number, exact=True).first.click()
        assert told(page)[1:] == ["show loss", "show logits", "show what is wrong"]
        page.get_by_role("button", name="show what is wrong").click()
        seen.add((told(page)[0], told(page)[3]))
    assert seen == {("(nothing)", "no rotation"), ("Lion", "no scale")}


def test_there_must_be_a_wrong_model():
    with pytest.raises(ValueError, match="give at least one"):
        view_wrong_models(RIGHT, [], caption="no")
    assert view_wrong_models(RIGHT, WRONG, caption="yes").data["right"]["loss"] == 2.5
