"""Generated files in git are up to date, and learners get nothing that they should not."""

import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
import torch

from autograder.authoring.notebooks import answered_cells, build_notebook, write_text
from autograder.authoring.stated_points import stated_in_readme
from autograder.building.hidden import grading_reference
from autograder.lessons.lesson import ROOT, STUB, lesson_names
from autograder.references.store import PUBLIC, load
from tests.course.test_lessons import solution_lines

REMEDY = "it is stale: run `make build`"


def sources(notebook):
    return [(cell.id, cell.cell_type, cell.metadata, cell.source) for cell in notebook.cells]


def test_the_source_notebook_is_fresh(lesson):
    stored = nbformat.read(lesson.notebook_path, as_version=4)
    assert sources(stored) == sources(build_notebook(lesson)), REMEDY


def test_the_way_back_carries_an_edit_and_nothing_else(lesson, tmp_path):
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
    assert stated_in_readme(readme, lesson) == readme
    assert f"](notebooks/{lesson.name}/{lesson.name}.ipynb) | " in readme


@pytest.fixture(scope="module")
def released_anew(tmp_path_factory):
    """Release all lessons with nbgrader now."""
    course = tmp_path_factory.mktemp("course")
    for name in lesson_names():
        shutil.copytree(ROOT / "solutions" / name, course / "solutions" / name)
        command = ["nbgrader", "generate_assignment", name, f"--CourseDirectory.root={course}"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return course / "notebooks"


def test_the_released_notebook_is_fresh(lesson, released_anew):
    fresh = released_anew / lesson.name / f"{lesson.name}.ipynb"
    assert lesson.released_path.read_bytes() == fresh.read_bytes(), REMEDY


def test_a_release_never_overwrites_answers(lesson, tmp_path):
    assert answered_cells(lesson.released_path) == []
    copy = tmp_path / "answered.ipynb"
    released = lesson.released_path.read_bytes()
    copy.write_bytes(released.replace(STUB.encode(), b"return 1", 1))
    assert answered_cells(copy) == [lesson.exercises[0].name]


def test_there_are_no_leftovers():
    given = {p.name for p in (ROOT / "notebooks").iterdir()}
    assert given - {".ipynb_checkpoints"} == set(lesson_names())
    assert sorted(p.stem for p in PUBLIC.glob("*.safetensors")) == lesson_names()
    folders = {p.name for p in (ROOT / "solutions").iterdir() if p.is_dir()}
    assert folders - {".ipynb_checkpoints"} == set(lesson_names())


def test_two_builds_have_the_same_cells(lesson):
    assert build_notebook(lesson) == build_notebook(lesson)


def test_cell_ids_are_unique_and_speak(lesson):
    ids = [cell.id for cell in build_notebook(lesson).cells]
    assert len(set(ids)) == len(ids)
    for exercise in lesson.exercises:
        assert {exercise.name, f"check_{exercise.name}"} <= set(ids)


# ---------------------------------------------------------------- what learners get


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The content of every file in the wheel that learners install, by name."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    options = [str(folder), "--no-build-isolation", "--no-index", str(_clean_copy(folder))]
    subprocess.run([*command, *options], check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _clean_copy(folder):
    """Copy the files that a wheel is made of, without what builds leave in the tree."""
    copy = folder / "tree"
    keep = shutil.ignore_patterns("__pycache__", "hidden")
    for name in ("autograder", "utils"):
        shutil.copytree(ROOT / name, copy / name, ignore=keep)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


def test_the_wheel_holds_the_learners_half_only(wheel):
    folders = {name.rpartition("/")[0] for name in wheel}
    assert {f for f in folders if "dist-info" not in f} == {
        "autograder",
        "autograder/asking",
        "autograder/judging",
        "autograder/references",
        "utils",
    }
    assert {f"autograder/references/{name}.safetensors" for name in lesson_names()} <= wheel.keys()


def test_no_solution_in_what_learners_get(lesson, wheel):
    released = lesson.released_path.read_bytes()
    assert b"BEGIN SOLUTION" not in released
    plain = re.sub(rb"\s+|\\n|\\", b"", released + b"".join(wheel.values()))
    for exercise in lesson.exercises:
        for line in solution_lines(lesson.solutions[exercise.name]):
            assert re.sub(r"\s+", "", line).encode() not in plain, f"{exercise.name}: {line}"


def test_nothing_hidden_in_what_learners_get(lesson, wheel):
    """No file contains the bytes of a hidden input or of a hidden expected tensor."""
    given, searched = b"".join(wheel.values()), 0
    for name in grading_reference(lesson.name).keys:
        public = contents(load(PUBLIC / f"{lesson.name}.safetensors"), name, hidden=False)
        # What a public case contains too, such as the gradient of a sum, is no secret.
        secret = contents(grading_reference(lesson.name), name, hidden=True) - public
        searched += len(secret)
        assert not [content for content in secret if content in given]
    assert searched


def contents(reference, exercise, hidden):
    """Return the bytes of an exercise's inputs and expected tensors, in hidden or public cases."""
    pairs = zip(reference.questions[exercise].calls, reference.keys[exercise].cases, strict=True)
    chosen = [(call, case) for call, case in pairs if case.hidden == hidden]
    values = [
        v for call, case in chosen for v in (*call.arguments.values(), *case.expected.values())
    ]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    # A dozen booleans may occur anywhere by chance, but not that many real numbers.
    numbers = [t for t in tensors if t.is_floating_point() and t.numel() > 8 and t.any()]
    return {t.contiguous().view(-1).view(torch.uint8).numpy().tobytes() for t in numbers}


def test_the_search_for_tensors_would_find_one(lesson, wheel):
    given = b"".join(wheel.values())
    exercise = lesson.exercises[0].name
    case = load(PUBLIC / f"{lesson.name}.safetensors").keys[exercise].cases[0]
    value = next(iter(case.expected.values()))
    assert value.contiguous().numpy().tobytes() in given
