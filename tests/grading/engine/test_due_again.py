"""Why a graded submission is due again: ids decide, and words only tell it."""

import pytest

from autograder.grading.engine.provenance import (
    CELLS,
    Dependency,
    Reason,
    in_words,
    made_from,
    why_again,
)
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker.job import Job

JOB = Job("", Blueprint([]), made_from={"points": "3", "due": "Monday", "cells": "{}"})
RUN = {"outcome": "graded", "submitted": JOB.digest, "made_from": JOB.made_from}


def test_every_reason_has_its_words():
    assert all(one.words for one in (*Dependency, *Reason))


def test_what_is_kept_beside_a_graded_notebook_are_plain_ids():
    parts = made_from(JOB, "an own lesson", "secret", "")
    assert {*parts} == {CELLS, *Dependency} - {Dependency.SUBMITTED}
    assert {type(part) for part in parts} == {str}


@pytest.mark.parametrize(
    ("changes", "why", "told"),
    [
        ({}, (), None),
        ({"made_from": JOB.made_from | {"cells": "?"}}, (), None),
        ({"made_from": JOB.made_from | {"due": ""}}, (Dependency.DUE,), "the due date changed"),
        (
            {"made_from": {}},
            (Dependency.POINTS, Dependency.DUE),
            "the points and the due date changed",
        ),
        ({"submitted": "?"}, (Reason.OTHER_SUBMISSION,), "what was handed in has changed"),
        (
            {"outcome": "not graded", "doubtful": True},
            (Reason.DOUBTFUL,),
            "the machine may have been to blame",
        ),
    ],
)
def test_a_reason_is_an_id_and_has_words(changes, why, told):
    assert why_again(RUN | changes, JOB) == why
    assert told is None or in_words(why) == told


def test_doubt_ends_after_some_runs():
    run = RUN | {"outcome": "not graded", "doubtful": True}
    assert why_again(run | {"attempts": 2}, JOB) == (Reason.DOUBTFUL,)
    assert why_again(run | {"attempts": 3}, JOB) == ()


def test_another_engines_grade_is_made_again():
    assert why_again({}, JOB) == (Reason.OTHER_GRADER,)
