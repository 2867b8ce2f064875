"""The released notebook, opened and run as it is.

nbval runs and compares the executed solutions: it collects solutions/*/*.ipynb.
"""

import nbformat
import pytest

from autograder.authoring.notebooks import execute
from autograder.lessons.cells import exercise_checked

pytestmark = pytest.mark.first_is_enough


@pytest.fixture(scope="module")
def run(request):
    """Runs the released notebook of a lesson, allowing errors; each lesson once."""
    done = {}

    def run_lesson(lesson):
        if lesson.name not in done:
            notebook = nbformat.read(lesson.released_path, as_version=4)
            for cell in notebook.cells:
                cell.metadata.setdefault("tags", []).append("raises-exception")
            done[lesson.name] = execute(notebook, lesson.released_path.parent)
        return done[lesson.name]

    return run_lesson


def test_it_runs_to_its_end(lesson, run):
    code = [cell for cell in run(lesson).cells if cell.cell_type == "code" and cell.source]
    assert all(cell.execution_count for cell in code)


def test_every_check_says_not_answered_yet(lesson, run):
    checks = {
        name: cell
        for cell in run(lesson).cells
        if cell.cell_type == "code" and (name := exercise_checked(cell.source))
    }
    assert list(checks) == [*lesson.asked]
    needed = {exercise.name for exercise in lesson.exercises}
    for name, cell in checks.items():
        card, *errors = cell.outputs
        if lesson.asked[name].begins_with:
            assert "as it came in" in card.data["text/plain"]
            continue
        assert f"○ {name}: not answered yet" in card.data["text/plain"]
        told = [[f"NotAnsweredYet: {name}: not answered yet"]] * (name in needed)
        assert [error.traceback for error in errors] == told
