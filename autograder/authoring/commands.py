"""The author's commands, each for the lessons that are named, or for all."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches

import torch
from tqdm import tqdm

from autograder.asking import QUESTIONS_VARIABLE
from autograder.atomic_writes import write_whole
from autograder.authoring.stated import stated_in_readme
from autograder.building.sources import source_digest
from autograder.errors import AuthoringError, CourseError
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.notebook.records import VARIABLE as PROGRESS_VARIABLE
from autograder.places import ROOT
from autograder.references.store import PUBLIC, LessonReference, load

README = ROOT / "README.md"


def lessons(lesson: Lesson) -> None:
    """Build and execute the source notebook."""
    from autograder.authoring.notebooks import build_notebook, execute, require_no_errors, write

    notebook = build_notebook(lesson)
    lesson.notebook_path.parent.mkdir(exist_ok=True)
    executed = execute(notebook, lesson.notebook_path.parent)
    require_no_errors(executed)
    write(executed, lesson.notebook_path)
    readme = README.read_text(encoding="utf-8")
    write_whole(README, stated_in_readme(readme, lesson).encode())


def draft(lesson: Lesson) -> None:
    """Build the reference file."""
    from autograder.building.reference import build

    _keep(build(lesson))


def reference(lesson: Lesson) -> None:
    """Build the reference file, and keep it if no mutant gets past a check."""
    from autograder.building.reference import build

    built = build(lesson)
    _try_mutants(lesson, built)
    _keep(built)


def _keep(reference: LessonReference) -> None:
    PUBLIC.mkdir(exist_ok=True)
    write_whole(PUBLIC / f"{reference.lesson}.safetensors", reference.to_bytes())


def text(lesson: Lesson) -> None:
    """Carry an edited source notebook back into the lesson's text."""
    from autograder.authoring.notebooks import write_text

    write_text(lesson.notebook_path, lesson.text_path)


def release(lesson: Lesson) -> None:
    """Make the learner's notebook with nbgrader, unless the existing one has answers in it."""
    from autograder.authoring.notebooks import answered_cells, write
    from autograder.authoring.start_page import START_PAGE, start_page

    answered = answered_cells(lesson.released_path)
    if answered:
        raise AuthoringError(
            f"{lesson.released_path.relative_to(ROOT)} holds answers to {', '.join(answered)}; "
            "a release would overwrite them. Move the file away first."
        )
    command = ["nbgrader", "generate_assignment", "--force", "--log-level=ERROR", lesson.name]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise AuthoringError("nbgrader did not release it; its message above says why")
    write(start_page([*map(Lesson, lesson_names())]), START_PAGE)


def site(lesson: Lesson) -> None:
    """Write the lesson's page of the site, for Sphinx."""
    from autograder.authoring.site import write_page

    write_page(lesson)


def mistakes(lesson: Lesson) -> None:
    """Print the outcome of every known mistake and every alternative."""
    from autograder.authoring.table import outcomes, print_table
    from autograder.building.reference import build

    print_table(lesson.name, outcomes(lesson, build(lesson)))


def mutants(lesson: Lesson) -> None:
    """Print what the checks do with the mutants.

    Raises AuthoringError if a check is not sound, or if the lesson's reference is not up to date.
    """
    stored = load(PUBLIC / f"{lesson.name}.safetensors")
    if stored.source != source_digest(lesson):
        raise AuthoringError(
            "its checks have changed since their reference was built. Build it: "
            f"make draft LESSON={lesson.name}"
        )
    _try_mutants(lesson, stored)


def _try_mutants(lesson: Lesson, reference: LessonReference) -> None:
    from autograder.authoring.mutants.survey import (
        print_surveys,
        record,
        require_clear_words,
        require_soundness,
        survey_lesson,
    )

    surveys = print_surveys(lesson.name, survey_lesson(lesson, reference))
    require_soundness(surveys)
    if not lesson.only:
        require_clear_words(surveys)
        record(lesson, surveys)


COMMANDS: dict[str, Callable[[Lesson], None]] = {
    command.__name__: command
    for command in (reference, draft, lessons, text, release, site, mistakes, mutants)
}


def run(command: str, names: Sequence[str], exercise: str = "") -> int:
    """Run a command for the lessons named, or for all; return 1 if it fails for any of them.

    exercise: the only one to run it for. Raises CourseError if there is no such lesson or exercise.
    """
    chosen = _chosen(names, exercise)
    torch.set_num_threads(1)  # many threads make small tensors 100 times slower
    # Checks in a lesson being built must judge, whatever the caller's environment says.
    os.environ.pop(QUESTIONS_VARIABLE, None)
    os.environ[PROGRESS_VARIABLE] = ""  # and the author's own progress as a learner must not show
    for lesson in tqdm(chosen, desc=command, disable=None):
        try:
            COMMANDS[command](lesson)
        except (AuthoringError, CourseError) as error:
            print(f"{lesson.name}: {error}", file=sys.stderr)
            return 1
    return 0


def _chosen(names: Sequence[str], exercise: str) -> list[Lesson]:
    known = lesson_names()
    if unknown := sorted(set(names) - set(known)):
        raise CourseError(f"There is no lesson {', '.join(unknown)}, only {', '.join(known)}.")
    lessons = [Lesson(name, only=exercise) for name in names or known]
    if not exercise:
        return lessons
    if not (found := [lesson for lesson in lessons if exercise in lesson.solutions]):
        there = [name for lesson in lessons for name in lesson.solutions]
        near = get_close_matches(exercise, there, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(there)}."
        raise CourseError(f"There is no exercise {exercise}. {hint}")
    return found
