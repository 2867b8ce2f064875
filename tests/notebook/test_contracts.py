"""A mismatch between a notebook and the checks is noticed, exercise by exercise."""

import ast
from importlib.metadata import version

import nbformat
import pytest

from autograder import check, give_up, hint, made_for
from autograder.errors import CheckFailed, CourseError
from autograder.notebook import contracts, records
from autograder.notebook.calls import _verdicts
from autograder.references.store import PUBLIC, exercises_by_lesson, find, load

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


LESSON = "01_dot_product_attention"
OTHER = "0ld0"  # a version that no exercise has


def stated(lesson=LESSON, **instead):
    """Return what a lesson's notebook states, with other versions of some exercises."""
    own = {name: contract_of(name) for name in exercises_by_lesson()[lesson]}
    return "-".join((own | instead).values())


def test_a_released_notebook_states_what_its_exercises_ask_for(lesson):
    notebook = nbformat.read(lesson.released_path, as_version=4)
    [statement] = [s for s in map(statement_in, notebook.cells) if s]
    questions = load(PUBLIC / f"{lesson.name}.safetensors").questions
    contracts = [question.contract for question in questions.values()]
    assert statement == [lesson.name, "-".join(contracts)]
    assert len({*contracts}) == len(lesson.asked)


def statement_in(cell):
    """Return what a cell says with `made_for`; [] if it does not call it."""
    for node in ast.walk(ast.parse(cell.source if cell.cell_type == "code" else "")):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "made_for":
            return [ast.literal_eval(argument) for argument in node.args]
    return []


def test_a_match_is_not_mentioned(capsys):
    made_for(LESSON, stated())
    assert capsys.readouterr().out == ""
    check(attention_scores)
    assert "✓ attention_scores" in capsys.readouterr().out


def test_a_mismatch_is_reported_at_once_and_not_judged(capsys):
    made_for(LESSON, stated(attention_scores=OTHER))
    assert capsys.readouterr().out == (
        f"{INSTALLED} do not fit this notebook's `attention_scores`. {contracts.REMEDY} Until "
        "then, only its other exercises can be checked.\n"
    )
    with pytest.raises(CourseError) as refused:
        check(attention_scores)
    assert refused.value._render_traceback_() == [
        f"CourseError: {INSTALLED} are not for this notebook's version of `attention_scores`. "
        f"{contracts.REMEDY}"
    ]
    assert capsys.readouterr().out == ""
    check(context_vector)
    assert "✓ context_vector" in capsys.readouterr().out


def test_an_exercise_that_the_checks_lack(capsys):
    def rotary(words):
        return words

    made_for(LESSON, stated(rotary=OTHER))
    assert "do not fit all of this notebook" in capsys.readouterr().out
    with pytest.raises(
        CourseError, match=r"are not for this notebook's version of `rotary`\. Inst"
    ):
        check(rotary)
    check(context_vector)
    assert "✓ context_vector" in capsys.readouterr().out


def test_checks_with_an_exercise_that_the_notebook_lacks(capsys):
    made_for(LESSON, contract_of("context_vector"))
    check(context_vector)
    assert "do not fit" not in capsys.readouterr().out


def test_an_exercise_of_another_lesson_is_checked(capsys):
    made_for("02_qkv_projections", "0ld0-0ld1")
    check(attention_scores)
    assert "✓ attention_scores" in capsys.readouterr().out


def test_a_notebook_from_before_a_lesson_had_one_line(capsys):
    made_for(attention_scores="524ef0")
    assert capsys.readouterr().out == f"{INSTALLED} do not fit this notebook. {contracts.REMEDY}\n"


@pytest.mark.parametrize("call", [hint, give_up])
def test_a_mismatch_gets_no_other_help_either(call):
    made_for(LESSON, stated(attention_scores=OTHER))
    with pytest.raises(CourseError, match="are not for this notebook's version"):
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
        made_for("04_masks", stated("04_masks", masked_softmax=OTHER))
        assert "do not fit" in capsys.readouterr().out
