"""The command `grade-one`: check what it was given, grade, and say and write what came of it.

Modules that load jupytext, nbgrader or torch are imported in functions, as late as possible.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.building.secret import NO_SECRET, own_secret, read_secret
from autograder.errors import CourseError
from autograder.grading.single.outputs import require_writable, write_all
from autograder.grading.term.learner_names import did_you_mean, printable

if TYPE_CHECKING:
    from autograder.grading.single.result import ResultData
    from autograder.lessons.lesson import Lesson

OWN_SECRET = "Name a file with a line of your own: --secret FILE, or SECRET=FILE with make."


def run(options: Namespace) -> int:
    """Grade a notebook; return 0, or 1 if it is not graded. Raises CourseError."""
    with uncollected():
        return _run(options)


def _run(options: Namespace) -> int:
    lesson, notebook, secret = lesson_named(options.lesson), options.notebook, ""
    if not os.path.lexists(notebook):
        raise CourseError(f"There is no file {notebook}. Name the notebook to grade.")
    require_writable(filter(None, (options.json, options.html)), notebook)
    if options.secret:
        secret = _secret(options.secret)
    elif not own_secret():
        print(NO_SECRET, OWN_SECRET, file=sys.stderr)
    with _walls(options):
        result, page = grade_one(notebook, lesson, secret, paged=bool(options.html))
    outputs = {options.json: _as_json(result), options.html: page}
    write_all({path: text for path, text in outputs.items() if path})
    return tell(result)


def grade_one(
    notebook: Path, lesson: Lesson, secret: str = "", paged: bool = False
) -> tuple[ResultData, str]:
    """Return the result, and the page if there is to be one. Raises CourseError.

    The options are those of `grade_notebook`.
    """
    from autograder.grading.single.grading import grade_notebook

    job, graded = grade_notebook(notebook, lesson, secret)
    # Only now, when the sandbox has started: these load nbgrader.
    from autograder.grading.feedback.make_page import make_page
    from autograder.grading.pages.notebook import read_outline
    from autograder.grading.single.facts import facts_of
    from autograder.grading.single.result import result_of

    facts = facts_of(graded.points, job.blueprint, lesson.name)
    outline = read_outline(lesson.notebook_path)
    page = make_page(graded.notebook, graded.run, facts, outline) if paged else ""
    return result_of(graded, job.blueprint, facts, outline), page


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave out garbage collection, which takes a third of the time that imports and exit take."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # the collection at exit skips what there is now
        gc.enable()


@contextmanager
def _walls(options: Namespace) -> Iterator[None]:
    """Grade in a sandbox, or in a container that is asked to be the wall."""
    if not options.in_container:
        yield
        return
    from autograder.sandbox import walls
    from autograder.sandbox.container import Container

    private = [options.secret] if options.secret else []
    folders = [path.parent for path in (options.json, options.html) if path]
    with Container(private, folders) as container, walls.inside(container):
        yield


def lesson_named(name: str) -> Lesson:
    from autograder.lessons.lesson import Lesson, lesson_names

    names = lesson_names()
    if name not in names:
        meant = did_you_mean(name, names) or f" There are: {', '.join(names)}."
        raise CourseError(f"There is no lesson {name}.{meant}")
    return Lesson(name)


def _secret(file: Path) -> str:
    try:
        secret = read_secret(file)
    except OSError as error:
        why = error.strerror
        raise CourseError(f"The secret can't be read from {file} ({why}).") from error
    if not secret:
        raise CourseError(f"There is no secret in {file}. Write a line of your own into it.")
    return secret


def _as_json(result: ResultData) -> str:
    return json.dumps(result, indent=1, ensure_ascii=False) + "\n"


def tell(result: ResultData) -> int:
    """Print a result; return 0, or 1 if the notebook is not graded."""
    from autograder.grading.single.summary import summary
    from autograder.grading.worker.job import Outcome

    print(summary(result))
    if result["outcome"] != Outcome.NOT_GRADED:
        return 0
    print(f"Not graded: {printable(result['reason'])}", file=sys.stderr)
    return 1
