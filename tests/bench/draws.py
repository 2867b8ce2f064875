"""Whether a grade depends on the draw: all variants of all lessons, each judged with many draws.

An alternative is right, so it should lose nothing under any draw, nor come near to it. A known
mistake should lose the same aspects under all of them. It takes a quarter of an hour.
"""

from collections import Counter
from collections.abc import Iterator

from tqdm import tqdm

from autograder.asking.collect import collect
from autograder.building.hidden import grading_reference
from autograder.judging.compare import Comparison
from autograder.judging.judgment import Judgment
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.lessons.variants import Variant
from autograder.references.store import LessonReference
from tests.demo.made_up_class import own_mistakes

OF_ALTERNATIVES, OF_MISTAKES = 30, 10  # draws of each
NEAR = 0.5  # of the error that is allowed: what comes so near may exceed it in another draw
SLOW = "train_completer"  # it trains a model for each case


def report() -> None:
    """Print the variants whose points depend on the draw, or might, and what it is about."""
    for name in lesson_names():
        lesson = Lesson(name)
        references = [grading_reference(name, f"draw {i}") for i in range(OF_ALTERNATIVES)]
        print(f"  {name}")
        for exercise in tqdm(lesson.exercises, disable=None, leave=False):
            if exercise.name == SLOW:
                continue
            for variant in exercise.alternatives:
                judgments = [*judgments_of(lesson, exercise, variant, references)]
                _print_losses(exercise, variant, judgments, 0)
                _print_nearest(exercise, variant, judgments)
            for variant in own_mistakes(lesson, exercise):
                judgments = [*judgments_of(lesson, exercise, variant, references[:OF_MISTAKES])]
                _print_losses(exercise, variant, judgments, OF_MISTAKES)


def judgments_of(
    lesson: Lesson, exercise: Exercise, variant: Variant, references: list[LessonReference]
) -> Iterator[Judgment]:
    """Judge a variant with each draw."""
    answer = lesson.namespace({exercise.name: variant})[exercise.name]
    for reference in references:
        question, key = reference.questions[exercise.name], reference.keys[exercise.name]
        yield Judgment(key, collect(answer, question))


def lost_by(judgment: Judgment) -> list[str]:
    """Name the aspects that an answer loses."""
    results = map(judgment.result, judgment.aspects)
    return [result.name for result in results if not result.held]


def _print_losses(
    exercise: Exercise, variant: Variant, judgments: list[Judgment], all_draws: int
) -> None:
    """Print the aspects that a variant loses in some draws."""
    lost = Counter(aspect for judgment in judgments for aspect in lost_by(judgment))
    for aspect, count in lost.items():
        if count != all_draws:
            print(f"    {variant.name}: loses {exercise.name}, {aspect} with {count} draws")


def _print_nearest(exercise: Exercise, variant: Variant, judgments: list[Judgment]) -> None:
    """Print the output that comes nearest to being wrong, if it comes near."""
    used = ((_used(one), one.label, one.name) for each in judgments for one in _comparisons(each))
    most, label, name = max(used, default=(0.0, "", ""))
    if most > NEAR:
        print(f"    {variant.name}: {exercise.name}, {name} of {label!r} uses {most:.0%}")


def _comparisons(judgment: Judgment) -> Iterator[Comparison]:
    """Yield the outputs that count and that are rounded."""
    for aspect in judgment.aspects:
        for index in aspect.cases:
            answered = judgment.answers[index].tensors
            for name in judgment.counted(aspect, index):
                if name in answered and answered[name].is_floating_point():
                    yield judgment.comparison(index, name)


def _used(comparison: Comparison) -> float:
    """Return the part of the allowed error that an output has."""
    if comparison.most_error is not None:
        return comparison.error / comparison.most_error
    if not comparison.tolerance or comparison.got.shape != comparison.expected.shape:
        return 0.0
    off = (comparison.got.double() - comparison.expected.double()).abs()
    off = off[off.isfinite()]  # two infinities are equal
    return off.max().item() / comparison.tolerance if off.numel() else 0.0
