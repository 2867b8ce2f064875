"""The view of a text, token by token, shows what a model found likeliest to come next."""

import pytest

from autograder.utils.views import view_next_tokens
from tests.utils.views.made import LIKELIEST, TOKENS


def said(page):
    return page.locator(".said").inner_text()


def shares(page):
    """The shares of the rows that are in use, by token."""
    rows = page.locator("tr").all()
    pairs = [(row.locator("th").inner_text(), row.locator("td").nth(1)) for row in rows]
    return {token: cell.inner_text() for token, cell in pairs if token}


def test_it_opens_where_it_is_told_to(open_view):
    page = open_view("next")
    assert said(page) == "After “␣sky”: “␣was” is the likeliest (70%). “␣is” comes next (20%)."
    assert shares(page) == {"␣was": "70%", "␣is": "20%"}


def test_a_token_is_chosen_by_mouse_or_by_arrow_keys(open_view):
    page = open_view("next")
    page.get_by_text("The", exact=True).first.hover()
    assert said(page) == "After “The”: “␣sky”, which does come next, is the likeliest (50%)."
    assert shares(page) == {"␣sky": "50%", "␣sea": "25%", "␣is": "<1%"}
    page.get_by_label("␣is", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert said(page) == "After “⏎”: “The” is the likeliest (100%)."
    page.keyboard.press("ArrowLeft")
    assert said(page).endswith("“⏎” comes next, which is none of these.")


@pytest.mark.parametrize(
    ("tokens", "likeliest"), [([], []), (TOKENS, LIKELIEST[:-1]), (["a"], [{}])]
)
def test_each_token_needs_what_may_come_next(tokens, likeliest):
    with pytest.raises(ValueError, match="one or more after each"):
        view_next_tokens(tokens, likeliest, caption="no")
