"""The built exercises of the course: one reference file per lesson, found by exercise name."""

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.asking.codec import CodecError, decode, encode
from autograder.asking.question import Question
from autograder.errors import CourseError
from autograder.judging.key import AnswerKey
from autograder.judging.prediction import Prediction

FORMAT = 9
PUBLIC = Path(__file__).parent
REMEDY = "Run `make reference` (all lessons), or install the course again."


@dataclass(frozen=True)
class LessonReference:
    """The built exercises of one lesson, by name and in lesson order.

    title: the lesson's, with its number.
    source: a digest of the sources that they were built from.
    """

    lesson: str
    title: str
    source: str
    questions: dict[str, Question]
    keys: dict[str, AnswerKey]
    predictions: dict[str, Prediction]

    def to_bytes(self) -> bytes:
        exercises = [
            {"question": self.questions[name].to_tree(), "key": self.keys[name].to_tree()}
            for name in self.questions
        ]
        head = {"format": FORMAT, "lesson": self.lesson, "title": self.title, "source": self.source}
        predictions = [vars(prediction) for prediction in self.predictions.values()]
        return encode(head | {"exercises": exercises, "predictions": predictions})

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "LessonReference":
        exercises = tree["exercises"]
        questions = [Question.from_tree(exercise["question"]) for exercise in exercises]
        keys = [AnswerKey.from_tree(exercise["key"]) for exercise in exercises]
        return cls(
            lesson=tree["lesson"],
            title=tree["title"],
            source=tree["source"],
            questions={question.exercise: question for question in questions},
            keys={key.exercise: key for key in keys},
            predictions={each["name"]: Prediction(**each) for each in tree["predictions"]},
        )


def load(path: Path) -> LessonReference:
    """Load the reference file at `path`. Raises CourseError if it can't be used."""
    try:
        return LessonReference.from_tree(_readable(path))
    except (CodecError, KeyError, TypeError, ValueError) as error:
        raise CourseError(
            f"The reference file {path.name} is damaged ({error}). {REMEDY}"
        ) from error


def find(exercise: str) -> LessonReference:
    """Find the lesson that contains `exercise`.

    Raises CourseError if no lesson does, suggesting the closest name.
    """
    return _find(exercise, exercises_by_lesson(), "exercise")


def find_prediction(name: str) -> Prediction:
    """Find a prediction. Raises CourseError if no lesson has it, suggesting the closest name."""
    return _find(name, predictions_by_lesson(), "prediction").predictions[name]


def titles() -> dict[str, str]:
    """Return the titles of the lessons, with their numbers, by name."""
    return {name: reference.title for name, reference in _lessons().items()}


def exercises_by_lesson() -> dict[str, list[str]]:
    """Return exercise names by lesson name. Raises CourseError."""
    return {name: list(reference.keys) for name, reference in _lessons().items()}


def exercises() -> set[str]:
    """Return the names of all exercises and challenges."""
    return {name for names in exercises_by_lesson().values() for name in names}


def predictions_by_lesson() -> dict[str, list[str]]:
    """Return the names of predictions by lesson name. Raises CourseError."""
    return {name: list(reference.predictions) for name, reference in _lessons().items()}


def _find(name: str, by_lesson: dict[str, list[str]], kind: str) -> LessonReference:
    for lesson, names in by_lesson.items():
        if name in names:
            return _lessons()[lesson]
    everything = [name for names in by_lesson.values() for name in names]
    could_be = everything if name.isidentifier() else []  # a lambda is named `<lambda>`
    near = difflib.get_close_matches(name, could_be, n=1, cutoff=0.5)
    listed = [f"{lesson}: {', '.join(names)}" for lesson, names in by_lesson.items() if names]
    guess = f"Did you mean {near[0]!r}?" if near else "\n".join(["There are:", *listed])
    raise CourseError(f"There is no {kind} named {name!r}. {guess}")


@cache
def _lessons() -> dict[str, LessonReference]:
    paths = sorted(PUBLIC.glob("*.safetensors"))
    if not paths:
        raise CourseError(f"There are no reference files in {PUBLIC.name}/. {REMEDY}")
    return {path.stem: load(path) for path in paths}


def _readable(path: Path) -> dict[str, Any]:
    """Read the tree from a reference file. Raises CourseError, also for another version's file."""
    try:
        tree = decode(path.read_bytes())
    except OSError as error:
        raise CourseError(f"The reference file {path.name} can't be read. {REMEDY}") from error
    if tree["format"] != FORMAT:
        raise CourseError(
            f"The reference file {path.name} has format {tree['format']}, and this autograder "
            f"reads format {FORMAT}. {REMEDY}"
        )
    return tree
