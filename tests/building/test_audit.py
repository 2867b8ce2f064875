"""An exercise with a flawed check does not build."""

import dataclasses
import io
import sys

import pytest
import torch

from autograder.asking.answer import Answer
from autograder.asking.collect import collect
from autograder.authoring import commands as author
from autograder.building.audit import Audit
from autograder.building.reference import ExerciseBuilder
from autograder.course.__main__ import main
from autograder.errors import AuthoringError
from autograder.exercises.slips import CONTEXT
from autograder.lessons.lesson import Lesson
from autograder.lessons.parts import Repair
from autograder.lessons.variants import Alternative, Mistake


def test_a_terminal_without_a_sign_shows_a_question_mark(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setitem(author.COMMANDS, "mistakes", lambda lesson: print("times √d_k"))
    assert main(["mistakes", "02_qkv_projections"]) == 0
    terminal.flush()
    assert terminal.buffer.getvalue().split() == [b"times", b"?d_k"]


LESSON = Lesson("01_dot_product_attention")
SOFTMAX = next(exercise for exercise in LESSON.exercises if exercise.name == "softmax")


def build(**changes):
    exercise = dataclasses.replace(SOFTMAX, **changes)
    return ExerciseBuilder(LESSON, exercise).build()


def test_the_exercise_builds_as_it_is():
    question, key = build()
    assert len(question.calls) == len(key.cases)


def test_two_alternatives_are_enough():
    build(alternatives=SOFTMAX.alternatives[:2], mistakes=[])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"mistakes": [Mistake("old", "?", {"x.softmax": "y"})]},
            "'x.softmax' → 'y' no longer",
        ),
        (
            {"mistakes": [Mistake("twice", "?", {"exps": "y"})]},
            "occurs 3 times in the solution",
        ),
        (
            {"mistakes": [Mistake("none", "?", {".exp()": ".exp() * 1"})]},
            "'none' pass",
        ),
        (
            {
                "mistakes": [
                    Mistake("a", "One.", "return scores"),
                    Mistake("b", "Two.", "return scores + 0"),
                ]
            },
            "takes 'b' for 'a'",
        ),
        (
            {"mistakes": [Mistake("unknown", "?", "return numbers")]},
            "a mistake 'unknown' that ends in a NameError: name 'numbers' is not defined",
        ),
        ({"alternatives": SOFTMAX.alternatives[:1]}, "needs 2 alternatives and has 1"),
        (
            {"alternatives": [*SOFTMAX.alternatives, Alternative("bad", "return scores")]},
            "refuses 'bad'",
        ),
        ({"hints": ["one"]}, "should have 3 hints"),
        (
            {"mistakes": [Mistake("a", "?", "return scores"), Mistake("a", "?", "return -scores")]},
            "two mistakes of the same name",
        ),
    ],
)
def test_a_bad_exercise_does_not_build(changes, words):
    with pytest.raises(AuthoringError) as error:
        build(**changes)
    assert words in str(error.value)


def test_slips_that_fit_nowhere_do_not_build():
    with pytest.raises(AuthoringError, match="none of the slips of softmax matches"):
        build(slips=CONTEXT)


def test_a_trivial_answer_must_earn_nothing():
    def ones(draw):
        return {"scores": draw.normal("n") * 0}  # softmax of zeros: a constant would do

    aspect = dataclasses.replace(SOFTMAX.aspects[0], cases=[ones])
    body = "return scores.new_full(scores.shape, 1 / scores.shape[-1])"
    constant = Mistake("constant", "It does not depend on the scores.", body)
    with pytest.raises(AuthoringError, match="lets the mistake 'constant' pass"):
        build(aspects=[aspect], mistakes=[constant], also=())


def test_two_equal_sizes_do_not_build():
    aspect = dataclasses.replace(
        SOFTMAX.aspects[0], cases=[lambda draw: {"scores": draw.fix(m=4, n=4).normal("m n")}]
    )
    with pytest.raises(AuthoringError, match="has equal sizes"):
        build(aspects=[aspect], mistakes=[])


def test_fresh_cases_come_last():
    _, public = ExerciseBuilder(LESSON, SOFTMAX).build()
    of_aspects = sum(len(aspect.cases) for aspect in SOFTMAX.aspects)
    fresh = [case.fresh for case in public.cases]
    assert fresh == sorted(fresh) and sum(fresh) == of_aspects
    for aspect in public.aspects:
        assert any(public.cases[number].fresh for number in aspect.cases)


TRIVIAL = {
    "zeros": lambda call, tensor: torch.zeros_like(tensor),
    "ones": lambda call, tensor: torch.ones_like(tensor),
    "an input": lambda call, tensor: call.arguments["scores"],
}


@pytest.mark.parametrize("name", TRIVIAL)
def test_an_exercise_that_takes_no_thought_does_not_build(name):
    question, key = build(mistakes=[])
    answers = [
        Answer({n: TRIVIAL[name](call, t) for n, t in case.expected.items()})
        for call, case in zip(question.calls, key.cases, strict=True)
    ]
    cases = [
        dataclasses.replace(case, expected=answer.tensors)
        for case, answer in zip(key.cases, answers, strict=True)
    ]
    key = dataclasses.replace(key, cases=cases)
    audit = Audit(SOFTMAX, question_of_two(question), key)
    with pytest.raises(AuthoringError, match=f"gives {key.points} points for {name}$"):
        audit.run({"the solution": answers}, {})


def question_of_two(question):
    """Add an argument to the question with a shape that no output has."""
    calls = [
        dataclasses.replace(call, arguments={"other": torch.ones(9, 9, 9), **call.arguments})
        for call in question.calls
    ]
    return dataclasses.replace(question, calls=calls)


def test_random_values_are_reproducible_and_earn_nothing():
    """Values between 0 and 1 are on average closer to 0.5 than zeros and ones are."""
    question, key = build(mistakes=[])
    halves = [{n: torch.full((50, 50), 0.5) for n in case.expected} for case in key.cases]
    cases = [
        dataclasses.replace(case, expected=expected, most_error=dict.fromkeys(expected, 0.15))
        for case, expected in zip(key.cases, halves, strict=True)
    ]
    key = dataclasses.replace(key, cases=cases)
    before = torch.get_rng_state()
    with pytest.raises(AuthoringError, match=f"gives {key.points} points for random values"):
        Audit(SOFTMAX, question, key).run({"the solution": list(map(Answer, halves))}, {})
    assert torch.get_rng_state().equal(before)


def test_code_given_to_learners_must_earn_nothing():
    given = Mistake("only for vectors", "?", {"scores.amax(dim, keepdim=True)": "scores.max()"})
    with pytest.raises(AuthoringError, match="for the code to repair"):
        build(mistakes=[given], slips=(), parts=[*SOFTMAX.parts, Repair(given.name)])


def test_doing_nothing_must_earn_nothing():
    """The exercise here is judged by what it does to a module."""
    lesson = Lesson("02_qkv_projections")
    exercise = next(e for e in lesson.exercises if e.name == "copy_projections")
    question, key = ExerciseBuilder(lesson, exercise).build()
    nothing = collect(lambda *arguments: None, question)
    pairs = zip(key.cases, nothing, strict=True)
    cases = [dataclasses.replace(case, expected=answer.tensors) for case, answer in pairs]
    key = dataclasses.replace(key, cases=cases, mistakes=[])
    with pytest.raises(AuthoringError, match=f"gives {key.points} points for doing nothing"):
        Audit(exercise, question, key).run({"the solution": nothing}, {})
