"""The result of grading a notebook, in the form that `result.schema.json` describes.

A confined process reads the graded notebook. What it reports is checked here, and the points come
from the worker.
"""

import json
from collections.abc import Mapping
from typing import Any

from autograder.grading.feedback.exercises import UNANSWERED, GradedExercise, find_exercises
from autograder.grading.gradebook.grades import CellGrade
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.pages.notebook import Outline, read_cells, verdict_of
from autograder.grading.pages.untrusted import (
    LONGEST_NAME,
    checked_run,
    checked_verdict,
    visible,
)
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker.job import Graded
from autograder.sandbox import walls
from autograder.sandbox.confined import Ask, Bounds, Unfinished, confined

VERSION = 1
ResultData = dict[str, Any]
BOUNDS = Bounds(sent_bytes=8_000_000)


def result_of(
    graded: Graded, blueprint: Blueprint, facts: NotebookFacts, outline: Outline
) -> ResultData:
    """Return the result as plain data."""
    run, grade = checked_run(graded.run), facts.grade
    told = _told(graded.notebook, facts, outline)
    return {
        "version": VERSION,
        "lesson": facts.lesson,
        "outcome": run["outcome"],
        "reason": run["reason"],
        "points": None if grade.waiting else grade.points,
        "max_points": grade.most,
        "exercises": [
            _exercise(blueprint.checks.get(name, name), grade.by_name[name], told.get(name, {}))
            for name in blueprint.by_name
            if name in grade.by_name
        ],
        "lacking": [visible(module, LONGEST_NAME) for module in graded.lacking],
        "seconds": graded.seconds,
        "wall": walls.standing().name,
    }


def _told(notebook: bytes, facts: NotebookFacts, outline: Outline) -> dict[str, dict[str, Any]]:
    """Return what the graded notebook says about each cell; {} if it can't be read."""

    def read(ask: Ask) -> list[bytes]:
        exercises = find_exercises(read_cells(notebook), facts, outline.order)
        return [json.dumps({one.graded.name: _about(one) for one in exercises}).encode()]

    try:
        told = json.loads(confined(read, bounds=BOUNDS)[0])
        return {name: _checked(about) for name, about in told.items()}
    except (Unfinished, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return {}


def _about(exercise: GradedExercise) -> dict[str, Any]:
    return {
        "answered": exercise.result != UNANSWERED,
        "sentence": exercise.sentence,
        "verdict": verdict_of(exercise.graded) or None,
    }


def _checked(about: Mapping[str, Any]) -> dict[str, Any]:
    """Check what was reported about a cell, as anybody could have written it."""
    return {
        "answered": about["answered"] is True,
        "sentence": visible(about["sentence"]),
        "verdict": checked_verdict(about["verdict"]) if about["verdict"] else {},
    }


def _exercise(name: str, grade: CellGrade, told: Mapping[str, Any]) -> dict[str, Any]:
    judged, verdict = grade.points is not None, told.get("verdict", {})
    return {
        "name": name,
        "points": grade.points,
        "max_points": grade.most,
        "answered": told.get("answered") if judged else None,
        "judged": judged,
        "sentence": told.get("sentence", ""),
        "mistake": verdict.get("mistake", ""),
        "rules": verdict.get("rules", []),
        "aspects": [_aspect(aspect, judged) for aspect in verdict.get("aspects", [])],
    }


def _aspect(aspect: Mapping[str, Any], judged: bool) -> dict[str, Any]:
    most = aspect["points"]
    earned = most if aspect["held"] else 0
    return {"name": aspect["name"], "points": earned if judged else None, "max_points": most}
