"""Grading where a platform does it: as root, without namespaces, without a network."""

import nbformat
import pytest

from autograder.building.secret import SECRET_VARIABLE
from autograder.lessons.cells import grade_id_of
from autograder.lessons.lesson import Lesson
from tests.demo.made_up_class import MadeUpSubmission, make_class
from tests.grading.single.grading_one import grade_one
from tests.support.classroom import LESSON
from tests.support.platforms import SECRET, points_by_exercise

pytestmark = pytest.mark.long
NOTEBOOK = f"{LESSON.name}.ipynb"
MISTAKEN = max(make_class(LESSON), key=lambda one: len({*one.true_points.values()}))
# Harmless: an answer that says what it can open, but shouldn't.
LOOK = """
import os, sys
def query_scores(query, keys):
    [site] = [path for path in sys.path if path.endswith("site-packages") and "/opt/" in path]
    def opens(path):
        try:
            return bool(os.listdir(path))
        except OSError:
            return False
    return {}[f"seen {opens(site)} {[*map(opens, (HOME, f'{site}/autograder'))]}"]
"""
ANOTHER = MadeUpSubmission("", {}).notebook(Lesson("02_qkv_projections"))
END_SUPERVISOR = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"


def answered(source):
    """Return what learners get, with an answer to the first exercise."""
    notebook = nbformat.read(LESSON.released_path, as_version=4)
    [cell] = [cell for cell in notebook.cells if grade_id_of(cell) == "query_scores"]
    cell.source = source
    return notebook


def handed_in(notebook, name=NOTEBOOK):
    """Make a function that hands in a notebook."""

    def lay(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / name)

    return lay


def message(results):
    """Return what a platform shows of the whole notebook."""
    return results.get("output") or results.get("message") or results["format_errors"][0]


def test_it_gives_the_points_that_a_class_gets(place, sandbox, tmp_path, monkeypatch):
    submission = MISTAKEN.notebook(LESSON)
    results, said = place.grade(handed_in(submission))
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    handed_in(submission)(tmp_path)
    ours = grade_one(tmp_path / NOTEBOOK, tmp_path).result
    assert points_by_exercise(results) == {one["name"]: one["points"] for one in ours["exercises"]}
    assert points_by_exercise(results) == MISTAKEN.true_points, said
    assert results["score"] in (ours["points"], ours["points"] / ours["max_points"])
    assert f"{LESSON.name}: " in said


def test_learners_code_cant_look_around(place):
    look = answered(LOOK.replace("HOME", repr(str(place.home))))
    _, said = place.grade(handed_in(look))
    assert "seen True [False, False]" in said, said


@pytest.mark.parametrize(
    ("place", "lay", "said"),
    [
        ("gradescope", lambda folder: (folder / "a.py").touch(), f"there is no {NOTEBOOK} in the"),
        ("prairielearn", lambda folder: (folder / NOTEBOOK).write_text("{"), "damaged or cut off"),
        ("gradescope", lambda folder: (folder / NOTEBOOK).symlink_to("/etc/passwd"), "is a link"),
        ("prairielearn", handed_in(ANOTHER), "This is another notebook"),
        ("gradescope", handed_in(answered(END_SUPERVISOR)), "Not graded"),
    ],
    ids=["no notebook", "cut off", "a link", "another lesson", "ends what runs it"],
    indirect=["place"],
)
def test_what_cant_be_graded_says_why(place, lay, said):
    results, printed = place.grade(lay)
    assert message(results).startswith("Not graded: ") and said in message(results), printed
    assert not results.get("score") and not results.get("gradable")


@pytest.mark.parametrize(
    ("place", "name"),
    [("gradescope", f"ada/{NOTEBOOK}"), ("prairielearn", "mine (1).ipynb")],
    indirect=["place"],
)
def test_other_names_are_taken(place, name):
    results, said = place.grade(handed_in(answered("def query_scores(query, keys): ..."), name))
    assert message(results) == "Graded: 1 of 5 exercises answered.", said


def test_there_are_results_even_if_grading_breaks_off(place):
    def lay(folder):
        [options] = folder.parent.glob("*/options")
        options.write_text("--lesson none\n")

    results, said = place.grade(lay)
    assert "There is no lesson none." in said
    assert "didn't finish" in message(results)
