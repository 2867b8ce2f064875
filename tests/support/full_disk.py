"""Grade a course on a disk that fills up, and again when there is room."""

import os
import subprocess
from pathlib import Path

from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.support.classroom import command

# Runs the grader twice: on a disk that fills up, and with room again.
SCRIPT = """
    cp -r "$COURSE/." "$DISK"
    free=$(df -B1 --output=avail "$DISK" | tail -1)
    head -c $((free - LEFT)) /dev/zero > "$DISK/filler"
    "$@"; echo "exit status $?"
    rm "$DISK/filler"
    "$@"; echo "exit status $?"
    cp "$DISK/gradebook.db" "$COURSE"
"""


def grade_on_full_disk(course: Path, lesson: Lesson, size: int, left: int) -> str:
    """Grade a copy of the course on a disk of its own, and bring back the gradebook.

    size: the disk's, in bytes.
    left: how many bytes are free when grading begins.
    """
    disk = course.with_name(f"{course.name} on a disk")
    disk.mkdir()
    done = subprocess.run(
        [
            *("bwrap", "--dev-bind", "/", "/", "--size", str(size), "--tmpfs", str(disk)),
            *("sh", "-c", SCRIPT, "-", *command(disk, "autograde", lesson.name)),
        ],
        cwd=ROOT,
        env=os.environ | {"COURSE": str(course), "DISK": str(disk), "LEFT": str(left)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.stdout
