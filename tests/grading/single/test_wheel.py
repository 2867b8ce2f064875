"""The grader's wheel: it grades as the repository does, and the sandbox hides what is in it."""

import json
import subprocess
import zipfile

import nbformat
import pytest

from autograder.building.secret import SECRET_VARIABLE
from tests.demo.made_up_class import make_class
from tests.grading.single.grading_one import arguments, grade_one
from tests.support.classroom import LESSON

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("sandbox")]
SECRET = "a line of ours"
LOOK = """
import importlib.util, os
import autograder
found = [*map(os.listdir, autograder.__path__)]
site = next(path for path in __import__("sys").path if path.endswith("site-packages"))
print("seen:", sorted(os.listdir(f"{site}/autograder")), found)
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A submission with mistakes, which also looks around."""
    path = tmp_path_factory.mktemp("submission") / "ada.ipynb"
    submission = max(make_class(LESSON), key=lambda one: len({*one.true_points.values()}))
    notebook = submission.notebook(LESSON)
    notebook.cells.append(nbformat.v4.new_code_cell(LOOK))
    nbformat.write(notebook, path)
    return path


def test_the_two_have_no_file_in_common(wheels):
    learners, grader = ({*zipfile.ZipFile(wheel).namelist()} for wheel in wheels)
    assert not learners & grader
    assert {
        "autograder/solutions/01_dot_product_attention.py",
        "autograder/notebooks/01_dot_product_attention/01_dot_product_attention.ipynb",
        "autograder/exercises/05_square_corners/more_runs.csv",
        "autograder/grading/single/result.schema.json",
        "autograder/grading/feedback/page.html.jinja",
    } <= grader
    assert not [name for name in grader if "authoring" in name]


def test_it_grades_as_the_repository_does(python, notebook, tmp_path, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    ours = grade_one(notebook, tmp_path)
    result, page = tmp_path / "its.json", tmp_path / "its.html"
    command = [str(python), "-m", "autograder.course", *arguments(notebook)]
    command += ["--json", str(result), "--html", str(page)]
    subprocess.run(command, cwd=tmp_path, check=True)
    its = json.loads(result.read_text(encoding="utf-8"))
    assert its | {"seconds": 0} == ours.result | {"seconds": 0}
    assert 0 < its["points"] < its["max_points"]
    seen = page.read_text(encoding="utf-8").partition("seen: ")[2].partition("\n")[0]
    assert "asking" in seen and seen.startswith("[] "), seen
    assert "solutions" not in seen and "exercises" not in seen


def test_it_has_no_command_that_needs_a_course(python, tmp_path):
    command = [str(python), "-m", "autograder.course", "draft"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2 and "invalid choice: 'draft'" in ended.stderr
