"""Sixty submissions, twenty of them hostile, compared with a batch where all are honest.

The hostile ones are of all kinds. Honest grades and pages should be the same in both batches.
"""

import tempfile
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from tests.demo.made_up_class import make_class
from tests.sandbox.hostile import ATTACKS
from tests.sandbox.hostile.stage import Stage
from tests.sandbox.probes import HOME, broken_walls
from tests.support.classroom import (
    LESSON,
    command,
    gradebook,
    hand_in,
    release,
    scores,
    start_program,
)

HONEST, HOSTILE = 40, 20


@dataclass
class Batch:
    """A course that has been graded.

    pages: how many honest learners got feedback.
    """

    grading: float
    feedback: float
    grades: dict[str, float]
    pages: int


def report() -> None:
    """Print how long both take, and how many honest grades and pages are right."""
    if broken := broken_walls():
        print("The walls do not hold, so nothing is run:", *broken, sep="\n  ")
        return
    made = islice(cycle(make_class(LESSON)), HONEST)
    true = {f"honest_{number:02}": one for number, one in enumerate(made)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "stage")
        place.mkdir()
        stage = Stage(place, HOME)
        try:
            calm = _graded(Path(folder, "calm"), true, None)
            rough = _graded(Path(folder, "rough"), true, stage)
        finally:
            stage.close()
    right = sum(rough.grades[name] == one.true_grade for name, one in true.items())
    print(
        f"  grading {calm.grading:.0f} s, with {HOSTILE} hostile ones {rough.grading:.0f} s: "
        f"{rough.grading / calm.grading:.2f} times (aim: 1.5)\n"
        f"  feedback {calm.feedback:.0f} s and {rough.feedback:.0f} s\n"
        f"  true grades for {right} of {HONEST} honest ones, and {rough.pages} pages"
    )


def _graded(course: Path, honest: dict, stage: Stage | None) -> Batch:
    """Make a course, and grade it.

    stage: where the hostile submissions come from; None for none.
    """
    release(course)
    for name, made in honest.items():
        hand_in(course, name, made.notebook(LESSON))
    others = islice(cycle(honest.values()), HOSTILE)
    for number, (attack, made) in enumerate(zip(_attacks(), others, strict=True)):
        name = f"other_{number:02}"
        notebook = attack.notebook(stage.facts) if stage else made.notebook(LESSON)
        hand_in(course, name, notebook)
        if stage and attack.lay:
            attack.lay(course / "submitted" / name / LESSON.name, stage.facts)
    grading = _seconds(course, "autograde", LESSON.name)
    feedback = _seconds(course, "generate_feedback", LESSON.name)
    found = [course / "feedback" / name / LESSON.name / f"{LESSON.name}.html" for name in honest]
    return Batch(grading, feedback, scores(gradebook(course)), sum(map(Path.is_file, found)))


def _attacks() -> list:
    """Take attacks from all parts of the list."""
    return [ATTACKS[number * len(ATTACKS) // HOSTILE] for number in range(HOSTILE)]


def _seconds(course: Path, *arguments: str) -> float:
    begin = time.perf_counter()
    start_program(command(course, *arguments), course / "said.txt").wait()
    return time.perf_counter() - begin
