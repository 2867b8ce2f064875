"""While a notebook is graded, `check` only answers what the grader asks."""

import os
import subprocess
import sys

import pytest

from autograder.asking import MIME, QUESTIONS_VARIABLE, sending
from autograder.asking.question import Call, Question
from autograder.errors import CourseError


def f():
    return 1


FILE = f"import {sending.__name__} as sending; print(sending.QUESTIONS)"


def test_a_notebook_may_clear_its_environment_later():
    told = os.environ | {QUESTIONS_VARIABLE: "questions"}
    run = subprocess.run([sys.executable, "-c", FILE], env=told, capture_output=True, text=True)
    assert run.stdout.strip() == "questions"


@pytest.mark.parametrize("asked", ["f", "g"])
def test_only_what_is_asked_is_answered(asked, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(sending, "display", lambda message, raw: shown.extend(message))
    questions = tmp_path / asked
    questions.write_bytes(sending.encode_questions([Question(asked, [Call({})], ["y"])]))
    monkeypatch.setattr(sending, "QUESTIONS", str(questions))
    sending.check(f)
    assert shown == ([MIME] if asked == "f" else [])


def test_no_case_is_shown():
    with pytest.raises(CourseError, match="No case fails while"):
        sending.failing_case("f")
