"""Whether a grade depends on the draw: all variants of all lessons, each judged with many draws.

An alternative is right, so it should lose nothing under any draw. A known mistake should lose the
same aspects under all of them. It takes a quarter of an hour.
"""

from collections import Counter
from collections.abc import Iterable

from tqdm import tqdm

from autograder.asking.collect import collect
from autograder.building.hidden import grading_reference
from autograder.judging.judge import judge
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.lessons.variants import Variant
from autograder.references.store import LessonReference
from tests.demo.made_up_class import own_mistakes

OF_ALTERNATIVES, OF_MISTAKES = 100, 10  # draws of each
SLOW = "train_completer"  # it trains a model for each case


def report() -> None:
    """Print the variants whose points depend on the draw, and the aspects in question."""
    for name in lesson_names():
        lesson = Lesson(name)
        references = [grading_reference(name, f"draw {i}") for i in range(OF_ALTERNATIVES)]
        print(f"  {name}")
        for exercise in tqdm(lesson.exercises, disable=None, leave=False):
            if exercise.name == SLOW:
                continue
            for variant in exercise.alternatives:
                _print(variant, _losses(lesson, exercise, variant, references), 0)
            for variant in own_mistakes(lesson, exercise):
                losses = _losses(lesson, exercise, variant, references[:OF_MISTAKES])
                _print(variant, losses, OF_MISTAKES)


def _losses(
    lesson: Lesson, exercise: Exercise, variant: Variant, references: Iterable[LessonReference]
) -> Counter[str]:
    """Count with how many draws each aspect is lost."""
    answer = lesson.namespace({exercise.name: variant})[exercise.name]
    lost: Counter[str] = Counter()
    for reference in references:
        question, key = reference.questions[exercise.name], reference.keys[exercise.name]
        aspects = judge(key, collect(answer, question)).aspects
        lost.update(f"{exercise.name}, {a.name}" for a in aspects if not a.held)
    return lost


def _print(variant: Variant, losses: Counter[str], all_draws: int) -> None:
    for aspect, count in losses.items():
        if count != all_draws:
            print(f"    {variant.name}: loses {aspect} with {count} draws")
