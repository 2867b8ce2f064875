"""Rewriting the solution region: by text, by pattern, or with another body."""

import textwrap

import pytest

from autograder.errors import AuthoringError
from autograder.lessons.rewriting import rewrite, slip_mistake
from autograder.lessons.variants import Slip, Variant

CELL = """
def f(query, key):
    \"\"\"√ scale / 2\"\"\"
    ### BEGIN SOLUTION
    d_k = key.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_k**0.5  # √d_k
    return torch.softmax(scores / 2 ** 0.5, dim=-1)
    ### END SOLUTION
"""


def region(source):
    return source.split("### BEGIN SOLUTION\n")[1].split("    ### END")[0]


def rewritten(code, cell=CELL):
    return region(rewrite(cell, Variant("v", code)))


def changed(code):
    """Return the lines that a variant changes, after the change."""
    return [new for new in rewritten(code).splitlines() if new not in CELL.splitlines()]


def test_text_is_replaced_where_it_occurs_once():
    assert changed({"d_k**0.5": "d_k"}) == [
        "    scores = query @ key.transpose(-2, -1) / d_k  # √d_k"
    ]


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("scale", "occurs 0 times"),
        ("scores", "occurs 2 times"),
        ("$X.cumsum($D)", "matches nothing"),
    ],
)
def test_an_edit_that_does_not_apply_is_named(old, words):
    with pytest.raises(AuthoringError, match=f"'v': .*{words}"):
        rewritten({old: "y"})


def test_a_pattern_is_replaced_wherever_it_fits():
    assert changed({"$X / $D ** 0.5": "$X"}) == [
        "    scores = (query @ key.transpose(-2, -1))  # √d_k",
        "    return torch.softmax(scores, dim=-1)",
    ]


def test_a_pattern_keeps_the_arguments_that_it_does_not_name():
    assert changed({"torch.softmax($$$A)": "torch.sigmoid($$$A)"}) == [
        "    return torch.sigmoid(scores / 2 ** 0.5,dim=-1)"
    ]


def test_inserted_code_gets_brackets_where_needed():
    assert changed({"key.transpose(-2, -1)": "key + 1"})[0].endswith("key + 1 / d_k**0.5  # √d_k")
    assert changed({"$K.transpose(-2, -1)": "$K + 1"})[0].endswith("(key + 1) / d_k**0.5  # √d_k")


def test_a_body_takes_the_indentation_of_the_region():
    assert rewritten("return query") == "    return query\n"
    assert rewritten("\n        if key:\n            return query\n        ") == (
        "    if key:\n        return query\n"
    )


def test_nothing_outside_the_region_changes():
    assert '"""√ scale / 2"""' in rewrite(CELL, Variant("v", {"$X / $D": "$X", "key.shape": "k"}))


def test_a_class_is_rewritten_from_its_first_region_to_its_last():
    cell = textwrap.dedent(
        """
        class A:
            def __init__(self):
                ### BEGIN SOLUTION
                self.size = 1
                ### END SOLUTION

            def forward(self):
                ### BEGIN SOLUTION
                return self.size / 2 ** 0.5
                ### END SOLUTION
        """
    )
    slip = slip_mistake(Slip("not scaled", "Scale.", "$X / $D ** 0.5", "$X"), cell)
    [variant] = slip.variants
    assert rewrite(cell, variant) == cell.replace(" / 2 ** 0.5", "")


def test_a_slip_is_made_in_all_places_and_in_each():
    slip = slip_mistake(Slip("not scaled", "Scale.", "$X / $D ** 0.5", "$X"), CELL)
    kept = [rewritten(variant.code).count("0.5") for variant in slip.variants]
    assert kept == [0, 1, 1]


@pytest.mark.parametrize(
    ("old", "new"), [("$X.cumsum()", "$X"), ("key.shape[-1]", "value.shape[-1]")]
)
def test_a_slip_that_does_not_apply_makes_no_mistake(old, new):
    assert slip_mistake(Slip("slip", "Say.", old, new), CELL) is None
