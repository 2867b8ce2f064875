"""The notebook that opens first: where to start, how far one is, and how a notebook is run."""

from collections.abc import Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring.stated import link, listed
from autograder.lessons.cells import KERNEL, LANGUAGE
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT

START_PAGE = ROOT / "notebooks" / "start.ipynb"
WELCOME = """# Attention from Scratch

Start with {first}. Each lesson builds on those before it.

## How to run a notebook

- **Shift+Enter** runs a cell and moves on to the next. Try it: click on the cell below, and press
  both keys. You will see how far you are.
- Run the cells **from the top, in order**. Each builds on those above it.
- After a break, or when the kernel restarts, everything that the cells made is gone. Click on the
  cell where you want to go on, and choose *Run All Above Selected Cell* from the *Run* menu.
- An **exercise** is a cell that says `YOUR CODE HERE`. Write your code there, run the cell, and run
  the `check` below it. When you are stuck, `hint("…")` helps."""
PROGRESS = "from autograder import progress\n\nprogress()"
LESSONS = """## The lessons

| lesson | minutes | points | then you can |
|---|---|---|---|
{rows}"""


def start_page(lessons: Sequence[Lesson]) -> NotebookNode:
    """Make the notebook. Raises AuthoringError if a lesson lacks what its row states."""
    rows = "".join(map(listed, lessons)).rstrip()
    cells = [
        new_markdown_cell(WELCOME.format(first=link(lessons[0])), id="start"),
        new_code_cell(PROGRESS, id="progress"),
        new_markdown_cell(LESSONS.format(rows=rows), id="lessons"),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": LANGUAGE})
