"""One exercise a file: a lesson finds them in its folder, and takes their order from its text."""

import ast
import importlib
import re

import pytest

from autograder import exercises
from autograder.building.sources import needed_files
from autograder.errors import AuthoringError
from autograder.lessons import lesson as lessons
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT

FOLDER = ROOT / "autograder" / "exercises"
FILES = sorted(FOLDER.rglob("*.py"))
MOST_LINES, MOST_LINES_OF_FUNCTIONS = 600, 100
CELLS = """
# %%
def {name}(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

# %%
check({name})
"""
EXERCISE = """
from autograder.lessons.exercise import Exercise

from .shared import HINTS

EXERCISE = Exercise("{name}", "y", aspects=[], mistakes=[], alternatives=[], hints=HINTS)
"""
PREDICTION = 'Prediction("{name}", right=2, because="1 + 1")'


class Author:
    """Writes a lesson: its text, and the folder that describes its exercises."""

    def __init__(self, root, name):
        self.name = name
        self.folder = root / "autograder" / "exercises" / name
        self.text = root / f"{name}.py"
        self.folder.mkdir(parents=True)
        (self.folder / "shared.py").write_text('HINTS = ["one", "two", "three"]\n')
        self.text.write_text("")

    def describe(self, name):
        (self.folder / f"{name}.py").write_text(EXERCISE.format(name=name))

    def ask(self, name):
        self.text.write_text(self.text.read_text() + CELLS.format(name=name))

    def predict(self, asked, described):
        self.text.write_text("".join(f'\n# %%\npredict("{name}", ...)\n' for name in asked))
        made = ", ".join(PREDICTION.format(name=name) for name in described)
        (self.folder / "predictions.py").write_text(
            f"from autograder.judging.prediction import Prediction\nPREDICTIONS = [{made}]\n"
        )

    def lesson(self):
        importlib.invalidate_caches()
        return Lesson(self.name)


@pytest.fixture
def author(tmp_path, monkeypatch, request):
    """An author with a lesson for this test alone, because modules are imported once."""
    author = Author(tmp_path, f"99_{request.node.name}")
    monkeypatch.setattr(lessons, "PACKAGE", tmp_path / "autograder")
    monkeypatch.setattr(lessons, "TEXTS", tmp_path)
    monkeypatch.setattr(exercises, "__path__", [str(author.folder.parent)])
    return author


def test_adding_an_exercise_is_adding_a_file(author):
    for name in ("beta", "alpha"):
        author.describe(name)
        author.ask(name)
        assert [*author.lesson().asked][-1] == name
    assert [*author.lesson().asked] == ["beta", "alpha"]  # as in the text


def test_an_exercise_without_a_description(author):
    author.ask("alpha")
    author.describe("alpha")
    author.ask("beta")
    said = f"{author.name}.py defines beta, which autograder/exercises/{author.name} doesn't"
    with pytest.raises(AuthoringError, match=re.escape(said)):
        author.lesson().asked  # noqa: B018


def test_a_misspelled_name(author):
    author.ask("alpha")
    author.describe("alhpa")
    with pytest.raises(AuthoringError, match="describes alhpa: is one misspelled"):
        author.lesson().asked  # noqa: B018


@pytest.mark.parametrize("extra", ["alpha", "beta"])
def test_a_description_too_many(author, extra):
    author.ask("alpha")
    author.describe("alpha")
    (author.folder / "other.py").write_text(EXERCISE.format(name=extra))
    text = f"solutions/{author.name}.py"
    said = f"{author.name} describes {extra} more often than {text} defines it: add its"
    with pytest.raises(AuthoringError, match=re.escape(said)):
        author.lesson().asked  # noqa: B018


def test_an_exercise_needs_a_check(author):
    author.ask("alpha")
    author.describe("alpha")
    author.text.write_text(author.text.read_text().replace("check(alpha)", "alpha(1)"))
    with pytest.raises(AuthoringError, match=re.escape("no cell calls check(alpha)")):
        author.lesson().asked  # noqa: B018


def test_predictions_are_asked_in_the_order_of_the_text(author):
    author.predict(["beta", "alpha"], ["alpha", "beta"])
    assert [*author.lesson().predictions] == ["beta", "alpha"]


def test_text_and_folder_have_the_same_predictions(author):
    author.predict(["alpha"], ["alpha", "beta"])
    said = r"describes beta more often than .* asks to predict it"
    with pytest.raises(AuthoringError, match=said):
        author.lesson().predictions  # noqa: B018


def test_a_file_is_named_after_its_exercise(lesson):
    for name in lesson.asked:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
        found = [
            path.stem
            for path in lesson.exercises_path.glob(f"{words}*.py")
            if f'\nEXERCISE = Exercise(\n    "{name}",\n' in path.read_text(encoding="utf-8")
        ]
        # `TiledAttention` and `tiled_attention` are two exercises of lesson 9.
        assert found == [{"TiledAttention": "tiled_attention_function"}.get(name, words)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_files_are_short(path):
    """Only tables of mistakes and other data are long."""
    text = path.read_text(encoding="utf-8")
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert len(text.splitlines()) <= MOST_LINES
    assert sum(n.end_lineno - n.lineno + 1 for n in functions) <= MOST_LINES_OF_FUNCTIONS


def test_a_reference_needs_what_its_exercises_share_and_the_data_that_they_read():
    lesson = Lesson("05_square_corners").exercises_path
    assert lesson / "shared.py" in needed_files([lesson / "encoder.py"], ROOT)
    assert lesson / "more_runs.csv" in needed_files([lesson / "diagnose_run.py"], ROOT)
    assert lesson / "more_runs.csv" not in needed_files([lesson / "encoder.py"], ROOT)
