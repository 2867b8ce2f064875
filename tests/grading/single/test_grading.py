"""What becomes of a job when the machine or the grader fails, as in a class."""

import pytest

from autograder.grading.single import grading
from autograder.grading.single.released import released_blueprint
from autograder.grading.worker import task
from autograder.grading.worker.job import Graded, Job, Outcome
from autograder.sandbox.walls import NoSandbox
from tests.support.classroom import LESSON


def graded(monkeypatch, *results):
    """Grade a job; these are the results, or the errors, one after the other."""
    left = [*results]

    def grade(job):
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(task, "grade", grade)
    return grading._grade_fairly(Job("", released_blueprint(LESSON))), left


def test_a_doubtful_result_is_tried_again_once(monkeypatch):
    doubtful, sure = (Graded("", b"", Outcome.GRADED, doubtful=doubt) for doubt in (True, False))
    assert graded(monkeypatch, doubtful, sure) == (sure, [])
    assert graded(monkeypatch, sure, doubtful) == (sure, [doubtful])
    assert graded(monkeypatch, doubtful, doubtful, sure) == (doubtful, [sure])


def test_an_error_of_the_graders_own_is_a_result(monkeypatch):
    found, left = graded(monkeypatch, OSError("lost"), OSError("lost again"))
    assert found.outcome == Outcome.NOT_GRADED and not left
    assert found.reason == "grading it met an error of its own (OSError: lost again)"


def test_that_there_is_no_sandbox_is_not(monkeypatch):
    with pytest.raises(NoSandbox):
        graded(monkeypatch, NoSandbox("it is dark", "system"))
