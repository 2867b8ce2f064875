"""Generated files in git are up to date."""

import shutil
from functools import cache

import nbformat
import pytest

from autograder.authoring.notebooks import answered_cells, build_notebook, write_text
from autograder.authoring.start_page import START_PAGE, start_page
from autograder.authoring.stated import stated_in_readme
from autograder.lessons.cells import STUB, grade_id_of
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.places import ROOT
from autograder.references.store import PUBLIC
from tests.support.classroom import api, configuration

REMEDY = "it is stale: run `make build LESSON={}`"


@cache
def built(lesson):
    return build_notebook(lesson)


def sources(notebook):
    return [(cell.id, cell.cell_type, cell.metadata, cell.source) for cell in notebook.cells]


def test_the_source_notebook_is_fresh(lesson):
    stored = nbformat.read(lesson.notebook_path, as_version=4)
    assert sources(stored) == sources(built(lesson)), REMEDY.format(lesson.name)


def test_the_way_back_carries_only_the_edit(lesson, tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    notebook, text = tmp_path / lesson.notebook_path.name, tmp_path / lesson.text_path.name
    shutil.copy(lesson.text_path, text)
    edit = lesson.notebook_path.read_bytes().replace(b"What you built", b"What you made")
    notebook.write_bytes(edit)
    write_text(notebook, text)
    edited = lesson.text_path.read_bytes().replace(b"What you built", b"What you made")
    assert text.read_bytes() == edited


def test_the_readme_is_fresh(lesson):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert stated_in_readme(readme, lesson) == readme, REMEDY.format(lesson.name)
    assert f"](notebooks/{lesson.name}/{lesson.name}.ipynb) | " in readme


def test_the_start_page_is_fresh():
    fresh = start_page([*map(Lesson, lesson_names())])
    assert nbformat.read(START_PAGE, as_version=4) == fresh, "it is stale: run `make release`"


@pytest.fixture(scope="module")
def released_anew(tmp_path_factory):
    """Release all lessons with nbgrader now."""
    course = tmp_path_factory.mktemp("course")
    nbgrader = api(configuration(course))
    for name in lesson_names():
        shutil.copytree(ROOT / "solutions" / name, course / "solutions" / name)
        assert nbgrader.generate_assignment(name)["success"]
    return course / "notebooks"


def test_the_released_notebook_is_fresh(lesson, released_anew):
    fresh = released_anew / lesson.name / f"{lesson.name}.ipynb"
    assert lesson.released_path.read_bytes() == fresh.read_bytes(), REMEDY.format(lesson.name)


def test_a_release_never_overwrites_answers(lesson, tmp_path):
    assert answered_cells(lesson.released_path) == []
    released, first = nbformat.read(lesson.released_path, as_version=4), lesson.exercises[0].name
    [cell] = [cell for cell in released.cells if grade_id_of(cell) == first]
    cell.source = cell.source.replace(STUB, "return 1")
    nbformat.write(released, tmp_path / "answered.ipynb")
    assert answered_cells(tmp_path / "answered.ipynb") == [first]


def test_there_are_no_leftovers():
    given = {p.name for p in (ROOT / "notebooks").iterdir()}
    assert given - {".ipynb_checkpoints"} == {*lesson_names(), START_PAGE.name}
    assert sorted(p.stem for p in PUBLIC.glob("*.safetensors")) == lesson_names()
    folders = {p.name for p in (ROOT / "solutions").iterdir() if p.is_dir()}
    assert folders - {".ipynb_checkpoints"} == set(lesson_names())


def test_two_builds_have_the_same_cells(lesson):
    assert build_notebook(lesson) == built(lesson)


def test_cell_ids_are_unique_and_readable(lesson):
    ids = [cell.id for cell in built(lesson).cells]
    assert len(set(ids)) == len(ids)
    for exercise in lesson.exercises:
        assert {exercise.name, f"check_{exercise.name}"} <= set(ids)
