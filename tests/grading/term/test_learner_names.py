"""What a learner may be called, and how names that aren't allowed are shown."""

import pytest

from autograder.grading.term.learner_names import LONGEST, is_learner_name, printable, why_no_name

GOOD = ["ada", "Ada King", "müller", "o'brien", "a+b@c.org", "=1+1", "x_1 (2)", "李", "é" * LONGEST]
BAD = {
    "": "empty",
    "é" * (LONGEST + 1): "100 characters",
    ".hidden": "a dot or a dash",
    "..": "a dot or a dash",
    "-rf": "a dot or a dash",
    "a\nb": "can't be shown",
    "a\x1b[31mb": "can't be shown",
    "a\x00": "can't be shown",
    "a\u202eb": "can't be shown",
    "caf\udce9": "can't be shown",
    "<img src=x onerror=evil()>": "it has < in it",
    "a&lt;b": "it has & in it",
    'a"b': 'it has " in it',
    "a/b": "it has / in it",
    "a\\b": "it has \\ in it",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_learner_may_have_this_name(name):
    assert is_learner_name(name)


@pytest.mark.parametrize(("name", "why"), BAD.items(), ids=map(ascii, BAD))
def test_nobody_may_have_this_name(name, why):
    assert why in why_no_name(name)
    assert printable(name).isprintable()
