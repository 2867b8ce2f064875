"""An answer in words is restored too, and its question comes back with the mark scheme."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum, determine_grade

from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.submission.cells import make_notebook
from autograder.grading.submission.restore import restore
from autograder.lessons.cells import grade_id_of, nbgrader_metadata
from autograder.lessons.written_questions import ANSWER_STUB, without_rubric

QUESTION = "Why?\n\n### BEGIN MARK SCHEME\n1 point: so\n### END MARK SCHEME"
STUB = ANSWER_STUB
NAMES = ["f", "check_f", "question_why", "why", "question_how", "how"]


def text_cell(name, source, answer=False):
    facts = {"grade": answer, "solution": answer, "locked": not answer, "task": False}
    cell = SourceCell(name, "markdown", source, points=2 if answer else None, checksum="", **facts)
    made = new_markdown_cell(source, metadata={"nbgrader": cell.metadata})
    return SourceCell(**vars(cell) | {"checksum": compute_checksum(made)})


def code_cell(name, source, **facts):
    about = dict.fromkeys(["grade", "solution", "task", "locked"], False) | facts
    points = 2 if about["grade"] else None
    return SourceCell(name, "code", source, points=points, checksum="", **about)


BLUEPRINT = Blueprint(
    [
        code_cell("f", "f = 0", solution=True),
        code_cell("check_f", "assert f", grade=True, locked=True),
        text_cell("question_why", QUESTION),
        text_cell("why", STUB, answer=True),
        text_cell("question_how", QUESTION.replace("Why", "How")),
        text_cell("how", STUB, answer=True),
    ],
)


def named(source, name):
    """Make a cell of the lesson as it is handed in."""
    return new_markdown_cell(source, metadata={"nbgrader": {"grade_id": name}})


def restored(*cells):
    notebook = restore(make_notebook(cells), BLUEPRINT)
    nbformat.validate(notebook)
    assert restore(notebook, BLUEPRINT) == notebook
    return notebook


def shown(notebook):
    """List the cells by name, or else by their contents."""
    return [grade_id_of(cell) or cell.source for cell in notebook.cells]


def cell_of(notebook, name):
    return next(cell for cell in notebook.cells if grade_id_of(cell) == name)


def released():
    """Return the lesson's cells as learners get them."""
    return [named(without_rubric(c.source), c.name) for c in BLUEPRINT.cells]


def test_the_question_comes_back_with_its_mark_scheme():
    notebook = restored(*released())
    assert shown(notebook) == NAMES
    question = cell_of(notebook, "question_why")
    assert question.source == QUESTION
    assert question.metadata.nbgrader == nbgrader_metadata(
        "question_why",
        locked=True,
        cell_type="markdown",
        checksum=BLUEPRINT.by_name["question_why"].checksum,
    )


def test_the_answer_stays_and_has_no_points_yet():
    cells = released()
    cells[3].source = "So.\n"
    answer = cell_of(restored(*cells), "why")
    assert answer.source == "So.\n" and determine_grade(answer) == (None, 2)


@pytest.mark.parametrize("source", [STUB, f"{STUB}  \n", "", " \n"])
def test_an_empty_answer_becomes_the_stub(source):
    cells = released()
    cells[3].source = source
    assert determine_grade(cell_of(restored(*cells), "why")) == (0, 2)


@pytest.mark.parametrize("make", [new_code_cell, nbformat.v4.new_raw_cell])
def test_an_answer_in_a_cell_of_another_type_is_text_again(make):
    cells = released()
    cells[3] = make("So.", metadata={"nbgrader": {"grade_id": "why"}})
    answer = cell_of(restored(*cells), "why")
    assert (answer.cell_type, answer.source) == ("markdown", "So.")


def test_a_changed_question_is_the_courses_again():
    cells = released()
    cells[2].source = "Why not?\n\n### BEGIN MARK SCHEME\n2 points: all\n### END MARK SCHEME"
    assert cell_of(restored(*cells), "question_why").source == QUESTION


@pytest.mark.parametrize("missing", [["why"], ["question_why"], ["why", "question_why"], NAMES])
def test_what_is_missing_comes_back_in_its_place(missing):
    cells = [cell for cell in released() if grade_id_of(cell) not in missing]
    notebook = restored(new_markdown_cell("mine"), *cells)
    assert shown(notebook) == ["mine", *NAMES]
    assert determine_grade(cell_of(notebook, "why")) == (0, 2)


def test_an_answer_that_was_moved_stays_there():
    f, check, question, answer, *rest = released()
    for cells in ([answer, question], [question, new_markdown_cell("mine"), answer]):
        notebook = restored(f, check, *cells, *rest)
        assert [n for n in shown(notebook) if n in NAMES] == [
            *NAMES[:2],
            *(grade_id_of(cell) for cell in cells if grade_id_of(cell)),
            *NAMES[4:],
        ]


def test_of_copies_of_a_question_one_stays():
    f, check, question, *rest = released()
    copy = named(question.source, "question_why")
    assert shown(restored(f, check, question, copy, *rest)) == NAMES
