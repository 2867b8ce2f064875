"""What a late submission costs."""

import math

DAY = 24 * 60 * 60  # seconds


def late_penalty(score: float, seconds_late: float, percent: float) -> float | None:
    """Return the points that lateness takes off: `percent` of the score per day that has begun.

    None if the submission is on time, as nbgrader records it.
    """
    if seconds_late <= 0:
        return None
    days = math.ceil(seconds_late / DAY)
    return max(0.0, min(score, score * percent / 100 * days))
