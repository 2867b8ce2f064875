"""Hidden cases: each submission has its own, and right answers are right on all of them."""

import dataclasses
from collections import defaultdict
from functools import cache

import pytest

from autograder.asking.collect import collect
from autograder.building import hidden
from autograder.building.hidden import grading_reference, shown_reference
from autograder.errors import CourseError
from autograder.judging.form import Form
from autograder.judging.judge import judge
from autograder.lessons.parts import Judged

LESSON = "01_dot_product_attention"


@cache
def graded(name):
    return grading_reference(name, "a")


def scores_of(seed):
    """The scores in the hidden cases of `softmax`."""
    reference = grading_reference(LESSON, seed)
    question, key = reference.questions["softmax"], reference.keys["softmax"]
    pairs = zip(question.calls, key.cases, strict=True)
    return [call.arguments["scores"] for call, case in pairs if case.hidden]


def test_they_follow_the_seed():
    first, again, other = scores_of("a"), scores_of("a"), scores_of("b")
    shown = shown_reference(LESSON).keys["softmax"]
    alone = sum(case.form == Form.ALONE for case in shown.cases)
    assert len(first) == len(shown.cases) - alone - 1  # the example
    assert all(x.equal(y) for x, y in zip(first, again, strict=True))
    assert not any(x.equal(y) for x, y in zip(first, other, strict=True))


def test_answers_are_not_known_by_their_order():
    """Among yes and no, what a call is about can't be told by when it comes."""
    keys = [grading_reference("04_masks", seed).keys["leaks_future"] for seed in "abcdef"]
    said = [[case.expected["leaks"].item() for case in key.cases if case.hidden] for key in keys]
    assert all(sorted(answers) == sorted(said[0]) for answers in said)
    assert len({tuple(answers) for answers in said}) > 3


@pytest.mark.anywhere
def test_they_replace_fresh_cases(lesson):
    for key in graded(lesson.name).keys.values():
        kinds = [(case.fresh, case.hidden) for case in key.cases]
        shown = kinds.count((False, False))
        assert kinds == [(False, False)] * shown + [(False, True)] * (len(kinds) - shown)
        counted = {number for aspect in key.aspects for number in aspect.cases}
        assert counted == {*range(len(kinds))} - {key.example}


@pytest.mark.anywhere
def test_a_steady_answer_is_the_same_for_another_draw(lesson):
    """Otherwise, hidden cases could not take it from the shown case."""
    keys = hidden.load(hidden.PUBLIC / f"{lesson.name}.safetensors").keys
    for exercise in (e for e in lesson.exercises if e.part(Judged).steady):
        by_label = defaultdict(list)
        for case in keys[exercise.name].cases:
            by_label[case.label].append(case.expected)
        assert "" not in by_label
        assert any(len(answers) > 1 for answers in by_label.values())
        for label, (first, *others) in by_label.items():
            for other in others:
                assert first.keys() == other.keys(), label
                assert all(first[name].equal(other[name]) for name in first), label


@pytest.mark.first_is_enough
def test_right_answers_are_right_on_all_of_them(lesson):
    """For one draw; `make bench BENCH=draws` tries many."""
    reference = graded(lesson.name)
    for exercise in lesson.exercises:
        question, key = reference.questions[exercise.name], reference.keys[exercise.name]
        if any(case.most_error for case in key.cases):
            continue  # training takes seconds, and its goal is the same everywhere
        for variant in exercise.alternatives:
            answers = {exercise.name: variant}
            answer = lesson.namespace(answers)[exercise.name]
            verdict = judge(key, collect(answer, question))
            assert verdict.passed, f"{variant.name}: {verdict.sentence}"


def test_a_challenge_is_not_graded():
    assert "add_score" in hidden.load(hidden.PUBLIC / f"{LESSON}.safetensors").keys
    assert "add_score" not in graded(LESSON).keys.keys() | graded(LESSON).questions.keys()


def test_checks_changed_since_the_reference_was_built_are_reported(monkeypatch):
    stale = dataclasses.replace(hidden.load(hidden.PUBLIC / f"{LESSON}.safetensors"), source="old")
    monkeypatch.setattr(hidden, "load", lambda path: stale)
    shown_reference.cache_clear()
    with pytest.raises(CourseError, match=f"make build LESSON={LESSON}"):
        shown_reference(LESSON)
    shown_reference.cache_clear()
