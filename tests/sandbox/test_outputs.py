"""Whatever a sandbox sends as outputs becomes valid notebook outputs."""

import math

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sandbox.outputs import DEEPEST, clean_outputs


def printed(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(value, kind="text/plain"):
    return {"output_type": "display_data", "data": {kind: value}, "metadata": {}}


def deep(levels):
    return [deep(levels - 1)] if levels else "bottom"


def test_what_was_printed_in_pieces_is_one_output():
    pieces = [printed("1"), printed("\n"), printed("no", "stderr"), printed("2"), printed("3\n")]
    assert clean_outputs(pieces) == [printed("1\n"), printed("no", "stderr"), printed("23\n")]


def test_what_was_shown_between_keeps_its_place():
    sent = [printed("before"), shown("it"), shown("again"), printed("after")]
    assert clean_outputs(sent) == sent


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "text",
        [None, 3, "text", []],
        [{"output_type": "page"}, {}],
        [printed(["not", "text"]), printed(None)],
        [{"output_type": "error", "traceback": 3}],
        [{"output_type": "error", "ename": 1, "evalue": {}, "traceback": [None, "\udcff"]}],
        [{"output_type": "execute_result", "data": [], "execution_count": "7"}],
        [shown("<b>", "text/html; charset=x"), shown(["a", 1], "text/plain")],
        [shown({"\udcff": [math.nan, math.inf, deep(DEEPEST + 5)]}, "application/json")],
    ],
    ids=str,
)
def test_anything_becomes_a_valid_notebook(sent):
    cell = new_code_cell(outputs=clean_outputs(sent))
    nbformat.validate(new_notebook(cells=[cell]))
    nbformat.writes(new_notebook(cells=[cell])).encode()
