"""A question goes from its text to the source notebook and back; learners get part of it."""

import re
import shutil
from types import SimpleNamespace

import jupytext
import nbformat
import pytest

from autograder.authoring import notebooks
from autograder.authoring.notebooks import answered_cells, build_notebook, write, write_text
from autograder.authoring.stated import stated_in_readme
from autograder.errors import AuthoringError
from autograder.places import ROOT
from tests.support import asking
from tests.support.asking import MODEL_ANSWER, NAME, RUBRIC, cell_of
from tests.support.classroom import nbgrader

LESSON = "01_of_two_exercises"
TEXT = f"""# %% [markdown]
# # 1. Of two exercises
#
# | | |
# |---|---|
# | **You can then** | double it |
#
# Begin.

# %%
from autograder import check, made_for

# %% [markdown]
# ### Exercise 1: `double` (5 minutes)
#
# Double it.


# %%
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %%
check(double)
{asking.QUESTION}
# %% [markdown]
# That is why.
"""


@pytest.fixture
def text(tmp_path, monkeypatch):
    """The path of a made-up lesson's text. Its reference knows the one exercise."""
    known = SimpleNamespace(questions={"double": SimpleNamespace(contract="c0ffee")})
    monkeypatch.setattr(notebooks, "load", lambda path: known)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / "solutions" / f"{LESSON}.py"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


def built(text):
    """Build the source notebook of a text, without running it, and write it."""
    exercises = [SimpleNamespace(name="double", points=3, challenge=False, begins_with="")]
    lesson = SimpleNamespace(
        name=LESSON,
        notebook=jupytext.read(text),
        exercises=exercises,
        asked={one.name: one for one in exercises},
    )
    notebook = build_notebook(lesson)
    write(notebook, source_of(text))
    return notebook


def source_of(text):
    return text.with_suffix("") / f"{LESSON}.ipynb"


def carried_back(text, notebook):
    """Write an edited source notebook, carry it back, and return the text."""
    write(notebook, source_of(text))
    write_text(source_of(text), text)
    return text.read_text(encoding="utf-8")


def test_its_cells_are_nbgraders_and_its_points_count(text):
    notebook = built(text)
    asks, answer = (
        cell_of(notebook, name).metadata.nbgrader for name in (f"question_{NAME}", NAME)
    )
    assert (asks.locked, asks.grade, asks.solution) == (True, False, False)
    assert (answer.locked, answer.grade, answer.solution, answer.points) == (False, True, True, 4)
    assert "| **Exercises** | 1 and 1 question, together 7 points |" in notebook.cells[0].source
    ids = [cell.id for cell in notebook.cells]
    assert ids[-3:-1] == [f"question_{NAME}", NAME] and ids[-1].startswith("question-1-why_scale")


def test_the_readme_counts_it_too(text):
    lesson = SimpleNamespace(
        name=LESSON,
        text_path=text,
        notebook=jupytext.read(text),
        exercises=[SimpleNamespace(points=3)],
    )
    row = f"| [1. Of two exercises](notebooks/{LESSON}/{LESSON}.ipynb) |"
    assert stated_in_readme(f"{row} 1 | 1 | |\n", lesson) == f"{row} 20 | 7 | double it |\n"


def test_the_round_trip_changes_nothing(text):
    assert carried_back(text, built(text)) == TEXT
    assert carried_back(text, built(text)) == TEXT


@pytest.mark.parametrize(
    ("cell", "old", "new"),
    [
        (f"question_{NAME}", "Why do we divide", "Why do we scale"),
        (f"question_{NAME}", RUBRIC, "1 point: the variance\n- 1 point: it grows"),
        (f"question_{NAME}", "(4 points, 5", "(1 point, 8"),
        (f"question_{NAME}", NAME, "why_root"),
        (NAME, MODEL_ANSWER, "It grows.\n\nAnd so on."),
    ],
)
def test_only_the_edit_in_a_source_notebook_is_carried_back(text, cell, old, new):
    notebook = built(text)
    edited = cell_of(notebook, cell)
    edited.source = edited.source.replace(old, new)
    commented = re.sub(r"\n(.)", r"\n# \1", new).replace("\n\n", "\n#\n")
    assert carried_back(text, notebook) == TEXT.replace(old, commented)
    again = built(text)
    assert carried_back(text, again) == TEXT.replace(old, commented)


def test_points_given_in_the_heading_count(text):
    notebook = built(text)
    edited = cell_of(notebook, f"question_{NAME}")
    edited.source = edited.source.replace("4 points", "6 points")
    for _ in range(2):  # the toolbar still says 4
        assert "# ### Question 1: `why_scale` (6 points, " in carried_back(text, notebook)
    assert cell_of(built(text), NAME).metadata.nbgrader.points == 6


def test_points_given_in_nbgraders_toolbar_count(text):
    notebook = built(text)
    cell_of(notebook, NAME).metadata.nbgrader.points = 6.0
    for _ in range(2):  # the heading still says 4
        assert "# ### Question 1: `why_scale` (6 points, " in carried_back(text, notebook)
    again = built(text)
    assert cell_of(again, NAME).metadata.nbgrader.points == 6
    assert "together 9 points" in again.cells[0].source


@pytest.mark.parametrize(("heading", "toolbar"), [(5, 6), (4, 2.5), (4, 0), (4, 10**9)])
def test_ambiguous_points_are_refused(text, heading, toolbar):
    notebook = built(text)
    edited = cell_of(notebook, f"question_{NAME}")
    edited.source = edited.source.replace("4 points", f"{heading} points")
    cell_of(notebook, NAME).metadata.nbgrader.points = toolbar
    with pytest.raises(AuthoringError, match=f"worth {heading} in its heading and {toolbar}"):
        carried_back(text, notebook)
    assert text.read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("name", ["double", "check_double"])
def test_a_name_that_is_taken_is_refused(text, name):
    text.write_text(TEXT.replace(NAME, name), encoding="utf-8")
    with pytest.raises(AuthoringError, match=f"two cells are named {name}: rename the question"):
        built(text)


@pytest.fixture
def released(text):
    """The path of the notebook that learners get."""
    built(text)
    nbgrader(text.parents[1], "generate_assignment", LESSON)
    return text.parents[1] / "notebooks" / LESSON / f"{LESSON}.ipynb"


def test_learners_get_neither_the_mark_scheme_nor_the_model_answer(released):
    text = released.read_text(encoding="utf-8")
    assert "Why do we divide" in text and "(4 points, 5 minutes)" in text
    assert not [s for s in (RUBRIC, MODEL_ANSWER, "MARK SCHEME", "SOLUTION") if s in text]
    assert cell_of(nbformat.read(released, as_version=4), NAME).source == "YOUR ANSWER HERE"


def test_a_release_never_overwrites_an_answer_in_words(released):
    assert answered_cells(released) == []
    notebook = nbformat.read(released, as_version=4)
    cell_of(notebook, NAME).source = "Because."
    write(notebook, released)
    assert answered_cells(released) == [NAME]


def test_a_mark_scheme_that_would_be_lost_stops_the_release(text):
    notebook = built(text)
    del cell_of(notebook, f"question_{NAME}").metadata["nbgrader"]
    write(notebook, source_of(text))
    with pytest.raises(AssertionError, match="Mark scheme region detected in a non-grade cell"):
        nbgrader(text.parents[1], "generate_assignment", LESSON)
