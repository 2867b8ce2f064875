"""A result is valid, and has the points, whatever the graded notebook turns out to hold."""

import json

import pytest

from autograder.grading.pages.notebook import Outline
from autograder.grading.single.facts import facts_of
from autograder.grading.single.released import released_blueprint
from autograder.grading.single.result import result_of
from autograder.grading.worker.graded_cells import VERDICT
from autograder.grading.worker.job import Graded, NotebookPoints, Outcome
from tests.grading.single.grading_one import VALIDATOR
from tests.support.classroom import LESSON

BLUEPRINT = released_blueprint(LESSON)
POINTS = NotebookPoints({name: BLUEPRINT.by_name[name].points for name in BLUEPRINT.checks})


def result(notebook, outcome=Outcome.GRADED, points=POINTS, **facts):
    """Return the result of a graded notebook, which must be valid."""
    graded = Graded("", json.dumps(notebook).encode(), outcome, points, **facts)
    known = facts_of(points, BLUEPRINT, LESSON.name)
    found = result_of(graded, BLUEPRINT, known, Outline("Title", tuple(BLUEPRINT.by_name)))
    VALIDATOR.validate(found)
    return found


def with_verdict(verdict):
    about = {"nbgrader": {"grade_id": "check_softmax", "grade": True}, VERDICT: verdict}
    return {"cells": [{"cell_type": "code", "source": "check(softmax)", "metadata": about}]}


@pytest.mark.parametrize(
    "notebook",
    [
        [],
        {"cells": 5},
        {"cells": []},
        with_verdict(5),
        with_verdict({"aspects": [], "answered": True}),
        with_verdict({"aspects": [{"name": "x", "held": True, "points": 1e999}], "answered": True}),
    ],
    ids=str,
)
def test_a_damaged_notebook_costs_no_points(notebook):
    found = result(notebook)
    assert found["points"] == found["max_points"] == sum(POINTS.by_name.values())
    assert [one["name"] for one in found["exercises"]] == [e.name for e in LESSON.exercises]


def test_points_that_are_missing_leave_the_sum_open():
    found = result({"cells": []}, points=NotebookPoints(POINTS.by_name | {"check_softmax": None}))
    [softmax] = [one for one in found["exercises"] if one["name"] == "softmax"]
    assert (found["points"], softmax["points"], softmax["answered"]) == (None, None, None)


def test_a_long_reason_is_cut():
    found = result({"cells": []}, Outcome.NOT_GRADED, NotebookPoints(), reason="\x1b\nno " * 900)
    assert len(found["reason"]) == 600 and found["reason"].isprintable()
