"""A notebook states the version of its exercises in the cell that imports `made_for`."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.stated_contracts import leave_out_contracts, state_contracts
from autograder.lessons.errors import AuthoringError

IMPORTS = "import torch\n\nfrom autograder import check, made_for"
FEW = {"softmax": "524ef0", "Head": "e3fd39"}
MANY = {f"exercise_{number}": "524ef0" for number in range(6)}


@pytest.mark.parametrize(
    ("contracts", "statement"),
    [
        (FEW, 'made_for(softmax="524ef0", Head="e3fd39")'),
        (MANY, "made_for(\n" + "".join(f'    {e}="524ef0",\n' for e in MANY) + ")"),
    ],
    ids=["on a line", "on lines of their own"],
)
def test_it_is_stated_and_left_out_again(contracts, statement):
    cell = new_code_cell(IMPORTS)
    state_contracts([new_markdown_cell("made_for"), cell, new_code_cell("check(f)")], contracts)
    assert cell.source.startswith(IMPORTS) and cell.source.endswith(f"\n{statement}")
    assert leave_out_contracts(cell.source) == IMPORTS


def test_stating_it_again_replaces_it():
    cell = new_code_cell(IMPORTS)
    for contracts in (MANY, FEW):
        state_contracts([cell], contracts)
    assert cell.source.count("made_for(") == 1 and "Head" in cell.source


def test_a_lesson_that_does_not_import_it():
    with pytest.raises(AuthoringError, match=r"should import `made_for` .*; 0 do"):
        state_contracts([new_code_cell("from autograder import check")], FEW)
