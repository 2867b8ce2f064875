"""State points and minutes where people read them, each from the one place that knows it.

An exercise knows its points, the text's headings how long each takes, and the table at its top how
long the lesson takes. What is added here is left out again on the way back from a notebook to its
text.
"""

import re
from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from autograder.lessons.errors import AuthoringError
from autograder.lessons.lesson import Lesson

HEADING = re.compile(r"^(### Exercise \d+: `(\w+)` \()(?:\d+ points?, )?(\d+ minutes\))", re.M)
ROW = re.compile(r"^\| \*\*Exercises\*\* \|.*\n?", re.M)
TIME = re.compile(r"^\| \*\*Time\*\* \| (\d+) minutes", re.M)
LAST_ROW = re.compile(r"^(\| \*\*You can then\*\* \|.*\n)", re.M)


def state_points(cells: Iterable[NotebookNode], points: Mapping[str, int]) -> None:
    """Add the points to the headings of exercises, and their sum to the table at the top.

    points: by exercise. A heading of something else stays as it is.
    """
    total = f"| **Exercises** | {len(points)}, together {sum(points.values())} points |\n"
    for cell in cells:
        if cell.cell_type == "markdown":
            text = leave_out_points(cell.source)
            text = HEADING.sub(lambda match: _heading(match, points), text)
            cell.source = LAST_ROW.sub(lambda match: match[1] + total, text)


def leave_out_points(text: str) -> str:
    """Return a markdown cell as it stands in a lesson's text."""
    return ROW.sub("", HEADING.sub(r"\1\3", text))


def stated_in_readme(readme: str, lesson: Lesson) -> str:
    """Return the README with the lesson's minutes and points in its table of lessons.

    Raises AuthoringError.
    """
    minutes = TIME.search(lesson.notebook.cells[0].source)
    if not minutes:
        raise AuthoringError(
            f"The first cell of {lesson.text_path.name} does not say how long the lesson takes. "
            "Add a row to its table: | **Time** | 60 minutes |"
        )
    points = sum(exercise.points for exercise in lesson.exercises)
    row = re.compile(rf"^(\| \[.*\]\(notebooks/{lesson.name}/.*\) \|).*$", re.M)
    return row.sub(rf"\1 {minutes[1]} | {points} |", readme)


def _heading(match: re.Match[str], points: Mapping[str, int]) -> str:
    if match[2] not in points:
        return match[0]
    many = points[match[2]]
    return f"{match[1]}{many} point{'s' * (many != 1)}, {match[3]}"
