"""What an executed lesson shows, for pages and pictures elsewhere."""

import re

import nbformat

from autograder.errors import AuthoringError
from autograder.lessons.lesson import Lesson

IMAGE = re.compile(r'src="(data:image/[^"]+)"')


def shown(lesson: Lesson, call: str) -> str:
    """Return as HTML what the first cell with this call shows.

    call: such as "view_heads(", at the beginning of a line. Raises AuthoringError.
    """
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    for cell in notebook.cells:
        if re.search(f"^{re.escape(call)}", cell.source, re.M) and cell.get("outputs"):
            return cell.outputs[-1].data["text/html"]
    raise AuthoringError(f"no cell of {lesson.notebook_path.name} shows {call}…)")


def still(lesson: Lesson, call: str) -> str:
    """Return the image in it, as a data: URL. Raises AuthoringError."""
    found = IMAGE.search(shown(lesson, call))
    if not found:
        raise AuthoringError(f"what {call}…) shows in {lesson.notebook_path.name} has no image")
    return found[1]
