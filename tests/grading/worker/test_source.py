"""What the engine reads from an instructor's source notebook."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.grading.worker.source import Source, read_source
from autograder.lessons.lesson import Lesson, lesson_names


def test_the_courses_own_progress_is_left_out(tmp_path):
    shown = [new_output("display_data", {"text/plain": "15 of 15 points so far"})]
    sources = ["import torch", "progress()", "# progress() shows them", "f()\nprogress()"]
    cells = [new_code_cell(source, outputs=shown) for source in sources]
    path = tmp_path / "lesson.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), *cells]), path)
    found = read_source(path)
    kept = [source for source, outputs in found.outputs.items() if outputs]
    assert kept == ["import torch", "# progress() shows them"]
    assert [*found.outputs] == sources
    assert found.imports == ("torch",)


def test_no_lesson_shows_a_learner_the_courses_points():
    for name in lesson_names():
        outputs = read_source(Lesson(name).notebook_path).outputs
        assert "points so far" not in str(outputs.values())


def test_without_a_source_nothing_is_known(tmp_path):
    assert read_source(tmp_path / "nowhere.ipynb") == Source()
