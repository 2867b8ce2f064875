"""What only looks like a tag is text, and stays on the page."""

import pytest

from autograder.grading.pages.budget import Budget
from autograder.grading.pages.sanitizer import Sanitizer
from tests.grading.feedback.made import parsed


def rendered(markdown):
    return parsed(Sanitizer(Budget()).markdown(markdown))


@pytest.mark.parametrize(
    "text",
    [
        "if a<b and c>d then",
        "if x<y and z>w then",
        "n_query<n_key",
        "List<int> is x<5",
        "i<n, j>m, <not a tag>",
        "a <b and c> d",
    ],
)
def test_a_comparison_is_text(text):
    assert rendered(text).get_text().strip() == text


def test_tags_that_are_meant_stay():
    soup = rendered("x<sub>2</sub> is **bold**, <B>so</B><br/> is <i title='a b'>this</i>.")
    assert [tag.name for tag in soup.p.find_all()] == ["sub", "strong", "b", "br", "i"]
    assert soup.i["title"] == "a b"


@pytest.mark.parametrize("tag", ["script", "iframe", "style", "form"])
def test_a_tag_that_does_harm_is_text_or_gone(tag):
    assert not rendered(f"x <{tag}>alert(1)</{tag}>\n\n<{tag}>\nalert(1)\n</{tag}>").find_all(tag)
