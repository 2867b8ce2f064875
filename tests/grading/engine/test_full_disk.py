"""A disk that fills up while submissions are graded costs time, but no grade."""

import subprocess

import pytest

from autograder.places import ROOT
from tests.support.classroom import LESSON, command, gradebook, make_course, scores
from tests.support.full_disk import grade_on_full_disk

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("sandbox")]
COUNT = 6
DISK = 3_000_000  # bytes
LEFT = 200_000  # enough for some of the submissions


def test_submissions_that_no_longer_fit_are_not_graded_and_due_again(tmp_path):
    course = tmp_path / "course"
    course.mkdir()
    grades = make_course(course, COUNT)
    said = grade_on_full_disk(course, LESSON, DISK, LEFT)
    full, _, empty = said.partition("exit status 1")
    assert "its points could not be recorded: " in full, said
    assert "disk is full" in full or "No space left" in full
    assert "Traceback" not in full
    assert " 0 not graded" in empty and "exit status 0" in empty
    assert scores(gradebook(course)) == grades


def test_an_unwritable_disk_gives_no_grades(tmp_path):
    make_course(tmp_path, 1)
    read_only = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path)]
    done = subprocess.run(
        [*read_only, *command(tmp_path, "autograde", LESSON.name)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "not graded: learner_000: its points could" in said, said
