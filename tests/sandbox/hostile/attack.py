"""An attack, and the notebook that it hands in."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.lessons.lesson import Lesson
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission

LESSON = Lesson("01_dot_product_attention")
POINTS = {exercise.name: exercise.points for exercise in LESSON.exercises}
IMPORTS = """
import torch
from jaxtyping import Float
from torch import Tensor

from autograder import check
"""
SPIN = 20  # seconds of processor time, more than a notebook has
SLEEP = 7200  # seconds, more than anyone waits
# Tools for attacks: the stage's facts, and a way to try something that must fail.
TOOLS = """
import ctypes, os, signal, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)

def attempt(action):
    try:
        print("HELD NOT:", repr(action())[:300])
    except Exception as error:
        print(f"held: {type(error).__name__}: {error}")

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
    return f"{name} went through"
"""


@dataclass(frozen=True)
class Attack:
    """A hostile submission to lesson 1.

    tries: what it tries, in one line.
    honest: the exercises that it answers correctly.
    earns: the exercises that earn their points.
    first, last: cells before and after the others.
    answers: code that replaces a solution.
    change: changes the notebook.
    lay: puts files next to it, given its folder and the stage's facts.
    told: what must be found in the reason or the outputs, as a sign that the attack really ran.
    outcome: "graded" or "not graded", if it matters.
    """

    name: str
    tries: str
    first: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    last: str = ""
    honest: tuple[str, ...] = ("query_scores",)
    earns: tuple[str, ...] | None = None
    change: Callable[[NotebookNode], object] | None = None
    lay: Callable[[Path, Mapping[str, Any]], object] | None = None
    told: str = ""
    outcome: str = ""

    @property
    def points(self) -> dict[str, int]:
        """The points that each exercise must earn."""
        earns = self.honest if self.earns is None else self.earns
        return {name: POINTS[name] if name in earns else 0 for name in POINTS}

    def notebook(self, facts: Mapping[str, Any]) -> NotebookNode:
        """Make the notebook to hand in.

        facts: the stage's facts by name.
        """
        notebook = short_notebook(*self.honest)
        for cell in notebook.cells:
            source = self.answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            cell.source = cell.source if source is None else dedent(source)
        known = "\n".join(f"{name} = {value!r}" for name, value in facts.items())
        notebook.cells[1:1] = [new_code_cell(TOOLS + known), *_cells(self.first)]
        notebook.cells += _cells(self.last)
        if self.change:
            self.change(notebook)
        return notebook


def short_notebook(*honest: str) -> NotebookNode:
    """Make the released lesson with only its imports and nbgrader's cells, partly answered."""
    notebook = MadeUpSubmission("", dict.fromkeys(honest, SOLUTION)).notebook(LESSON)
    notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    notebook.cells.insert(0, new_code_cell(IMPORTS))
    return notebook


def find(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """Find nbgrader's cell with this name."""
    return next(
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def write(folder: Path, name: str | bytes, data: bytes) -> None:
    """Write a file; its name need not be valid text."""
    path = os.path.join(os.fsencode(folder), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(data)


def _cells(source: str) -> list[NotebookNode]:
    return [new_code_cell(dedent(part).strip()) for part in source.split("# NEXT CELL") if part]
