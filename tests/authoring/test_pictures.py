"""The pictures of the README and the site are those of the lessons as they are."""

import json

from PIL import Image

from autograder.authoring import pictures
from autograder.places import ROOT


def test_the_pictures_are_fresh():
    recorded = json.loads(pictures.RECORD.read_text(encoding="utf-8"))
    assert recorded == pictures.digests(), "one is stale: run `make pictures`"
    made = {path.name for path in pictures.HERE.iterdir()} - {pictures.RECORD.name}
    assert made == set(recorded)


def test_what_is_shown_decides_whether_a_picture_is_stale(monkeypatch):
    def digest(html):
        monkeypatch.setattr(pictures, "sources", lambda: {"a.png": html})
        return pictures.digests()["a.png"]

    same = '<img alt="drawn here" src="data:image/png;base64,AA">words'
    assert digest(same) == digest(same.replace("AA", "BB")) != digest(same.replace("words", "word"))


def test_the_readme_has_a_small_moving_picture():
    moving = pictures.HERE / "squares.webp"
    assert f"]({moving.relative_to(ROOT).as_posix()})" in (ROOT / "README.md").read_text("utf-8")
    assert moving.stat().st_size < 1_000_000
    with Image.open(moving) as picture:
        assert picture.n_frames > 20
