"""Errors that a learner meets: one sentence, no traceback."""


class CourseError(Exception):
    """Something is wrong with the call or the installation, and the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class CheckFailed(CourseError):
    """A check found the answer wrong."""


class NotAnsweredYet(CheckFailed):
    """A check found the stub that the lesson ships."""
