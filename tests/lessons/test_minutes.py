"""A lesson takes as long as its words, its code and its exercises."""

from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.lessons.minutes import LINES, WORDS, minutes_needed

SOLUTION = "def f():\n    ### BEGIN SOLUTION\n{}    ### END SOLUTION"


def test_minutes_are_added_up_and_rounded_up():
    words, code = new_markdown_cell("word " * 10 * WORDS), new_code_cell("x\n" * (5 * LINES - 1))
    assert minutes_needed([words]) == 10
    assert minutes_needed([words, code]) == 20
    exercises = "### Exercise 1: `f` (3 minutes)\n\n### Question 1: `q` (4 points, 5 minutes)"
    assert minutes_needed([words, code, new_markdown_cell(exercises)]) == 30


def test_what_is_not_read_does_not_count():
    formula = new_markdown_cell("$$" + "x + " * 100 * WORDS + "y$$")
    solution = new_code_cell(SOLUTION.format("    x = 1\n" * 100 * LINES))
    challenge = new_markdown_cell("### Challenge: `g` (optional, 15 minutes)")
    assert minutes_needed([formula, solution, challenge]) == 10
