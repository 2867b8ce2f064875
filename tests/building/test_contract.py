"""A contract changes with what an exercise asks for, and with nothing else."""

import dataclasses

import pytest

from autograder.asking.question import Call, Question
from autograder.building.contract import contract
from autograder.building.reference import ExerciseBuilder
from autograder.lessons.exercise import Aspect
from autograder.lessons.lesson import Lesson

LESSON = Lesson("01_dot_product_attention")
SOFTMAX = next(exercise for exercise in LESSON.exercises if exercise.name == "softmax")
QUESTION = Question("Head", [Call({"x": 1})], ["context"])
SOURCE = '''
class Head(nn.Module):
    """One head.

    Example:
        >>> Head(2)(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, d_k: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.scale = d_k**0.5
        ### END SOLUTION

    def forward(self, words: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        ### BEGIN SOLUTION
        return self._scaled(words)

    def _scaled(self, words):
        return words
        ### END SOLUTION
'''


def contract_with(question=QUESTION, source=SOURCE, raises=()):
    return contract(question, source, raises)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Head", "class Tail"),
        ("nn.Module", "keras.layers.Layer"),
        ("d_k: int", "d_k: int, bias: bool = False"),
        ("d_k: int", "d_v: int"),
        ('words: Float[Tensor, "n d"]', 'words: Float[Tensor, "*batch n d"]'),
        ('-> Float[Tensor, "n d"]', "-> None"),
        ("tensor([1., 1.])", "tensor([2., 2.])"),
    ],
)
def test_another_skeleton_is_another_contract(old, new):
    assert old in SOURCE
    assert contract_with(source=SOURCE.replace(old, new, 1)) != contract_with()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("One head.", "A head, one of many."),
        ("d_k**0.5", "math.sqrt(d_k)"),
        ("_scaled", "_divided"),
        ("words: Float[Tensor, ", "words: Float[\n            Tensor, "),
        ("\n    def forward", "\n    # forward\n    def forward"),
    ],
)
def test_other_prose_or_another_solution_is_the_same_contract(old, new):
    assert old in SOURCE
    assert contract_with(source=SOURCE.replace(old, new)) == contract_with()


@pytest.mark.parametrize(
    "change",
    [
        {"returns": ["context", "attn_weights"]},
        {"keeps": ["attn_weights"]},
        {"keeps_detached": True},
        {"reads": ["model"]},
        {"plain": True},
        {"choices": ["fits", "noise"]},
        {"as_dict": True},
        {"forbidden": ["softmax"]},
    ],
)
def test_other_outputs_are_another_contract(change):
    assert contract_with(dataclasses.replace(QUESTION, **change)) != contract_with()


def test_an_expected_exception_is_part_of_it():
    assert contract_with(raises=["ValueError"]) != contract_with()
    assert contract_with(raises=["ValueError"] * 2) == contract_with(raises=["ValueError"])


def built(exercise):
    return ExerciseBuilder(LESSON, exercise).question


def test_points_cases_mistakes_and_hints_are_not_part_of_it():
    first, *others = SOFTMAX.aspects
    changed = dataclasses.replace(
        SOFTMAX,
        aspects=[dataclasses.replace(first, points=7), *others, Aspect("once more", 1)],
        mistakes=[],
        hints=["Think."],
        seconds=1.0,
        also=(),
    )
    assert len(built(changed).calls) != len(built(SOFTMAX).calls)
    assert built(changed).contract == built(SOFTMAX).contract
