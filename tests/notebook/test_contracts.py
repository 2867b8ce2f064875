"""A notebook and checks that were not made for each other are told apart, exercise by exercise."""

import ast
from importlib.metadata import version

import nbformat
import pytest

from autograder import check, give_up, hint, made_for
from autograder.errors import CheckFailed, CourseError
from autograder.notebook import contracts, records
from autograder.notebook.calls import _verdicts
from autograder.references.store import PUBLIC, find, load

INSTALLED = f"The installed checks (attention-from-scratch {version('attention-from-scratch')})"


@pytest.fixture(autouse=True)
def fresh_notebook():
    for kept in (contracts._stated, _verdicts, records._of_this_kernel):
        kept.clear()
    yield
    contracts._stated.clear()


def contract_of(exercise):
    return find(exercise).questions[exercise].contract


def attention_scores(words):
    return words @ words.T


def context_vector(attn_weights, words):
    return attn_weights @ words


def test_a_released_notebook_states_what_its_exercises_ask_for(lesson):
    notebook = nbformat.read(lesson.released_path, as_version=4)
    [statement] = [s for s in map(statement_in, notebook.cells) if s]
    questions = load(PUBLIC / f"{lesson.name}.safetensors").questions
    assert statement == {name: question.contract for name, question in questions.items()}
    assert len({*statement.values()}) == len(lesson.asked)


def statement_in(cell):
    """Return what a cell says with `made_for`, by exercise; {} if it does not call it."""
    for node in ast.walk(ast.parse(cell.source if cell.cell_type == "code" else "")):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "made_for":
            return {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
    return {}


def test_what_belongs_together_is_not_mentioned(capsys):
    made_for(attention_scores=contract_of("attention_scores"))
    assert capsys.readouterr().out == ""
    check(attention_scores)
    assert "✓ attention_scores" in capsys.readouterr().out


def test_other_questions_are_said_at_once_and_not_judged(capsys):
    known = contract_of("attention_scores")
    made_for(attention_scores="0ld0ld", context_vector=contract_of("context_vector"))
    assert capsys.readouterr().out == (
        f"{INSTALLED} do not fit this notebook's `attention_scores`. {contracts.REMEDY} Until "
        "then, only its other exercises can be checked.\n"
    )
    with pytest.raises(CourseError) as refused:
        check(attention_scores)
    assert refused.value._render_traceback_() == [
        "CourseError: This notebook has version 0ld0ld of `attention_scores`. "
        f"{INSTALLED} are for version {known} of it. {contracts.REMEDY}"
    ]
    assert capsys.readouterr().out == ""
    check(context_vector)
    assert "✓ context_vector" in capsys.readouterr().out


def test_an_exercise_that_the_checks_lack(capsys):
    def rotary(words):
        return words

    made_for(rotary="abc123")
    assert "do not fit this notebook's `rotary`" in capsys.readouterr().out
    with pytest.raises(CourseError, match=r"has version abc123 of `rotary`.* don't know it\. Inst"):
        check(rotary)


@pytest.mark.parametrize("call", [hint, give_up])
def test_nor_is_there_other_help_with_another_question(call):
    made_for(attention_scores="0ld0ld")
    with pytest.raises(CourseError, match="has version 0ld0ld"):
        call("attention_scores")


def test_a_notebook_that_states_nothing_is_checked(capsys):
    check(attention_scores)
    assert "✓" in capsys.readouterr().out


MASKED_ATTENTION = """
def masked_softmax(attn_scores, keep):
    return attn_scores

def masked_attention(query, key, value, keep):
    attn_weights = masked_softmax(query @ key.transpose(-2, -1), keep)
    return attn_weights @ value, attn_weights
"""


def test_an_exercise_that_does_not_fit_is_not_blamed(capsys):
    notebook = {}
    exec(MASKED_ATTENTION, notebook)
    for blamed in (True, False):
        with pytest.raises(CheckFailed):
            check(notebook["masked_attention"])
        assert ("Fix `masked_softmax` first" in capsys.readouterr().out) is blamed
        made_for(masked_softmax="0ld0ld")
        assert "do not fit" in capsys.readouterr().out
