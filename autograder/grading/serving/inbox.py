"""What learners have handed in through nbgrader's exchange."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nbgrader.apps import CollectApp
from nbgrader.exchange.default import ExchangeCollect

from autograder.errors import CourseError


@dataclass(frozen=True)
class Inbox:
    """The folder of a course's exchange with what was handed in, and the course itself."""

    folder: Path
    course: Path

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
        return cls(folder, course)

    def lessons(self) -> list[str]:
        """Return the lessons that were released to the exchange. Raises CourseError."""
        outbound = self.folder.parent / "outbound"
        found = sorted(path.name for path in outbound.iterdir()) if outbound.is_dir() else []
        if not found:
            raise CourseError(f"No lesson is released in {outbound}: nbgrader release_assignment.")
        return found

    def arrived(self, lesson: str) -> set[str]:
        """Return the names of the folders that were handed in for a lesson."""
        return {path.name for path in self.folder.iterdir() if f"+{lesson}+" in path.name}
