"""The print of code: what changes it, and what doesn't."""

import warnings

import pytest

from autograder.grading.report.code_print import (
    MOST_CHARACTERS,
    MOST_NODES,
    code_print,
    statements,
)
from autograder.lessons.rewriting import rewrite
from tests.grading.report.disguise import disguised

# Alternatives that differ from the solution only in the order of independent statements.
REORDERED = {
    ("LinearSelfAttention", "layers in another order"),
    ("train_epoch", "cleared at the start"),
}


def same_meaning(one, other):
    return code_print(one).meaning == code_print(other).meaning


ATTEND = """
def attend(query, key):
    '''Weights.'''
    size = key.shape[-1]
    scores = query @ key.T
    if size == 0:
        raise ValueError("no features")
    total = []
    for row, score in enumerate(scores):
        total.append(score / size)
    return torch.stack(total, dim=0)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'''Weights.'''", '"""Other words."""'),
        ("    scores =", "    # what for\n    scores  =  "),
        ("scores", "similarity"),
        ("row, score", "_, score"),
        ("score / size", "(score) / size"),
        ('"no features"', 'f"{size} features"'),
        ("query, key):", "query: Tensor, key: Tensor) -> Tensor:"),
        ("    size =", "    size: int ="),
        ("    return", "    pass\n    return"),
        (
            "size = key.shape[-1]\n    scores = query @ key.T",
            "scores = query @ key.T\n    size = key.shape[-1]",
        ),
    ],
)
def test_insignificant_code_changes_nothing(old, new):
    changed = ATTEND.replace(old, new)
    assert changed != ATTEND and same_meaning(ATTEND, changed)
    assert code_print(ATTEND).statements == code_print(changed).statements


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("query @ key.T", "key @ query.T"),
        ("shape[-1]", "shape[-2]"),
        ("score / size", "row / size"),
        ("total = []", "total = [0]"),
        ("ValueError", "TypeError"),
        ("dim=0", "dim=1"),
        ("torch.stack", "torch.cat"),
        ("size == 0", "size != 0"),
    ],
)
def test_what_computes_something_else_has_another_meaning(old, new):
    assert not same_meaning(ATTEND, ATTEND.replace(old, new))


MODULE = """
class Attention(nn.Module):
    def __init__(self, d_in, d_k):
        super().__init__()
        self.query = nn.Linear(d_in, d_k)
        self.key = nn.Linear(d_in, d_k)
        self.size = d_k

    def scores(self, x):
        return self.query(x) @ self.key(x).mT

    def forward(self, x):
        return torch.softmax(self.scores(x) / self.size, dim=-1)
"""


def test_attributes_and_methods_may_have_other_names():
    renamed = MODULE.replace("size", "width").replace("scores", "logits")
    assert same_meaning(MODULE, renamed)


def test_attributes_of_one_value_are_told_apart_by_name():
    assert not same_meaning(MODULE, MODULE.replace("self.query(x)", "self.key(x)"))


def test_what_acts_keeps_its_order():
    one = "def f(x):\n    x.add_(1)\n    x.mul_(2)\n    return x"
    other = "def f(x):\n    x.mul_(2)\n    x.add_(1)\n    return x"
    assert not same_meaning(one, other)


def test_a_helper_may_stand_above_or_below_and_have_any_name():
    helper, use = "def double(x):\n    return 2 * x\n", "def f(x):\n    return double(x) + 1\n"
    assert same_meaning(helper + use, use + helper)
    assert same_meaning(helper + use, (use + helper).replace("double", "twice"))
    assert not same_meaning(helper + use, (use + helper).replace("2 * x", "3 * x"))


def test_letters_know_names_and_order():
    assert code_print(ATTEND).letters == code_print(ATTEND.replace("Weights.", "Other.")).letters
    assert code_print(ATTEND).letters != code_print(ATTEND.replace("scores", "s")).letters


def test_own_statements_are_those_that_were_not_given():
    stub = "def f(x):\n    a = x.sum()\n    raise NotImplementedError()\n"
    answer = "def f(x):\n    b = x.sum()\n    c = b + 1\n    return c\n"
    assert len(code_print(answer).statements) == 4
    assert len(code_print(answer).without(statements(stub)).statements) == 2
    assert not code_print(stub).without(statements(stub)).statements


def test_other_right_answers_are_told_apart_and_copies_are_not(lesson):
    changed = 0
    for exercise in lesson.exercises:
        solution = lesson.solutions[exercise.name]
        meanings = {code_print(solution).meaning}
        for alternative in exercise.alternatives:
            source = rewrite(solution, alternative)
            known = (exercise.name, alternative.name) in REORDERED
            assert (code_print(source).meaning in meanings) is known, alternative.name
            meanings.add(code_print(source).meaning)
            copy = disguised(source)
            assert same_meaning(source, copy), alternative.name
            assert code_print(source).statements == code_print(copy).statements, alternative.name
            changed += code_print(source).letters != code_print(copy).letters
    assert changed


# ---------------------------------------------------------------- hostile code

LONG = 45_000
HOSTILE = {
    "syntax error": "def f(",
    "null byte": "a\0b",
    "surrogate": 'x = "\ud800"',
    "parentheses": "(" * LONG,
    "signs": "x = " + "-" * LONG + "1",
    "sum": "x = " + "1+" * (LONG // 2) + "1",
    "calls": "f" + "()" * (LONG // 2),
    "attributes": "a" + ".b" * (LONG // 2),
    "lambdas": "x = " + "lambda: " * (LONG // 8) + "1",
    "number": "x = 0x" + "f" * LONG,
    "statements": "a = b\n" * (LONG // 6),
    "list": "x = [" + "a," * (LONG // 2) + "]",
    "f-string": 'x = f"' + "{a}" * (LONG // 3) + '"',
    "long comment": "#" * (MOST_CHARACTERS + 1),
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_code_has_no_print(source):
    assert code_print(source) is None
    assert statements("a = 1", source) == frozenset()


def test_deeply_nested_code_is_read_once():
    """Nested comprehensions, where reading each one twice would never end."""
    deep = "x = " + "[a for a in " * 80 + "b" + "]" * 80
    assert code_print(deep)


def test_much_code_is_read_up_to_a_limit():
    count = MOST_NODES // 6
    assert code_print("a = b\n" * count)
    assert code_print("a = b\n" * 2 * count) is None


def test_python_does_not_warn_about_a_learners_code():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code_print('x = "\\d"\ny = x is 1')
