"""The reference for grading: public cases, and hidden ones that no two submissions share.

They are drawn from the course's secret and the submission. Grading a submission again gives it the
same cases, and printing them helps nobody, since any change to a submission changes its cases.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

from autograder.asking.question import Question
from autograder.building.drawing import Drawing
from autograder.building.expected import Solution
from autograder.building.sources import source_digest
from autograder.errors import CourseError
from autograder.judging.key import AnswerKey
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson
from autograder.lessons.parts import Judged
from autograder.places import IS_REPOSITORY
from autograder.references.store import PUBLIC, LessonReference, load


def grading_reference(lesson: str, seed: str) -> LessonReference:
    """Return a lesson's reference with hidden cases from a seed. Raises CourseError."""
    return with_hidden(shown_reference(lesson), seed)


@cache
def shown_reference(lesson: str) -> LessonReference:
    """Return a lesson's stored reference without fresh cases and challenges.

    Raises CourseError if it was built from another version of the lesson or of its checks.
    """
    public = load(PUBLIC / f"{lesson}.safetensors")
    if public.source != source_digest(Lesson(lesson)):
        raise CourseError(
            f"The checks of {lesson} have changed since their reference was built. "
            f"{_remedy(lesson)}"
        )
    return without_fresh(_without_challenges(public))


def _remedy(lesson: str) -> str:
    if IS_REPOSITORY:
        return f"Build it: make build LESSON={lesson}"
    return "Install the grader's wheel and the learners' wheel from the same sources."


def _without_challenges(public: LessonReference) -> LessonReference:
    """Leave out challenges, which are never graded."""
    names = [name for name, key in public.keys.items() if not key.challenge]
    return replace(
        public,
        keys={name: public.keys[name] for name in names},
        questions={name: public.questions[name] for name in names},
    )


def without_fresh(public: LessonReference) -> LessonReference:
    """Leave out the fresh cases, which come last: hidden ones take their place."""
    shown = {name: sum(case.is_shown for case in key.cases) for name, key in public.keys.items()}
    return replace(
        public,
        keys={name: key.first(shown[name]) for name, key in public.keys.items()},
        questions={
            name: replace(question, calls=question.calls[: shown[name]])
            for name, question in public.questions.items()
        },
    )


def with_hidden(shown: LessonReference, seed: str) -> LessonReference:
    """Add hidden cases to a reference, drawn from a seed. Raises AuthoringError."""
    exercises, solutions = _sources(shown.lesson)
    both = {
        name: _extended(exercises[name], solutions[name], shown.questions[name], key, seed)
        for name, key in shown.keys.items()
    }
    return replace(
        shown,
        questions={name: question for name, (question, _) in both.items()},
        keys={name: key for name, (_, key) in both.items()},
    )


@cache
def _sources(lesson: str) -> tuple[dict[str, Exercise], dict[str, Callable]]:
    """Return a lesson's exercises and challenges, and all solutions, by name."""
    source = Lesson(lesson)
    return source.asked, source.namespace()


def _extended(
    exercise: Exercise, solution: Callable, question: Question, key: AnswerKey, seed: str
) -> tuple[Question, AnswerKey]:
    drawing = Drawing(exercise, solution)
    drawing.draw(seed)
    order = _shuffled(len(drawing.cases), f"{seed}/{exercise.name}")
    cases = [drawing.cases[number] for number in order]
    known = key.cases if exercise.part(Judged).steady else []
    hidden = Solution(solution, question, key.measure).case_keys(cases, known)
    place = {number: place for place, number in enumerate(order, start=len(key.cases))}
    aspects = [
        replace(aspect, cases=[*aspect.cases, *(place[number] for number in drawn.cases)])
        for aspect, drawn in zip(key.aspects, drawing.aspects, strict=True)
    ]
    return (
        replace(question, calls=[*question.calls, *(case.call for case in cases)]),
        replace(key, cases=[*key.cases, *hidden], aspects=aspects),
    )


def _shuffled(count: int, seed: str) -> list[int]:
    """Return an order for hidden cases, so that no answer is known by when it is asked for."""
    return Random(seed).sample(range(count), count)
