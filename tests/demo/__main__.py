"""`make demo`: a made-up class goes the whole way through nbgrader's own commands.

Its lessons are released, submitted, graded, given feedback, exported and reported on in a course
directory under build/, which stays there, and the grades given are set beside the true ones.
"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from tqdm import tqdm

from autograder.lessons.lesson import Lesson, lesson_names
from autograder.places import ROOT
from tests.demo.made_up_class import LEFT_OPEN, MadeUpSubmission, make_class
from tests.support.classroom import read_verdicts

COURSE = ROOT / "build" / "demo"
STEPS = ("generate_assignment", "autograde", "generate_feedback")


def main(names: list[str]) -> int:
    """Run the demo on the named lessons or on all; return 1 if a grade is wrong."""
    sys.stdout.reconfigure(errors="replace")  # a terminal may lack √
    known = lesson_names()
    if unknown := sorted(set(names) - set(known)):
        print(f"There is no lesson {', '.join(unknown)}, only {', '.join(known)}.")
        return 2
    return 1 if demo([Lesson(name) for name in names or known], COURSE) else 0


def demo(lessons: list[Lesson], course: Path) -> int:
    """Grade a made-up class in `course`, made anew; return how many grades are wrong."""
    shutil.rmtree(course, ignore_errors=True)
    classes = {}
    for lesson in tqdm(lessons, unit="lesson", disable=None):
        classes[lesson.name] = submit(lesson, course)
        for step in STEPS:
            run(course, "nbgrader", step, lesson.name, "--log-level=WARN")
    run(course, "nbgrader", "export", f"--to={course / 'grades.csv'}", "--log-level=WARN")
    wrong = sum(print_grades(lesson, made_up, course) for lesson, made_up in classes.items())
    run(course, sys.executable, "-m", "autograder.course", "report")
    print(f"\nCourse directory: {course.relative_to(ROOT)}")
    return wrong


def submit(lesson: Lesson, course: Path) -> list[MadeUpSubmission]:
    """Put a lesson's source and the submissions of a made-up class into a course directory."""
    shutil.copytree(lesson.notebook_path.parent, course / "solutions" / lesson.name)
    submissions = make_class(lesson)
    for submission in submissions:
        folder = course / "submitted" / submission.learner / lesson.name
        folder.mkdir(parents=True)
        nbformat.write(submission.notebook(lesson), folder / f"{lesson.name}.ipynb")
    return submissions


def run(course: Path, *command: str) -> None:
    """Run a command on the course in `course`. Raises CalledProcessError; its output tells more."""
    print(" ".join(command), flush=True)
    place = "--course" if "-m" in command else "--CourseDirectory.root"
    subprocess.run([*command, f"{place}={course}"], cwd=ROOT, check=True)


def print_grades(lesson: str, submissions: list[MadeUpSubmission], course: Path) -> int:
    """Print true and given grades side by side; return how many submissions differ."""
    grades = exported_grades(course / "grades.csv", lesson)
    verdicts = read_verdicts(course / "autograded", lesson)
    differences = 0
    print(f"\n{lesson}\n{'learner':<12} {'true':>5} {'given':>6}   answers")
    for submission in submissions:
        given = grades[submission.learner]
        points = {name: v["points"] for name, v in verdicts[submission.learner].items()}
        same = given == submission.true_grade and points == submission.true_points
        differences += not same
        answers = ", ".join(submission.answers.get(name, LEFT_OPEN).name for name in points)
        sign = " " if same else "≠"
        print(f"{submission.learner:<12} {submission.true_grade:>5} {given:>6g} {sign} {answers}")
    agreed = len(submissions) - differences
    print(f"given = true for {agreed} of {len(submissions)} submissions")
    return differences


def exported_grades(path: Path, lesson: str) -> dict[str, float]:
    """Read grades by learner from nbgrader's CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == lesson]
    return {row["student_id"]: float(row["score"] or "nan") for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
