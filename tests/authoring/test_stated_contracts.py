"""A notebook states the version of its exercises in the cell that imports `made_for`."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.stated_contracts import leave_out_contracts, state_contracts
from autograder.lessons.errors import AuthoringError

IMPORTS = "import torch\n\nfrom autograder import check, made_for"


def stated(source, contracts):
    cell = new_code_cell(source)
    others = new_markdown_cell("made_for"), new_code_cell("check(f)")
    state_contracts([cell, *others], "02_softmax", contracts)
    return cell.source


def test_it_is_stated_and_removed_again():
    source = stated(IMPORTS, ["524e", "e3fd"])
    assert source == f'{IMPORTS}\n\nmade_for("02_softmax", "524e-e3fd")'
    assert leave_out_contracts(source) == IMPORTS


def test_stating_it_again_replaces_it():
    assert stated(stated(IMPORTS, ["524e"]), ["e3fd"]) == stated(IMPORTS, ["e3fd"])


def test_a_lesson_that_does_not_import_it():
    with pytest.raises(AuthoringError, match=r"should import `made_for` .*; 0 do"):
        stated("from autograder import check", [])
