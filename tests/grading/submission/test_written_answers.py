"""An answer in words is restored, too, right below its question and the mark scheme."""

from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum, determine_grade

from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.submission.cells import make_notebook
from autograder.grading.submission.restore import restore
from autograder.lessons.nbgrader_metadata import grade_id_of, nbgrader_metadata
from autograder.lessons.written_questions import ANSWER_STUB, without_mark_scheme

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
    "lesson",
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


def restored(*cells, prose=None):
    blueprint = replace(BLUEPRINT, prose=prose)
    notebook = restore(make_notebook(cells), blueprint)
    nbformat.validate(notebook)
    assert restore(notebook, blueprint) == notebook
    return notebook


def shown(notebook):
    """List the cells by name, or else by what is in them."""
    return [grade_id_of(cell) or cell.source for cell in notebook.cells]


def cell_of(notebook, name):
    return next(cell for cell in notebook.cells if grade_id_of(cell) == name)


def released():
    """Return the lesson's cells as learners get them."""
    return [named(without_mark_scheme(c.source), c.name) for c in BLUEPRINT.cells]


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
def test_an_answer_that_says_nothing_is_the_stub(source):
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


def test_an_answer_is_put_right_below_its_question():
    f, check, question, answer, *rest = released()
    mine = new_markdown_cell("### BEGIN MARK SCHEME\n2 points: all\n### END MARK SCHEME")
    for cells in ([question, mine, answer], [answer, mine, question], [mine, question, answer]):
        notebook = restored(f, check, *cells, *rest)
        place = shown(notebook).index("question_why")
        assert shown(notebook)[place + 1] == "why"
        assert set(shown(notebook)) == {*NAMES, mine.source}


def test_of_copies_of_a_question_one_stays():
    f, check, question, *rest = released()
    copy = named(question.source, "question_why")
    assert shown(restored(f, check, question, copy, *rest)) == NAMES


PROSE = frozenset(["# Next\n\nRead on."])


def beside(*cells, prose=PROSE, answer=STUB, last=False):
    """Restore a submission with cells below its answer; return the answer and all cells."""
    f, check, question, why, *rest = released()
    why.source = answer
    both = [question, *cells, why] if last else [question, why, *cells]
    notebook = restored(
        f, check, *both, new_markdown_cell("# Next\n\nRead on. "), *rest, prose=prose
    )
    return cell_of(notebook, "why"), shown(notebook)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("make", [new_markdown_cell, nbformat.v4.new_raw_cell])
def test_an_answer_beside_its_untouched_cell_is_moved_into_it(make, last):
    answer, names = beside(make("Because"), make("it grows."), last=last)
    assert answer.source == "Because\n\nit grows."
    assert determine_grade(answer) == (None, 2)
    assert names == [*NAMES[:4], "# Next\n\nRead on. ", *NAMES[4:]]


def test_one_in_the_question_is_too():
    cells = released()
    cells[2].source += "\nBecause it grows."
    notebook = restored(*cells, prose=PROSE)
    assert cell_of(notebook, "why").source == "Because it grows."
    assert cell_of(notebook, "question_why").source == QUESTION
    assert shown(notebook) == NAMES


def test_pictures_come_along():
    picture = {"p.png": {"image/png": "AAAA"}}
    answer, _ = beside(new_markdown_cell("![](attachment:p.png)", attachments=picture))
    assert answer.attachments == picture


@pytest.mark.parametrize(
    ("cell", "answer", "prose"),
    [
        (new_markdown_cell("Note"), "My answer", PROSE),
        (new_code_cell("# Because"), STUB, PROSE),
        (new_markdown_cell(" \n"), STUB, PROSE),
        (new_markdown_cell("Because"), STUB, None),
    ],
    ids=["answered", "code", "blank", "unknown prose"],
)
def test_other_cells_stay_where_they_are(cell, answer, prose):
    restored_answer, names = beside(cell, answer=answer, prose=prose)
    assert restored_answer.source == answer
    assert names == [*NAMES[:4], cell.source, "# Next\n\nRead on. ", *NAMES[4:]]


def test_only_a_read_only_text_with_a_mark_scheme_is_a_question():
    assert BLUEPRINT.question_above == {"why": "question_why", "how": "question_how"}
    why = BLUEPRINT.by_name["why"]
    for other in (
        text_cell("intro", "Read this."),
        code_cell("check_f", f"# {QUESTION}", grade=True, locked=True),
        SourceCell(**vars(text_cell("draw", QUESTION)) | {"task": True}),
    ):
        assert Blueprint("", [other, why]).question_above == {}
