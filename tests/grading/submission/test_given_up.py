"""What a submission gives up is found in its text, and the course's solution runs instead."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.submission.given_up import given_up, solutions_for_checks

SOLUTIONS = {"softmax": "softmax = 1", "project": "project = 2"}


def notebook(*sources):
    return new_notebook(cells=[new_code_cell(source) for source in sources])


@pytest.mark.parametrize(
    "source",
    [
        'give_up("softmax")',
        "give_up('softmax')",
        "give_up(softmax)",
        'if True:\n    give_up( "softmax" )  # too hard',
        'give_up(exercise="softmax")',
        'give_up(\n    "softmax",\n)',
        "_ = give_up(softmax)",
        'hint("softmax"); give_up("softmax")',
        'import autograder\nautograder.give_up("softmax")',
        'try:\n    give_up("softmax")\nexcept Exception:\n    pass',
        '%matplotlib inline\ngive_up("softmax")\n!ls',
        '%time give_up("softmax")',
        '%%time\n%%capture said\ngive_up("softmax")',
        'if 1 > 2:\n    pass\nelse:\n    give_up("softmax")',
        'print(1) if False else give_up("softmax")',
        '(give_up("softmax") or 0)' + " + 0" * 2000,
    ],
)
def test_a_call_is_found(source):
    assert given_up(notebook("x = 2", source), SOLUTIONS) == {"softmax"}


@pytest.mark.parametrize(
    "source",
    [
        '# give_up("softmax")',
        'give_up("sofa")',
        "give_up()",
        'print("give_up(softmax)")',
        "",
        '"""\ngive_up("softmax")\n"""',
        '%%writefile notes.py\ngive_up("softmax")',
        '%%time\nif False:\n    give_up("softmax")',
        '%time give_up("softmax"',
        'if False:\n    give_up("softmax")',
        'if not 1 or 2 < 1:\n    give_up("softmax")',
        'while 0:\n    give_up("softmax")',
        'False and give_up("softmax")',
        'def later():\n    give_up("softmax")',
        'give_up("softmax"',
    ],
)
def test_anything_else_is_not_a_call(source):
    assert given_up(notebook(source), SOLUTIONS) == set()


def test_text_is_not_a_call():
    assert given_up(new_notebook(cells=[new_markdown_cell("give_up(softmax)")]), SOLUTIONS) == set()


def test_only_the_checks_of_what_was_given_up_are_replaced():
    found = notebook("give_up(softmax)", "check(softmax)", "check(project)")
    with solutions_for_checks(found, SOLUTIONS):
        sources = [cell.source for cell in found.cells]
    assert sources == ["give_up(softmax)", "softmax = 1", "check(project)"]
    assert [cell.source for cell in found.cells][1] == "check(softmax)"


def test_the_checks_come_back_after_an_error():
    found = notebook("give_up(softmax)", "check(softmax)")
    with pytest.raises(KeyError), solutions_for_checks(found, SOLUTIONS):
        raise KeyError
    assert found.cells[1].source == "check(softmax)"
