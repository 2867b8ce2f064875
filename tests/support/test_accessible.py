"""A page that shuts somebody out is noticed."""

import pytest

from tests.support.accessible import barriers_on
from tests.support.browser import new_page

SOUND = """<!doctype html><html lang="en"><title>Marks</title>
<style>p { color: #555; background: #fff }
@media (prefers-color-scheme: dark) { p { color: #bbb; background: #000 } }</style>
<main><h1>Marks</h1><p>All is well.</p><details><summary>More</summary><p>Here.</p></details></main>
"""


@pytest.fixture(scope="module")
def page():
    with new_page() as page:
        yield page


def test_a_sound_page_has_no_barriers(page):
    page.set_content(SOUND)
    assert barriers_on(page) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#555", "#ccc"),
        ("#bbb", "#333"),
        ("Here.", "<img src=x>"),
        (' lang="en"', ""),
        ("<p>All", '<p id="a"></p><div role="region" aria-labelledby="a"></div><p id="a">All'),
    ],
    ids=[
        "light contrast",
        "dark contrast",
        "a picture without words",
        "no language",
        "an id twice",
    ],
)
def test_a_barrier_is_found(page, old, new):
    assert SOUND.count(old) == 1
    page.set_content(SOUND.replace(old, new))
    assert barriers_on(page)
