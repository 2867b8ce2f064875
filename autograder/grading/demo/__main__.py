"""`make demo`: a made-up class goes the whole way through nbgrader's own commands.

It is released, submitted, graded, given feedback and exported in a course directory under
build/, and the given marks are set beside the true ones.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from autograder.grading.demo.made_up_class import LEFT_OPEN, MadeUpSubmission, make_class
from autograder.grading.report.class_report import class_report, print_report, read_verdicts
from autograder.lessons.lesson import ROOT, Lesson, lesson_names

COURSE = ROOT / "build" / "demo"


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # a terminal may have no √
    parser = argparse.ArgumentParser(prog="python -m autograder.grading.demo", description=__doc__)
    parser.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="all of them when none is named"
    )
    lessons = parser.parse_args().lessons or lesson_names()
    differences = sum(demo(Lesson(name), COURSE) for name in lessons)
    return 1 if differences else 0


def demo(lesson: Lesson, course: Path) -> int:
    """Grade a made-up class in `course`; return how many marks are wrong."""
    shutil.rmtree(course, ignore_errors=True)
    shutil.copytree(lesson.notebook_path.parent, course / "solutions" / lesson.name)
    submissions = make_class(lesson)
    for submission in submissions:
        folder = course / "submitted" / submission.learner / lesson.name
        folder.mkdir(parents=True)
        nbformat.write(submission.notebook(lesson), folder / f"{lesson.name}.ipynb")
    nbgrader(course, "generate_assignment", lesson.name)
    nbgrader(course, "autograde", lesson.name)
    nbgrader(course, "generate_feedback", lesson.name)
    nbgrader(course, "export", f"--to={course / 'grades.csv'}")
    verdicts = read_verdicts(course / "autograded", lesson.name)
    differences = print_marks(
        submissions, exported_marks(course / "grades.csv", lesson.name), verdicts
    )
    print_report(class_report(verdicts.values()))
    print(f"\nCourse directory: {course.relative_to(ROOT)}")
    return differences


def nbgrader(course: Path, *command: str) -> None:
    """Run an nbgrader command in `course`. Raises CalledProcessError; its log tells more."""
    print(f"nbgrader {' '.join(command)}", flush=True)
    root = f"--CourseDirectory.root={course}"
    subprocess.run(["nbgrader", *command, root, "--log-level=WARN"], cwd=ROOT, check=True)


def exported_marks(path: Path, lesson: str) -> dict[str, float]:
    """Read marks by learner from nbgrader's CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == lesson]
    return {row["student_id"]: float(row["score"] or "nan") for row in rows}


def print_marks(
    submissions: list[MadeUpSubmission], marks: dict[str, float], verdicts: dict
) -> int:
    """Print true and given marks side by side; return how many submissions differ."""
    differences = 0
    print(f"\n{'learner':<12} {'true':>5} {'given':>6}   answers")
    for submission in submissions:
        given = marks[submission.learner]
        points = {name: v["points"] for name, v in verdicts[submission.learner].items()}
        same = given == submission.true_mark and points == submission.true_points
        differences += not same
        answers = ", ".join(submission.answers.get(name, LEFT_OPEN).name for name in points)
        sign = " " if same else "≠"
        print(f"{submission.learner:<12} {submission.true_mark:>5} {given:>6g} {sign} {answers}")
    agreed = len(submissions) - differences
    print(f"\ngiven = true for {agreed} of {len(submissions)} submissions")
    return differences


if __name__ == "__main__":
    sys.exit(main())
