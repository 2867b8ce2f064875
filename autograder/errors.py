"""Errors that say what to do: for learners and instructors, and for authors."""


class CourseError(Exception):
    """The call or the installation is wrong, and the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        """Give IPython the lines to show instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class NotChecked(CourseError):
    """A check was given another answer than the one on the screen."""


class CheckFailed(CourseError):
    """A check found a wrong answer."""


class NotAnsweredYet(CheckFailed):
    """A check found the lesson's original stub."""


class AuthoringError(Exception):
    """A lesson and its exercises are inconsistent; the message says how."""
