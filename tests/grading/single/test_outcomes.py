"""Whatever was handed in has its outcome, a valid result and a page."""

import json
import os
import re

import nbformat
import pytest

from autograder.lessons.lesson import Lesson
from tests.demo.made_up_class import LEFT_OPEN, SOLUTION, MadeUpSubmission, make_class
from tests.grading.single.grading_one import grade_one
from tests.support.classroom import LESSON

pytestmark = pytest.mark.usefixtures("shared_sandbox")
NOTEBOOK = f"{LESSON.name}.ipynb"
SOLVED = nbformat.writes(make_class(LESSON, 1)[0].notebook(LESSON))
FULL = sum(exercise.points for exercise in LESSON.exercises)


def holding(data, name=NOTEBOOK):
    """Make a function that hands in a file with this text, or these bytes."""

    def lay(folder):
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return folder / name

    return lay


def link(folder):
    (folder / NOTEBOOK).symlink_to(holding(SOLVED, "other.ipynb")(folder))
    return folder / NOTEBOOK


def hard_link(folder):
    os.link(holding(SOLVED, "other.ipynb")(folder), folder / NOTEBOOK)
    return folder / NOTEBOOK


def pipe(folder):
    os.mkfifo(folder / NOTEBOOK)
    return folder / NOTEBOOK


def subfolder(folder):
    (folder / NOTEBOOK).mkdir()
    return folder / NOTEBOOK


ANOTHER = MadeUpSubmission("", {}).notebook(Lesson("02_qkv_projections"))
BROKEN = {
    "empty": (holding(""), "The file is empty"),
    "cut off": (holding(SOLVED[: len(SOLVED) // 2]), "damaged or cut off"),
    "no text": (holding(b"\xff" + SOLVED.encode()), "not text in UTF-8"),
    "a list": (holding("[1, 2]"), "no list of cells"),
    "nested": (holding("[" * 10**5 + "]" * 10**5), "nested too deeply"),
    "odd cells": (holding('{"cells": [1, null, [], {}, {"cell_type": 5}]}'), "nothing in the"),
    "too large": (holding(SOLVED + " " * 11_000_000), "MB are allowed"),
    "another lesson": (holding(nbformat.writes(ANOTHER)), "This is another notebook"),
    "a PDF": (holding("%PDF-1.7", "essay.pdf"), f"there is no {NOTEBOOK} .*; there is essay.pdf"),
    "a link": (link, "is a link; hand in the file itself"),
    "a hard link": (hard_link, "is the same file as another one"),
    "a pipe": (pipe, "is a named pipe, not a file"),
    "a folder": (subfolder, "is a folder, not a file"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_notebook_is_not_graded(tmp_path, capfd, kind):
    lay, said = BROKEN[kind]
    found = grade_one(lay(tmp_path), tmp_path)
    out, err = capfd.readouterr()
    assert (found.status, found.result["outcome"]) == (1, "not graded")
    assert found.result["points"] is None and found.result["max_points"] == FULL
    for exercise in found.result["exercises"]:
        assert (exercise["points"], exercise["answered"], exercise["judged"]) == (None, None, False)
    assert re.search(said, found.result["reason"])
    assert f"Not graded: {found.result['reason']}\n" in err
    assert "No grade yet" in found.page
    assert f"{LESSON.name}: not graded\n" in out


SOFTMAX = "def softmax(scores, dim=-1):\n    return scores.softmax(dim)"


def edited(name, code):
    """Return the solved notebook, with other code in the cell that defines a function."""
    tree = json.loads(SOLVED)
    [cell] = [c for c in tree["cells"] if "".join(c["source"]).startswith(f"def {name}")]
    cell["source"] = [code]
    return json.dumps(tree)


def test_what_was_not_answered(tmp_path, capfd):
    data = nbformat.writes(MadeUpSubmission("", {"softmax": LEFT_OPEN}).notebook(LESSON))
    found = grade_one(holding(data, "lesson (1).ipynb")(tmp_path), tmp_path)
    assert (found.status, found.result["outcome"], found.result["points"]) == (0, "unanswered", 0)
    assert not any(exercise["answered"] for exercise in found.result["exercises"])
    assert "softmax: 0 of 5 points, not answered\n" in capfd.readouterr().out


def test_the_result_of_a_mistake(tmp_path, capfd):
    naive = "def softmax(scores, dim=-1):\n    e = scores.exp()\n    return e / e.sum(dim, True)"
    found = grade_one(holding(edited("softmax", naive))(tmp_path), tmp_path)
    [softmax] = [one for one in found.result["exercises"] if one["name"] == "softmax"]
    assert (found.status, found.result["points"]) == (0, FULL - 1)
    assert (softmax["points"], softmax["mistake"], softmax["rules"]) == (4, "not stable", [])
    lost = [one["name"] for one in softmax["aspects"] if one["points"] < one["max_points"]]
    assert lost == ["scores above 100"]
    said = capfd.readouterr().out
    assert f"softmax: 4 of 5 points. {softmax['sentence']}\n" in said
    assert f"{LESSON.name}: {FULL - 1} of {FULL} points\n" in said


def test_a_solution_that_is_lent_serves_what_builds_on_it(tmp_path):
    masks = Lesson("04_masks")
    answers = {e.name: SOLUTION for e in masks.exercises} | {"masked_softmax": LEFT_OPEN}
    notebook = MadeUpSubmission("", answers).notebook(masks)
    notebook.cells.append(nbformat.v4.new_code_cell('give_up("masked_softmax")'))
    nbformat.write(notebook, tmp_path / "ada.ipynb")
    result = grade_one(tmp_path / "ada.ipynb", tmp_path, "--lesson", masks.name).result
    lost = {e["name"] for e in result["exercises"] if e["points"] < e["max_points"]}
    assert lost == {"masked_softmax"}


def test_what_a_learner_wrote_is_harmless(tmp_path, capfd):
    code = 'def softmax(scores, dim=-1):\n    raise ValueError("\\x1b[31m\\n<script>\\u202e")'
    code += "\nimport no_such_module_here"
    found = grade_one(holding(edited("softmax", code))(tmp_path), tmp_path)
    [softmax] = [one for one in found.result["exercises"] if one["name"] == "softmax"]
    out, err = capfd.readouterr()
    assert "ValueError" in softmax["sentence"] and "<script>" in softmax["sentence"]
    for text in (str(softmax), out, err):
        assert not set("\x1b\u202e") & set(text)
    assert "<script" not in found.page
    assert found.result["lacking"] == ["no_such_module_here"]
    assert "modules that this machine lacks: no_such_module_here\n" in out


@pytest.mark.parametrize(
    ("code", "said", "lacking"),
    [
        (
            "__import__('no_such')",
            "stopped with ModuleNotFoundError: No module named 'no_such'.",
            1,
        ),
        (
            "import no_such\nx = no_such.x",
            "stopped with NameError: name 'no_such' is not defined.",
            1,
        ),
        ("0 / 0", "stopped with ZeroDivisionError: division by zero.", 0),
        ("%%script cat", "no cell above its check defines it.", 0),
    ],
)
def test_why_there_is_no_answer_is_said(tmp_path, code, said, lacking):
    found = grade_one(holding(edited("softmax", f"{code}\n{SOFTMAX}"))(tmp_path), tmp_path)
    [softmax] = [one for one in found.result["exercises"] if one["name"] == "softmax"]
    assert softmax["sentence"].startswith("There is no `softmax`: ")
    assert softmax["sentence"].endswith(said)
    assert found.result["lacking"] == ["no_such"] * lacking


def test_a_notebook_that_stops_is_not_graded(tmp_path):
    code = "def softmax(scores, dim=-1):\n    pass\nimport os\nos._exit(1)"
    found = grade_one(holding(edited("softmax", code))(tmp_path), tmp_path)
    assert (found.status, found.result["outcome"], found.result["points"]) == (
        1,
        "not graded",
        None,
    )
    judged = {one["name"]: one["points"] for one in found.result["exercises"] if one["judged"]}
    assert judged == {"query_scores": 2}


def test_a_request_for_another_look_is_on_the_page(tmp_path):
    notebook = MadeUpSubmission("", {}).notebook(LESSON)
    ask = 'from autograder import ask_for_review\nask_for_review("softmax", "It is <b>right</b>.")'
    notebook.cells.append(nbformat.v4.new_code_cell(ask))
    nbformat.write(notebook, tmp_path / "ada.ipynb")
    page = grade_one(tmp_path / "ada.ipynb", tmp_path).page
    assert "You asked for another look: It is &lt;b&gt;right&lt;/b&gt;." in page
    assert "cannot import name" not in page
