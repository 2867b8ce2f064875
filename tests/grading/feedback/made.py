"""Hand-made graded notebooks and what the gradebook says about them."""

from dataclasses import replace
from datetime import datetime

from bs4 import BeautifulSoup
from nbformat.v4 import new_output

from autograder.grading.feedback.feedback_page import GradedNotebook, NotGraded, render_page
from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.pages.notebook import NotebookCell, Outline
from autograder.grading.worker.graded_cells import SHOWN, VERDICT
from autograder.judging.card import verdict_card
from autograder.judging.verdict import AspectResult, Verdict
from autograder.lessons.cells import nbgrader_metadata

LESSON = "01_of_two_exercises"
ANSWER = "def {}(x):\n    return x\n"
MISTAKE = "Where is `exp`?"


def verdict(exercise, points, most=4, **facts):
    aspects = [
        AspectResult("the shape", points, True),
        AspectResult("values", most - points, False),
    ]
    aspects = [aspect for aspect in aspects if aspect.points]
    return Verdict(exercise, LESSON, aspects, **facts)


def exercise(name, points, sentence="", **facts):
    """Make a solution cell and its judged check."""
    found = verdict(name, points, sentence=sentence, **facts)
    card = verdict_card(found)
    outputs = [new_output("display_data", {"text/html": card.html, "text/plain": card.text})]
    about = nbgrader_metadata(f"check_{name}", points=4)
    return [
        solution(name, ANSWER.format(name)),
        code(f"check({name})", outputs, nbgrader=about, **{VERDICT: found.summary()}),
    ]


def solution(name, source):
    return code(source, nbgrader=nbgrader_metadata(name, solution=True))


def asserting(name, source, points, *outputs):
    """Make an instructor's own test."""
    return code(source, outputs, nbgrader=nbgrader_metadata(name, points=points))


def written(name, source, points):
    """Make an answer that a person reads."""
    about = nbgrader_metadata(name, solution=True, points=points, grade=True)
    return markdown(source, nbgrader=about)


def task(name, source, points):
    return markdown(source, nbgrader=nbgrader_metadata(name, points=points, grade=False, task=True))


def code(source, outputs=(), **metadata):
    return NotebookCell(0, "code", source, metadata=metadata, outputs=tuple(outputs))


def shown(source, *outputs):
    """Make a cell of the course that did not run."""
    return code(source, outputs, **{SHOWN: True})


def markdown(source, attachments=None, **metadata):
    return NotebookCell(0, "markdown", source, metadata=metadata, attachments=attachments or {})


def notebook(*cells):
    return tuple(
        replace(cell, number=number, name=cell.metadata.get("nbgrader", {}).get("grade_id"))
        for number, cell in enumerate(cells, 1)
    )


def facts(cells, comments=None, learner="Ada King", untouched=(), late_percent=None, **more):
    """Make facts.

    cells: the maximum, the check's points and the instructor's points, by name.
    """
    grade = Grade(tuple(CellGrade(name, *given) for name, given in cells.items()), **more)
    return NotebookFacts(learner, LESSON, LESSON, grade, comments or {}, untouched, late_percent)


def page(cells, known, title="1. Of two exercises", order=(), why="", cause=""):
    """Render a page, and parse it."""
    outline, not_graded = Outline(title, tuple(order)), NotGraded(why, cause or why)
    return parsed(render_page(GradedNotebook(notebook(*cells), known, outline, not_graded)))


def parsed(html):
    return BeautifulSoup(html.replace("<wbr>", ""), "html.parser")


def words(element):
    """Return an element's text, with single spaces."""
    return " ".join(element.get_text(" ").split())


def rows(soup):
    """Return the rows of the table of exercises, each as its cells' words."""
    table = soup.select_one("table.exercises")
    return [[words(cell) for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")][
        1:
    ]


TWO = [*exercise("softmax", 4), *exercise("attend", 1, MISTAKE)]
POINTS = {"check_softmax": (4, 4, None), "check_attend": (4, 1, None)}
MONDAY = datetime(2026, 9, 21, 14, 5)
