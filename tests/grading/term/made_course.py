"""A course directory with a handmade gradebook: no lesson is run, and nothing is graded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook

COURSE_ID = "attention-from-scratch"
FIRST, SECOND = "01_first", "02_second"


@dataclass(frozen=True)
class MadeCourse:
    """A course directory; each lesson has cells `a` and `b` of 10 and 5 points."""

    root: Path

    @property
    def address(self) -> str:
        return f"sqlite:///{self.root}/gradebook.db"

    @contextmanager
    def book(self) -> Iterator[Gradebook]:
        with Gradebook(self.address, COURSE_ID) as book:
            yield book

    def add_lesson(self, name: str, due: str | None = None) -> None:
        for step in ("solutions", "notebooks"):
            self.write(f"{step}/{name}/{name}.ipynb", "{}")
        with self.book() as book:
            book.add_assignment(name, duedate=due)
            book.add_notebook(name, name)
            for cell, most in (("a", 10), ("b", 5)):
                book.add_grade_cell(cell, name, name, max_score=most, cell_type="code")

    def hand_in(self, learner: str, lesson: str, *points: float | None, **facts: object) -> None:
        """Enter a graded submission.

        points: for `a` and `b`; None where there are none yet.
        facts: timestamp, penalty, manual (points for `b`), waiting (for a person to look at `a`).
        """
        with self.book() as book:
            book.update_or_create_student(learner)
            book.add_submission(lesson, learner, timestamp=facts.get("timestamp"))
            for cell, score in zip("ab", points, strict=True):
                grade = book.find_grade(cell, lesson, lesson, learner)
                grade.auto_score, grade.needs_manual_grade = score, score is None
                if cell == "b" and "manual" in facts:
                    grade.manual_score, grade.needs_manual_grade = facts["manual"], False
                if cell == "a" and "waiting" in facts:
                    grade.needs_manual_grade = facts["waiting"]
            notebook = book.find_submission_notebook(lesson, lesson, learner)
            notebook.late_submission_penalty = facts.get("penalty")
            book.db.commit()

    def submission(self, learner: str, lesson: str) -> tuple[datetime, float, float]:
        """Return due date, seconds late and penalty of a submission."""
        with self.book() as book:
            found = book.find_submission(lesson, learner)
            return found.duedate, found.total_seconds_late, found.late_submission_penalty

    def write(self, name: str, text: str, encoding: str = "utf-8") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(encoding))
        return path


def make_course(root: Path) -> MadeCourse:
    """Make a course directory with two lessons; the first was due on 2026-10-05 at noon UTC."""
    root.mkdir(parents=True, exist_ok=True)
    course = MadeCourse(root)
    course.add_lesson(FIRST, "2026-10-05 12:00")
    course.add_lesson(SECOND)
    return course
