"""The pages that show an attack to its learner and to instructors: is any lost, or does it act?"""

from collections.abc import Iterator
from html.parser import HTMLParser

from autograder.grading.feedback.make_page import make_page
from autograder.grading.formgrader.submission_page import page_parts
from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.gradebook.notebook_facts import Fields, NotebookFacts
from autograder.grading.pages.notebook import Outline
from tests.sandbox.hostile.attack import LESSON, POINTS

MOST = {f"check_{name}": points for name, points in POINTS.items()}
FACTS = NotebookFacts(
    "Mallory",
    LESSON.name,
    LESSON.name,
    Grade(tuple(CellGrade(name, points, 0.0, None) for name, points in MOST.items())),
    {},
)
UNSHOWN = "can't be shown here"
ACTIVE = {"script", "iframe", "object", "embed", "form", "input", "button", "base", "link", "svg"}
HARMLESS = ("#", "data:image/")


def wrong_pages(graded: bytes) -> Iterator[str]:
    """Yield what is wrong with the pages of a graded notebook: feedback, and formgrader's."""
    page = make_page(graded, {}, FACTS, Outline("Title"))
    if UNSHOWN in page:
        yield f"feedback does not show it: {page.split(UNSHOWN)[1][:300]}"
    parts, trouble = page_parts(graded, Fields(MOST, MOST))
    if trouble:
        yield f"formgrader does not show it: {trouble}"
    for html in (page, *(part.source + part.outputs for part in parts)):
        reader = _Reader()
        reader.feed(html)
        yield from (f"a page has {found[:300]}" for found in reader.active)


class _Reader(HTMLParser):
    """Collects the tags and attributes that act or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE:
            self.active.append(f"<{tag}>")
        for name, value in attrs:
            leads_out = name in ("href", "src") and not (value or "").startswith(HARMLESS)
            if leads_out or name.startswith("on"):
                self.active.append(f"<{tag} {name}={value!r}>")
