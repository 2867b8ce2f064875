"""Whether each way to hand in gives a made-up class its true points, and how long it takes.

Gradescope and PrairieLearn are containers without a network; what pip would install is already
there. They grade one submission after the other, and so does `grade-one`: its seconds are the
median. `serve` and `make grade` have all of them at once: each takes its share of the time until
the last one has its feedback or its grade.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nbformat

from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.demo.made_up_class import MadeUpSubmission, make_class
from tests.support import exchange
from tests.support.classroom import command, exercise_scores, gradebook, release
from tests.support.clones import clone
from tests.support.kills import wait_for
from tests.support.platforms import PLACES, Place, points_by_exercise

LESSONS = ("01_dot_product_attention", "04_masks")
COURSE = (sys.executable, "-m", "autograder.course")
# Points by learner and exercise, and the seconds for each learner.
Graded = tuple[dict[str, dict[str, float]], float]


def report() -> None:
    for name in LESSONS:
        lesson = Lesson(name)
        submissions = make_class(lesson)
        for way, grade in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                points, seconds = grade(Path(folder), lesson, submissions)
            right = sum(points.get(one.learner) == one.true_points for one in submissions)
            print(f"{name} on {way}: {right} of {len(submissions)} right, {seconds:.1f} s each")


def _on_platform(
    set_up: Callable[[Path, str], Place],
    folder: Path,
    lesson: Lesson,
    submissions: list[MadeUpSubmission],
) -> Graded:
    place = set_up(folder, lesson.name)

    def grade(submission: MadeUpSubmission) -> dict[str, float]:
        results, _ = place.grade(partial(_write, submission, lesson))
        return points_by_exercise(results)

    return _one_by_one(grade, submissions)


def _by_grade_one(folder: Path, lesson: Lesson, submissions: list[MadeUpSubmission]) -> Graded:
    def grade(submission: MadeUpSubmission) -> dict[str, float]:
        _write(submission, lesson, folder)
        notebook, result = folder / f"{lesson.name}.ipynb", folder / "result.json"
        options = [f"--lesson={lesson.name}", f"--json={result}"]
        _run(*COURSE, "grade-one", str(notebook), *options)
        exercises = json.loads(result.read_text(encoding="utf-8"))["exercises"]
        return {one["name"]: one["points"] for one in exercises}

    return _one_by_one(grade, submissions)


def _by_serve(folder: Path, lesson: Lesson, submissions: list[MadeUpSubmission]) -> Graded:
    said = folder / "said.txt"
    with exchange.course_with_exchange(folder, lesson) as course:
        process = exchange.serve(course, said)
        wait_for(lambda: "0 submissions in the exchange" in said.read_text(), process)
        start = time.perf_counter()
        for one in submissions:
            exchange.hand_in(course, one.learner, one.notebook(lesson), lesson)
        pages = [exchange.feedback(course, one.learner, lesson) for one in submissions]
        wait_for(lambda: all(page.exists() for page in pages), process)
        seconds = time.perf_counter() - start
        exchange.stop(process)
        return exercise_scores(gradebook(course), lesson), seconds / len(submissions)


def _from_github(folder: Path, lesson: Lesson, submissions: list[MadeUpSubmission]) -> Graded:
    course, clones = folder / "course", folder / "lesson-submissions"
    release(course, lesson)
    clones.mkdir()
    rows = [f"{one.learner},{one.learner}\n" for one in submissions]
    (course / "learners.csv").write_text("".join(["learner,github\n", *rows]), encoding="utf-8")
    for one in submissions:
        notebook = nbformat.writes(one.notebook(lesson))
        clone(clones, f"lesson-{one.learner}", {f"{lesson.name}.ipynb": notebook})
    start = time.perf_counter()
    _run(*COURSE, "collect", lesson.name, str(clones), "--lms=github", f"--course={course}")
    _run(*command(course, "autograde", lesson.name))
    seconds = time.perf_counter() - start
    return exercise_scores(gradebook(course), lesson), seconds / len(submissions)


WAYS: dict[str, Callable[[Path, Lesson, list[MadeUpSubmission]], Graded]] = {
    **{name: partial(_on_platform, set_up) for name, set_up in PLACES.items()},
    "grade-one": _by_grade_one,
    "serve": _by_serve,
    "github": _from_github,
}


def _one_by_one(
    grade: Callable[[MadeUpSubmission], dict[str, float]], submissions: list[MadeUpSubmission]
) -> Graded:
    points, seconds = {}, []
    for one in submissions:
        start = time.perf_counter()
        points[one.learner] = grade(one)
        seconds.append(time.perf_counter() - start)
    return points, statistics.median(seconds)


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def _write(submission: MadeUpSubmission, lesson: Lesson, folder: Path) -> None:
    nbformat.write(submission.notebook(lesson), folder / f"{lesson.name}.ipynb")
