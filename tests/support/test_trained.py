"""Numbers that training made are compared, but not to the last digit."""

import operator
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_output

from tests.support.trained import agree, compare_roughly


@pytest.mark.parametrize("text", ["run 2: 0.17, −1", "run 2: 0.16, −1", "run 2: 0.175, −1"])
def test_close_numbers_agree(text):
    assert agree(text, "run 2: 0.17, −1")


@pytest.mark.parametrize("text", ["loss 0.3, 2", "loss 0.4", "lost 0.4, 2", "loss nan, 2", ""])
def test_distant_numbers_do_not_agree(text):
    assert not agree(text, "loss 0.4, 2")


@pytest.mark.parametrize(
    ("text", "same"), [("0%", True), ("6%", True), ("7%", False), ("3", False), ("2.9%", True)]
)
def test_percents_may_be_three_apart(text, same):
    assert agree(text, "3%") == same


def test_a_script_may_have_other_numbers_if_what_is_shown_is_close():
    cell = SimpleNamespace(compare_outputs=operator.eq, sanitize=str)
    compare_roughly(cell)
    stored = [new_output("stream", text="0.42<script>\nshow(1)</script>")]
    for shown, same in {"0.43": True, "0.23": False}.items():
        new = [new_output("stream", text=f"{shown}<script>\nshow(2)</script>")]
        assert cell.compare_outputs(new, stored) == same


@pytest.mark.parametrize(
    ("shown", "same"),
    [(["0.43"], True), (["0.23"], False), (["0.42", "0.42"], False), ([], False)],
)
def test_a_cell_must_show_all_of_its_outputs(shown, same):
    cell = SimpleNamespace(compare_outputs=operator.eq, sanitize=str)
    compare_roughly(cell)
    new = [new_output("stream", text=text) for text in shown]
    assert cell.compare_outputs(new, [new_output("stream", text="0.42")]) == same
