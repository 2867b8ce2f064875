"""The released notebook says what the gradebook says about it."""

import json
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.grading.gradebook.released import read_blueprint
from autograder.grading.single.released import released_blueprint
from autograder.grading.worker.source import read_source
from autograder.lessons.lesson import Lesson
from tests.support.classroom import LESSON, gradebook, release

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.mark.first_is_enough
def test_both_blueprints_are_the_same(lesson, tmp_path):
    release(tmp_path, lesson)
    order = read_source(lesson.notebook_path).grade_ids
    with gradebook(tmp_path) as book:
        assert released_blueprint(lesson) == read_blueprint(book, lesson.name, lesson.name, order)


@pytest.fixture
def released(tmp_path, monkeypatch):
    """The path of a copy of the released notebook, which counts instead of it."""
    folder = tmp_path / "notebooks"
    path = folder / LESSON.released_path.name
    folder.mkdir()
    path.write_bytes(LESSON.released_path.read_bytes())
    monkeypatch.setattr("autograder.grading.single.released.ROOT", tmp_path)
    monkeypatch.setattr(Lesson, "released_path", property(lambda lesson: path))
    return path


def change(path: Path, begins: str) -> None:
    tree = json.loads(path.read_bytes())
    [cell] = [c for c in tree["cells"] if "".join(c["source"]).startswith(begins)]
    cell["source"] = [*cell["source"], "\n# mine"]
    path.write_text(json.dumps(tree), encoding="utf-8")


def without_locks(path: Path) -> None:
    tree = json.loads(path.read_bytes())
    for cell in tree["cells"]:
        cell["metadata"].get("nbgrader", {}).pop("locked", None)
    path.write_text(json.dumps(tree), encoding="utf-8")


@pytest.mark.parametrize("begins", ["def softmax", "check(softmax)"])
def test_a_notebook_with_answers_in_it_is_not_the_released_one(released, begins):
    change(released, begins)
    with pytest.raises(
        CourseError, match=r"softmax` changed\. Copy it .* git checkout notebooks/01"
    ):
        released_blueprint(LESSON)


def test_notes_in_it_do_no_harm(released):
    before = released_blueprint(LESSON)
    change(released, "# 1. Dot-product")
    assert released_blueprint(LESSON) == before


@pytest.mark.parametrize(
    ("lay", "said"),
    [
        (lambda path: path.unlink(), "is missing. To get it back"),
        (lambda path: path.write_text("{", encoding="utf-8"), "can't be read"),
        (without_locks, "lacks 'locked' in a cell. To get it back"),
    ],
)
def test_one_that_is_missing_or_broken(released, lay, said):
    lay(released)
    with pytest.raises(CourseError, match=said):
        released_blueprint(LESSON)
