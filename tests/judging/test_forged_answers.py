"""The judge survives whatever tensors an answer may contain, and gives no points for them."""

import base64
import json
import struct

import pytest
import torch

from autograder.asking.answer import DTYPES, Answer
from autograder.asking.question import Call, Question
from autograder.asking.sending import pack, unpack
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.references.store import PUBLIC, load

EVERY_DTYPE = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)
LIKE_EXPECTED = {
    "NaN": lambda e: torch.full(e.shape, float("nan")),
    "infinity": lambda e: torch.full(e.shape, float("inf")),
    "beyond float32": lambda e: torch.full(e.shape, 1e300, dtype=torch.float64),
    "all off": lambda e: (
        ~e if e.dtype is torch.bool else e + 1 + torch.arange(e.numel()).view_as(e)
    ),
    "zeros of float16": lambda e: torch.zeros(e.shape, dtype=torch.float16),
    "one dimension more": lambda e: torch.zeros(*e.shape, 1),
    "one more in each": lambda e: torch.zeros([size + 1 for size in e.shape]),
    "no numbers": lambda e: torch.zeros(0),
    "no numbers, vast": lambda e: torch.zeros(0).view(0, 1 << 39),
    "no matrices": lambda e: torch.zeros(0, *e.shape[-2:]).unsqueeze(0),
    "12 dimensions": lambda e: torch.zeros([1] * 12),
    "64 dimensions": lambda e: torch.zeros(1).view([1] * 64),
    "many": lambda e: torch.zeros(100, 1000),
}


def judged(question, key, make):
    """Return the points for answers that traveled as a submission's do."""
    answers = [Answer({n: make(e) for n, e in case.expected.items()}) for case in key.cases]
    verdict = judge(key, unpack(pack(key.exercise, answers), question).answers)
    assert verdict_card(verdict).text
    return verdict.points


@pytest.mark.first_is_enough
@pytest.mark.parametrize("kind", LIKE_EXPECTED)
def test_odd_tensors_earn_nothing(lesson, kind):
    reference = load(PUBLIC / f"{lesson.name}.safetensors")
    for name, key in reference.keys.items():
        if all(case.expected for case in key.cases):
            assert judged(reference.questions[name], key, LIKE_EXPECTED[kind]) == 0


def test_a_million_numbers_earn_nothing():
    reference = load(PUBLIC / "01_dot_product_attention.safetensors")
    question, key = reference.questions["softmax"], reference.keys["softmax"]
    assert judged(question, key, lambda e: torch.zeros(1000, 1000)) == 0


@pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=str)
def test_every_dtype_is_judged_or_refused(dtype):
    reference = load(PUBLIC / "01_dot_product_attention.safetensors")
    for name, key in reference.keys.items():
        try:
            made = judged(reference.questions[name], key, lambda e: torch.zeros(e.shape).to(dtype))
            assert made == 0
        except (ValueError, KeyError, RuntimeError):
            assert dtype not in DTYPES


def forged(tree):
    """Make a message with this tree by hand."""
    text = json.dumps(tree).encode()
    header = {"tree": {"dtype": "U8", "shape": [len(text)], "data_offsets": [8, 8 + len(text)]}}
    header["float32"] = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    head = json.dumps(header).encode()
    return base64.b64encode(struct.pack("<Q", len(head)) + head + bytes(8) + text).decode()


PLACE = {"line": 3, "code": "", "function": ""}
PROBLEM = {"kind": "raised", "detail": "", "place": PLACE, "instead": "other"}
X = Question("x", [Call({})], [""])


def message(*answers, exercise="x"):
    return {"exercise": exercise, "answers": list(answers), "uses": []}


def answer(**changes):
    return Answer().to_tree() | changes


@pytest.mark.parametrize(
    "shape",
    [
        [1 << 60, 1 << 60],
        ["ab", 1 << 40],
        [[0], 1 << 40],
        [-1, -2],
        [2.0],
        [True, True],
        [None],
        [1] * 1000,
        [3],
        [1 << 39, 1 << 39, 0, 5],
    ],
    ids=str,
)
def test_a_forged_shape_is_refused(shape):
    tensor = {"$tensor": ["float32", 0, shape]}
    with pytest.raises(ValueError):
        unpack(forged(message(answer(tensors={"": tensor}))), X)


@pytest.mark.parametrize(
    "changes",
    [
        {"tensors": [1]},
        {"tensors": {"": 5}},
        {"problem": 5},
        {"problem": {"no_such": "field"}},
        {"problem": PROBLEM | {"kind": "no such kind"}},
        {"problem": PROBLEM | {"kind": ["raised"]}},
        {"problem": PROBLEM | {"instead": "no such thing"}},
        {"problem": PROBLEM | {"place": PLACE | {"line": -1}}},
        {"problem": PROBLEM | {"place": PLACE | {"line": 10**300}}},
        {"problem": PROBLEM | {"place": PLACE | {"line": 1e400}}},
        {"problem": PROBLEM | {"place": "line 3"}},
        {"lacks": {"": 5}},
        {"lacks": [1]},
        {"inputs": 5},
        {"printed": "many"},
        {"borrowed": 5},
        {"printed": 1e400},
    ],
    ids=str,
)
def test_a_forged_answer_is_refused(changes):
    with pytest.raises(ValueError):
        unpack(forged(message(answer(**changes))), X)


@pytest.mark.parametrize("kind", ["raised", "forbidden", "parameters", "setting", "plain"])
def test_forged_problems_are_reported_and_earn_nothing(kind):
    reference = load(PUBLIC / "01_dot_product_attention.safetensors")
    question, key = reference.questions["softmax"], reference.keys["softmax"]
    place = {"line": 3, "code": "\x1b[31m`" * 100, "function": "<script>" * 100}
    problem = PROBLEM | {"kind": kind, "detail": "<script>x()</script>" * 100, "place": place}
    tree = message(*[answer(problem=problem)] * len(key.cases), exercise="softmax")
    verdict = judge(key, unpack(forged(tree), question).answers)
    card = verdict_card(verdict)
    assert verdict.points == 0
    assert "<script" not in card.html and len(card.html) < 5000
