"""The verdicts on every known mistake, slip and alternative, as one JSON file.

Two files, from before and after a change, show whether any verdict differs: points by aspect, the
named mistake, the sentence. `BENCH_TO=before.json make bench BENCH=verdicts`.
"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from autograder.building.hidden import with_hidden, without_fresh
from autograder.judging.verdict import Verdict
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.lessons.variants import Variant
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import PUBLIC, load

SEED = "verdicts"  # seed of the hidden cases
FILE = "build/verdicts.json"  # or whatever BENCH_TO says


def variants(lesson: Lesson, exercise: Exercise) -> Iterator[tuple[str, Variant]]:
    """Yield each variant of a known mistake or alternative, under a label that says which."""
    for mistake in lesson.mistakes(exercise):
        for number, variant in enumerate(mistake.variants):
            yield f"mistake: {mistake.name}, {number}", variant
    for variant in exercise.alternatives:
        yield f"alternative: {variant.name}", variant


def verdicts(lesson_name: str, exercise_name: str) -> dict[str, Any]:
    """Judge an exercise's variants both as the notebook does and as grading does."""
    torch.set_num_threads(1)
    lesson = Lesson(lesson_name)
    shown = load(PUBLIC / f"{lesson_name}.safetensors")
    graded = with_hidden(without_fresh(shown), SEED)
    found = {}
    for label, variant in variants(lesson, lesson.asked[exercise_name]):
        answer = lesson.namespace({exercise_name: variant})[exercise_name]
        for kind, reference in (("checked", shown), ("graded", graded)):
            question, key = reference.questions[exercise_name], reference.keys[exercise_name]
            found[f"{label}, {kind}"] = _plain(judge_answer(answer, question, key))
    return found


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "points": {aspect.name: aspect.points * aspect.held for aspect in verdict.aspects},
        "mistake": verdict.mistake,
        "sentence": verdict.sentence,
        "case": verdict.exhibit and [verdict.exhibit.case, verdict.exhibit.output],
    }


def report() -> None:
    """Write the verdicts on all variants in all lessons."""
    pairs = [(lesson, name) for lesson in lesson_names() for name in Lesson(lesson).asked]
    with ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        found = list(tqdm(pool.map(verdicts, *zip(*pairs, strict=True)), total=len(pairs)))
    named = {f"{lesson}/{name}": each for (lesson, name), each in zip(pairs, found, strict=True)}
    path = Path(os.environ.get("BENCH_TO", FILE))
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(named, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{sum(map(len, named.values()))} verdicts in {path}")
