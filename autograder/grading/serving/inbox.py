"""What learners have handed in through nbgrader's exchange."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nbgrader.apps import CollectApp
from nbgrader.exchange.default import ExchangeCollect

from autograder.errors import CourseError
from autograder.grading.submission.folder import SECRET


@dataclass(frozen=True)
class Inbox:
    """The folder of a course's exchange with what was handed in."""

    folder: Path

    @classmethod
    def of_course(cls, course: Path) -> Self:
        """Find it by the course's configuration. Raises CourseError."""
        app = CollectApp()
        app.initialize([f"--CourseDirectory.root={course.resolve()}"])
        exchange = ExchangeCollect(coursedir=app.coursedir, parent=app)
        folder = Path(exchange.root, app.coursedir.course_id or "", "inbound")
        if not app.coursedir.course_id or not folder.is_dir():
            raise CourseError(
                f"There is no exchange at {folder}: release a lesson first, with "
                "nbgrader release_assignment LESSON."
            )
        return cls(folder)

    def lessons(self) -> list[str]:
        """Return the lessons that are released in the exchange."""
        outbound = self.folder.parent / "outbound"
        return sorted(path.name for path in outbound.iterdir()) if outbound.is_dir() else []

    def require(self, lessons: Iterable[str]) -> None:
        """Raise CourseError unless these lessons are released; unless any is, if there are none."""
        released = self.lessons()
        if not released:
            raise CourseError(
                f"No lesson is released in {self.folder.parent}: nbgrader release_assignment LESSON"
            )
        for lesson in lessons:
            if lesson not in released:
                raise CourseError(f"{lesson} is not released. Released are: {', '.join(released)}.")

    def arrived(self, lesson: str) -> set[str]:
        """Return the names of the folders that were handed in for a lesson.

        A folder is whole once it has the secret, which nbgrader writes last.
        """
        found = (path for path in self.folder.iterdir() if f"+{lesson}+" in path.name)
        return {path.name for path in found if os.path.lexists(path / SECRET)}
