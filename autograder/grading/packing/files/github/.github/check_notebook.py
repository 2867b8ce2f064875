"""Run a lesson's notebook, and tell GitHub what its checks found.

The summary of the job gets the points and the cards. The step's output `result` gets the points in
the form of GitHub Classroom's graders: Base64 of JSON, here with one test for each point.
"""

import base64
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.notebook.records import VARIABLE, read_records
from autograder.references import store

CELL_SECONDS = 600
CHECK = re.compile(r"^check\((\w+)\)", re.M)


def main(lesson: str) -> None:
    path, said = Path(f"{lesson}.ipynb"), ""
    os.environ[VARIABLE] = str(Path(tempfile.mkdtemp()) / "points.json")
    notebook = nbformat.v4.new_notebook()
    try:
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=CELL_SECONDS, allow_errors=True).execute()
    except Exception as error:  # a cell may do anything, and its points so far count
        said = f"{path} didn't run to the end: {error}"
    points = points_by_exercise(lesson)
    write("GITHUB_STEP_SUMMARY", "\n\n".join(summary(points, dict(cards(notebook)), said)))
    write("GITHUB_OUTPUT", f"result={as_classroom(points)}")


def points_by_exercise(lesson: str) -> dict[str, tuple[int, int]]:
    """Return the points that were earned, and those that there are; challenges have none."""
    records, points = read_records(), {}
    for exercise, entry in store.entries_by_lesson()[lesson].items():
        record = records.get(exercise)
        if not entry.challenge:
            points[exercise] = (record.points or 0 if record else 0, entry.points)
    return points


def cards(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield each exercise that is checked, with the text of its card."""
    for cell in notebook.cells:
        checked = CHECK.search(cell.source)
        shown = [out.data.get("text/plain", "") for out in cell.get("outputs", []) if "data" in out]
        if checked and shown:
            yield checked[1], shown[-1]


def summary(
    points: dict[str, tuple[int, int]], card_of: dict[str, str], said: str
) -> Iterator[str]:
    earned, most = (sum(column) for column in zip(*points.values(), strict=True))
    yield f"# {earned} of {most} points on the cases that you can see"
    yield "Your grade depends on further cases, which aren't in this repository."
    if said:
        yield f"<pre>{escape(said, quote=False)}</pre>"
    for exercise, (of_this, all_of_it) in points.items():
        card = card_of.get(exercise, "Not checked.")
        yield f"## {exercise}: {of_this} of {all_of_it}"
        yield f"<pre>{escape(card, quote=False)}</pre>"


def as_classroom(points: dict[str, tuple[int, int]]) -> str:
    tests = [
        {
            "name": f"{exercise}, point {point} of {most}",
            "status": "pass" if point <= earned else "fail",
            "score": int(point <= earned),
            "line_no": 0,
        }
        for exercise, (earned, most) in points.items()
        for point in range(1, most + 1)
    ]
    complete = all(test["score"] for test in tests)
    result = {
        "version": 1,
        "status": "pass" if complete else "fail",
        "max_score": len(tests),
        "tests": tests,
    }
    return base64.b64encode(json.dumps(result).encode()).decode()


def write(variable: str, text: str) -> None:
    """Append to a file of GitHub's, or print where there is none."""
    with open(os.environ.get(variable, os.devnull), "a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1])
