"""What was handed in before, and its grades."""

import json
import os

import pytest

from autograder.grading.engine.history import earlier_grades, entries, remember


def hand_in(course, text, grade):
    submitted = course / "submitted"
    submitted.mkdir(exist_ok=True)
    (submitted / "lesson.ipynb").write_text(text, encoding="utf-8")
    remember(course, "a", "lesson", submitted, {"submitted": [text], "mark": grade})


def test_each_version_is_kept_once_with_its_last_grade(tmp_path):
    assert earlier_grades(tmp_path, "a", "lesson") == []
    for text, grade in [("1", 5), ("1", 5), ("1", 7), ("2", None), ("3", 9)]:
        hand_in(tmp_path, text, grade)
    assert [entry["mark"] for entry in entries(tmp_path, "a", "lesson")] == [5, 7, None, 9]
    assert earlier_grades(tmp_path, "a", "lesson") == [7, None]
    texts = [p.read_text(encoding="utf-8") for p in sorted(tmp_path.glob("history/a/lesson/*/*b"))]
    assert texts == ["1", "1", "2", "3"]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"x"', '{"mark": "NaN"}', '{"mark": NaN}'])
def test_what_is_damaged_gives_no_grade(tmp_path, text):
    hand_in(tmp_path, "1", 5)
    hand_in(tmp_path, "2", 6)
    (tmp_path / "history" / "a" / "lesson" / "001" / "mark.json").write_text(text, encoding="utf-8")
    assert earlier_grades(tmp_path, "a", "lesson") in ([], [None])
    hand_in(tmp_path, "3", 7)
    assert json.loads((tmp_path / "history/a/lesson/003/mark.json").read_bytes())["mark"] == 7


def test_only_plain_files_are_kept_and_none_is_taken_for_the_grade(tmp_path):
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    submitted = tmp_path / "submitted"
    (submitted / "mark.json").mkdir(parents=True)
    (submitted / "mark.json" / "x").write_text("here", encoding="utf-8")
    os.link(tmp_path / "secret", submitted / "hard")
    (submitted / "soft").symlink_to(tmp_path / "secret")
    os.mkfifo(submitted / "pipe")
    hand_in(tmp_path, "1", 5)
    kept = tmp_path / "history" / "a" / "lesson" / "001"
    assert sorted(path.name for path in kept.iterdir()) == ["lesson.ipynb", "mark.json"]
    assert earlier_grades(tmp_path, "a", "lesson") == []
    assert [entry["mark"] for entry in entries(tmp_path, "a", "lesson")] == [5]
