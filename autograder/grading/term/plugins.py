"""nbgrader's plugin for late submissions: the rule is the `late_percent` of lessons.csv."""

from nbgrader.plugins import LateSubmissionPlugin

from autograder.grading.term.course import course_directory, course_term
from autograder.grading.term.penalty import late_penalty
from autograder.grading.term.tables import terms_of


class LatePercent(LateSubmissionPlugin):
    """Takes a percentage of the score for each day late that has begun.

    For a lesson without `late_percent`, nbgrader's `penalty_method` holds; by default, that takes
    off nothing.
    """

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points to take off, or None if there is no rule. Raises CourseError."""
        # nbgrader's AssignLatePenalties, the parent, knows which assignment it is.
        term = course_term(course_directory(self))
        percent = terms_of(term, self.parent.assignment_id).late_percent
        if percent is None:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        return late_penalty(score, total_seconds_late, percent)
