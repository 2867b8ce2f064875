"""What each patch of a library buys that `patches.py` makes for speed.

Grades the same submissions, all of whose answers fail, with a copy of the grader that lacks the
patch, in turns with the whole grader, so that a busy machine slows both equally.
"""

import resource
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from autograder.lessons.lesson import ROOT
from tests.demo.made_up_class import make_class
from tests.support.classroom import LESSON, command, hand_in, release, start_program

COUNT = 24
ROUNDS = 5
NEEDED = ("autograder", "utils", "solutions", "nbgrader_config.py", "pyproject.toml")
INSIDE = "autograder/sandbox/inside/seams.py"
OUTSIDE = "autograder/grading/engine/patches.py"
# For each patch, edits that take it away: file, old code, new code.
WITHOUT: dict[str, list[tuple[str, str, str]]] = {
    "(all are there)": [],
    "getmodule": [(INSIDE, "    inspect.getmodule = _module_of\n", "")],
    "one engine": [(OUTSIDE, "    gradebooks.create_engine = _engine\n", "")],
}


@dataclass
class Cost:
    """Seconds to grade one submission: by the clock, and of the processor."""

    clock: float
    processor: float


def report() -> None:
    """Print what grading costs without each of the patches, as ratios."""
    with tempfile.TemporaryDirectory() as folder:
        graders = {name: grader_without(name, Path(folder)) for name in WITHOUT}
        course = Path(folder) / "course"
        _make_course(course)
        costs: dict[str, list[Cost]] = {name: [] for name in WITHOUT}
        for name in tqdm(list(WITHOUT) * ROUNDS, desc="grading", leave=False):
            costs[name].append(grade(course, graders[name]))
    print(f"{COUNT} submissions of {LESSON.name}, one worker, medians of {ROUNDS} runs:")
    whole = _median(costs["(all are there)"])
    for name, cost in ((name, _median(found)) for name, found in costs.items()):
        print(
            f"  without {name:<18} {cost.clock:.3f} s a submission, {cost.clock / whole.clock:.3f} "
            f"times; processor {cost.processor:.3f} s, {cost.processor / whole.processor:.3f} times"
        )


def _make_course(course: Path) -> None:
    """Release the lesson and hand in answers that show a traceback each."""
    release(course)
    notebook = make_class(LESSON, 1)[0].notebook(LESSON)
    for cell in notebook.cells:
        cell.source = cell.source.replace("    return ", "    1 / 0\n    return ")
    for number in range(COUNT):
        hand_in(course, f"learner_{number:03}", notebook)


def grader_without(name: str, folder: Path) -> Path:
    """Copy the grader and take one patch away."""
    copy = folder / name.replace(" ", "_")
    copy.mkdir()
    for part in NEEDED:
        take = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        take(ROOT / part, copy / part)
    for file, old, new in WITHOUT[name]:
        source = (copy / file).read_text(encoding="utf-8")
        if source.count(old) != 1:
            raise ValueError(f"{name}: {old!r} occurs {source.count(old)} times in {file}")
        (copy / file).write_text(source.replace(old, new), encoding="utf-8")
    return copy


def grade(course: Path, grader: Path) -> Cost:
    """Grade everything in the course from scratch, with one worker."""
    shutil.rmtree(course / "autograded", ignore_errors=True)
    before, begin = _processor_seconds(), time.perf_counter()
    arguments = command(course, "autograde", LESSON.name, "--Autograde.jobs=1")
    said = course / "said.txt"
    if start_program(arguments, said, grader, PYTHONPATH=str(grader)).wait():
        raise RuntimeError(said.read_text(encoding="utf-8")[-2000:])
    seconds = time.perf_counter() - begin
    return Cost(seconds / COUNT, (_processor_seconds() - before) / COUNT)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.clock for cost in costs),
        statistics.median(cost.processor for cost in costs),
    )
