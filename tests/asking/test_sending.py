"""While a notebook is graded, `check` only answers what the grader asks."""

import pytest

from autograder.asking import MIME, QUESTIONS_VARIABLE, sending
from autograder.asking.question import Call, Question
from autograder.errors import CourseError


def f():
    return 1


@pytest.mark.parametrize("asked", ["f", "g"])
def test_only_what_is_asked_is_answered(asked, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(sending, "display", lambda message, raw: shown.extend(message))
    questions = tmp_path / asked
    questions.write_bytes(sending.encode_questions([Question(asked, [Call({})], ["y"])]))
    monkeypatch.setenv(QUESTIONS_VARIABLE, str(questions))
    sending.check(f)
    assert shown == ([MIME] if asked == "f" else [])


def test_no_case_is_shown():
    with pytest.raises(CourseError, match="No case fails while"):
        sending.failing_case("f")
