"""Questions in a lesson's text: found with all their parts, or refused with the remedy."""

import jupytext
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import ClearMarkScheme

from autograder.errors import AuthoringError
from autograder.lessons.written_questions import (
    WrittenQuestion,
    with_points,
    without_rubric,
    written_questions,
)
from autograder.places import ROOT

SCHEME = "### BEGIN MARK SCHEME\n- 1 point: it is so\n### END MARK SCHEME"
ASKS = f"### Question 1: `why` (4 points, 5 minutes)\n\nWhy?\n\n{SCHEME}"
ANSWER = "### BEGIN SOLUTION\nBecause.\n### END SOLUTION"
PROSE = "Some words."


def found(*texts):
    return written_questions([new_markdown_cell(text) for text in texts])


def test_a_question_is_found_with_its_points():
    other = ASKS.replace("why", "how").replace("4 points", "1 point")
    questions = found(PROSE, ASKS, ANSWER, PROSE, other, ANSWER)
    assert questions == {1: WrittenQuestion("why", 4), 4: WrittenQuestion("how", 1)}


def test_code_may_mention_the_marks():
    assert written_questions([new_code_cell(ASKS), new_code_cell(ANSWER)]) == {}


def test_a_model_answer_may_be_empty_or_have_text_around_it():
    empty = "### BEGIN SOLUTION\n### END SOLUTION"
    assert found(ASKS, empty) == found(ASKS, f"First:\n{ANSWER}\nSecond:") != {}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([ASKS.replace("4 points, ", ""), ANSWER], "begins with a heading like ### Question 1:"),
        ([ASKS.replace("4 points", "0 points"), ANSWER], "begins with a heading like"),
        ([f"Look:\n\n{ASKS}", ANSWER], "begins with a heading like"),
        ([SCHEME, ANSWER], "begins with a heading like"),
        ([ASKS.replace(SCHEME, ""), ANSWER], "one ### BEGIN MARK SCHEME"),
        ([ASKS.replace("### END MARK SCHEME", ""), ANSWER], "one ### BEGIN MARK SCHEME"),
        ([f"{ASKS}\n{SCHEME}", ANSWER], "one ### BEGIN MARK SCHEME"),
        ([ASKS.replace("### BEGIN", "## BEGIN"), ANSWER], "one ### BEGIN MARK SCHEME"),
        ([f"{ASKS}\n{ANSWER}"], "needs a cell of its own"),
        ([ASKS], "question why has no place for its answer"),
        ([ASKS, PROSE, ANSWER], "question why has no place for its answer"),
        ([ASKS, ANSWER, ANSWER], "has no question right above it"),
        ([PROSE, ANSWER], "has no question right above it"),
        ([ASKS, "### BEGIN SOLUTION\nBecause."], "one ### BEGIN SOLUTION"),
    ],
)
def test_incomplete_questions_are_refused_with_the_remedy(texts, words):
    with pytest.raises(AuthoringError, match=words):
        found(*texts)


def test_points_can_be_changed_in_the_heading_alone():
    once = with_points(ASKS, 1)
    assert once == ASKS.replace("(4 points", "(1 point")
    assert with_points(once, 4) == ASKS


def test_the_authors_example_is_a_question():
    page = (ROOT / "docs/authors.md").read_text(encoding="utf-8")
    [example] = [part for part in page.split("```") if "### Question" in part]
    cells = jupytext.reads(example.removeprefix("python\n"), "py:percent").cells
    assert written_questions(cells) == {0: WrittenQuestion("why_scale", 4)}


@given(st.lists(st.sampled_from(["a", "", *ASKS.split("\n"), "x BEGIN MARK SCHEME END"])))
def test_learners_get_what_nbgrader_leaves(lines):
    cell = new_markdown_cell("\n".join(lines))
    try:
        ClearMarkScheme(enforce_metadata=False).preprocess_cell(cell, {}, 0)
    except RuntimeError:  # nested, or without an end
        assume(False)
    assert without_rubric("\n".join(lines)) == cell.source
