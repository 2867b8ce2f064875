"""Requests for another look: found in a notebook's text, shown wherever they are answered."""

import pytest
from nbformat.v4 import new_code_cell, new_output

from autograder.grading.pages.notebook import NotebookCell, requests_among
from autograder.grading.pages.untrusted import MOST_NAMES
from autograder.grading.submission.review_requests import requests_in
from autograder.grading.worker.graded_cells import VERDICT
from autograder.lessons.cells import nbgrader_metadata
from tests.grading.feedback.made import code as code_cell
from tests.grading.feedback.made import exercise, facts, page, verdict, words
from tests.grading.formgrader.test_submission_page import parts_of

ASK = 'ask_for_review("softmax", "It is <b>right</b>.")'
WHY = "It is <b>right</b>."


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (ASK, {"softmax": WHY}),
        ('ask_for_review(softmax, "see below")', {"softmax": "see below"}),
        ('ask_for_review(why="see", exercise=softmax)', {"softmax": "see"}),
        ('autograder.ask_for_review("softmax", why="""see\nbelow""")', {"softmax": "see\nbelow"}),
        ('ask_for_review("softmax", f"{why}")', {"softmax": ""}),
        ('ask_for_review("softmax")', {"softmax": ""}),
        (f'{ASK}\nask_for_review("softmax", "no: this")', {"softmax": "no: this"}),
        ('ask_for_review("softmax", "a", "b", c=1)', {"softmax": "a"}),
        ("ask_for_review()", {}),
        ("ask_for_review(*a, **b)", {}),
        (f"# {ASK}", {}),
        (f"if False:\n    {ASK}", {}),
        ('ask_for_review("softmax"', {}),
    ],
)
def test_what_is_asked(source, found):
    assert requests_in(["x = 1", source]) == found


def test_only_so_many_are_read():
    asked = "\n".join(f'ask_for_review("exercise_{i}", "why")' for i in range(2 * MOST_NAMES))
    assert len(requests_among([NotebookCell(1, "code", asked)])) == MOST_NAMES


def test_the_feedback_page_repeats_it():
    cells = [*exercise("softmax", 1, "Where is exp?"), code_cell(ASK)]
    shown = words(page(cells, facts({"check_softmax": (4, 1, None, False)})))
    assert f"You asked for another look: {WHY}" in shown


def test_the_feedback_page_says_how_to_ask():
    wrong = exercise("softmax", 1, "Where is exp?")
    said = words(page(wrong, facts({"check_softmax": (4, 1, None, False)})).footer)
    assert 'ask_for_review("softmax", "…")' in said
    right = page(exercise("softmax", 4), facts({"check_softmax": (4, 4, None, False)}))
    assert "ask_for_review" not in words(right.footer)


def test_formgrader_shows_it_above_the_card():
    found = verdict("softmax", 1, sentence="Where is exp?")
    check = new_code_cell("check(softmax)", outputs=[new_output("stream", text="the card")])
    check.metadata |= {"nbgrader": nbgrader_metadata("check_softmax", points=4)}
    check.metadata[VERDICT] = found.summary()
    parts, _ = parts_of(check, new_code_cell(ASK), points={"check_softmax": 4})
    [shown] = [part.outputs for part in parts if part.name == "check_softmax"]
    assert shown.index("It is &lt;b&gt;right&lt;/b&gt;.") < shown.index("the card")
