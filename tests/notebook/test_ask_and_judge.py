"""Asking and judging in one process: fresh cases are for answers that are right on the others."""

import pytest
import torch

from autograder.judging.form import AFTER_A_CALL
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

NAME = "context_vector"
QUESTION, KEY = find(NAME).questions[NAME], find(NAME).keys[NAME]
# Each case is a call, and some come between two other calls.
SHOWN = sum(1 + 2 * (case.form in AFTER_A_CALL) for case in KEY.cases if case.is_shown)
ALL = sum(1 + 2 * (case.form in AFTER_A_CALL) for case in KEY.cases)


@pytest.fixture
def calls():
    """Collect the weights of every call."""
    return []


def test_a_right_answer_gets_all_cases(calls):
    def context_vector(attn_weights, words):
        calls.append(attn_weights)
        return attn_weights @ words

    assert judge_answer(context_vector, QUESTION, KEY).passed
    assert len(calls) == ALL


def test_a_wrong_answer_gets_no_fresh_cases(calls):
    def context_vector(attn_weights, words):
        calls.append(attn_weights)
        return attn_weights

    assert not judge_answer(context_vector, QUESTION, KEY).passed
    assert len(calls) == SHOWN < ALL


def test_being_right_on_the_shown_cases_only_is_pointed_out(calls):
    def context_vector(attn_weights, words):
        calls.append(attn_weights)
        return attn_weights @ words * (1.0 if len(calls) <= SHOWN else 0.5)

    verdict = judge_answer(context_vector, QUESTION, KEY)
    assert not verdict.passed
    assert verdict.sentence.startswith("It is right on the cases that the notebook shows")
    assert torch.allclose(verdict.exhibit.got * 2, verdict.exhibit.expected)
    assert KEY.cases[verdict.exhibit.case].fresh
