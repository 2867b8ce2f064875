"""A page that shuts somebody out is noticed."""

import pytest

from tests.support.accessible import barriers

SOUND = """<!doctype html><html lang="en"><title>Marks</title>
<style>p { color: #555; background: #fff }
@media (prefers-color-scheme: dark) { p { color: #bbb; background: #000 } }</style>
<main><h1>Marks</h1><p>All is well.</p><details><summary>More</summary><p>Here.</p></details></main>
"""


def test_a_sound_page_has_no_barriers(tmp_path):
    (tmp_path / "page.html").write_text(SOUND, encoding="utf-8")
    assert barriers(tmp_path / "page.html") == []


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
def test_a_barrier_is_found(tmp_path, old, new):
    assert SOUND.count(old) == 1
    (tmp_path / "page.html").write_text(SOUND.replace(old, new), encoding="utf-8")
    assert barriers(tmp_path / "page.html")
