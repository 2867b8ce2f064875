"""The built exercises of the course: one reference file per lesson, found by exercise name.

A file takes a tenth of a second to load, but its index, which names what is in it, takes no time.
"""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.asking.codec import CodecError, decode, encode, read_index
from autograder.asking.question import Question
from autograder.errors import CourseError
from autograder.judging.key import AnswerKey
from autograder.judging.prediction import Prediction

FORMAT = 10
PUBLIC = Path(__file__).parent
REMEDY = "Run `make reference` (all lessons), or install the course again."


@dataclass(frozen=True)
class IndexEntry:
    """What a file's index says of an exercise.

    points: how many it has.
    contract: tells its version from any other (`Question.contract`).
    """

    points: int
    challenge: bool
    contract: str


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
        predictions = [vars(prediction) for prediction in self.predictions.values()]
        head = {"lesson": self.lesson, "title": self.title, "source": self.source}
        index = {
            "format": FORMAT,
            "title": self.title,
            "exercises": {name: asdict(entry) for name, entry in self.entries().items()},
            "predictions": [*self.predictions],
        }
        return encode(head | {"exercises": exercises, "predictions": predictions}, index)

    def entries(self) -> dict[str, IndexEntry]:
        """Return what the index says of each exercise."""
        return {
            name: IndexEntry(key.points, key.challenge, self.questions[name].contract)
            for name, key in self.keys.items()
        }

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
    _read_index(path)
    with _explained(path):
        return LessonReference.from_tree(decode(path.read_bytes()))


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
    return {name: index["title"] for name, index in _indexes().items()}


def exercises_by_lesson() -> dict[str, list[str]]:
    """Return exercise names by lesson name. Raises CourseError."""
    return {name: [*entries] for name, entries in entries_by_lesson().items()}


@cache
def entries_by_lesson() -> dict[str, dict[str, IndexEntry]]:
    """Return what there is to know of exercises without loading their lesson. Raises CourseError.

    Returns the entries by the name of the lesson and of the exercise.
    """
    return {
        lesson: {name: IndexEntry(**entry) for name, entry in index["exercises"].items()}
        for lesson, index in _indexes().items()
    }


def exercises() -> set[str]:
    """Return the names of all exercises and challenges."""
    return {name for names in exercises_by_lesson().values() for name in names}


def predictions_by_lesson() -> dict[str, list[str]]:
    """Return the names of predictions by lesson name. Raises CourseError."""
    return {name: index["predictions"] for name, index in _indexes().items()}


def _find(name: str, by_lesson: dict[str, list[str]], kind: str) -> LessonReference:
    for lesson, names in by_lesson.items():
        if name in names:
            return _loaded(lesson)
    everything = [name for names in by_lesson.values() for name in names]
    could_be = everything if name.isidentifier() else []  # a lambda is named `<lambda>`
    near = difflib.get_close_matches(name, could_be, n=1, cutoff=0.5)
    listed = [f"{lesson}: {', '.join(names)}" for lesson, names in by_lesson.items() if names]
    guess = f"Did you mean {near[0]!r}?" if near else "\n".join(["There are:", *listed])
    raise CourseError(f"There is no {kind} named {name!r}. {guess}")


@cache
def _loaded(lesson: str) -> LessonReference:
    return load(PUBLIC / f"{lesson}.safetensors")


@cache
def _indexes() -> dict[str, dict[str, Any]]:
    """Read the index of each lesson's file."""
    paths = sorted(PUBLIC.glob("*.safetensors"))
    if not paths:
        raise CourseError(f"There are no reference files in {PUBLIC.name}/. {REMEDY}")
    return {path.stem: _read_index(path) for path in paths}


def _read_index(path: Path) -> dict[str, Any]:
    """Read a reference file's index. Raises CourseError, also for another version's file."""
    with _explained(path):
        index = read_index(path)
    if index.get("format") != FORMAT:
        raise CourseError(
            f"The reference file {path.name} has another format than this autograder reads, "
            f"{FORMAT}. {REMEDY}"
        )
    return index


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn whatever a file can be wrong with into a CourseError."""
    try:
        yield
    except OSError as error:
        raise CourseError(f"The reference file {path.name} can't be read. {REMEDY}") from error
    except (CodecError, KeyError, TypeError, ValueError) as error:
        raise CourseError(
            f"The reference file {path.name} is damaged ({error}). {REMEDY}"
        ) from error
