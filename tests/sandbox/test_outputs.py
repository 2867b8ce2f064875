"""Whatever a sandbox sends as outputs becomes valid notebook outputs."""

import math

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sandbox.outputs import DEEPEST, clean_outputs, read_outputs


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


def test_a_result_keeps_its_number_and_what_can_be_shown():
    result = {"output_type": "execute_result", "execution_count": 2, "metadata": {}}
    kept = {"text/plain": "4", "application/json": ["a", None, None, {"b?": "c?"}]}
    odd = {"application/json": ["a", math.nan, math.inf, {"b\udcff": "c\udcff"}], "text/x; y": "z"}
    assert clean_outputs([result | {"data": kept | odd}]) == [result | {"data": kept}]


def test_what_is_nested_too_deeply_is_cut_off():
    [output] = clean_outputs([shown(deep(DEEPEST + 1), "application/json")])
    found = output["data"]["application/json"]
    for _ in range(DEEPEST):
        [found] = found
    assert found is None


@pytest.mark.parametrize("sent", [b"{", b"\xff", b"[" * 20_000])
def test_outputs_that_can_not_be_read_are_an_error(sent):
    [output] = read_outputs(sent)
    assert (output.output_type, output.ename) == ("error", "OutputError")
