"""A disk that fills up while submissions are graded costs time, and no mark."""

import os
import subprocess

import pytest

from autograder.lessons.lesson import ROOT
from tests.support.classroom import LESSON, command, gradebook, make_course, scores

pytestmark = pytest.mark.usefixtures("sandbox")
COUNT = 6
DISK = 3_000_000  # bytes
LEFT = 200_000  # enough for some of the submissions
SCRIPT = """
    cp -r "$COURSE/." "$DISK"
    free=$(df -B1 --output=avail "$DISK" | tail -1)
    head -c $((free - LEFT)) /dev/zero > "$DISK/filler"
    "$@"; echo "exit status $?"
    rm "$DISK/filler"
    "$@"; echo "exit status $?"
    cp "$DISK/gradebook.db" "$COURSE"
"""


def test_what_no_longer_fits_is_not_graded_and_due_again(tmp_path):
    course, disk = tmp_path / "course", tmp_path / "disk"
    course.mkdir()
    disk.mkdir()
    marks = make_course(course, COUNT)
    in_small_disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(DISK), "--tmpfs", str(disk)]
    done = subprocess.run(
        [*in_small_disk, "sh", "-c", SCRIPT, "-", *command(disk, "autograde", LESSON.name)],
        cwd=ROOT,
        env=os.environ | {"COURSE": str(course), "DISK": str(disk), "LEFT": str(LEFT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    full, _, empty = done.stdout.partition("exit status 1")
    assert "its marks could not be recorded: " in full, done.stdout
    assert "disk is full" in full or "No space left" in full
    assert "Traceback" not in full
    assert " 0 not graded" in empty and "exit status 0" in empty
    assert scores(gradebook(course)) == marks


def test_a_disk_that_can_not_be_written_to_gives_no_marks(tmp_path):
    make_course(tmp_path, 1)
    read_only = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path)]
    done = subprocess.run(
        [*read_only, *command(tmp_path, "autograde", LESSON.name)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "not graded: learner_000: its marks could" in said, said
