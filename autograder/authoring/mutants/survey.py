"""Survey an exercise's mutants: which are rejected, and told why, which excused, which pass."""

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import torch

from autograder.asking.question import Question
from autograder.atomic_writes import write_whole
from autograder.authoring.mutants.trial import TriedMutant, try_mutants
from autograder.building.hidden import with_hidden, without_fresh
from autograder.building.sources import source_digest
from autograder.errors import AuthoringError
from autograder.judging.key import AnswerKey
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson
from autograder.references.store import LessonReference

RECORD = Path(__file__).with_name("record.json")  # in git, so that an outdated one is noticed
LEAST_TOLD = 0.6  # share of a lesson's rejected mutants that are told what is wrong
SHARES = 8  # into how many parts an exercise's mutants are split, to be tried side by side


@dataclass
class Survey:
    """The mutants of one exercise.

    named: rejected as a known mistake.
    told: rejected with another sentence that says what is wrong.
    generic: rejected with a sentence that only says where values are off, or repeats an error.
    excused: accepted, and right, as the exercise says.
    survivors: accepted without an excuse.
    idle: excuses that fit no accepted mutant.
    """

    exercise: str
    named: int = 0
    told: int = 0
    generic: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)

    @property
    def rejected(self) -> int:
        return self.named + self.told + len(self.generic)

    @property
    def mutants(self) -> int:
        return self.rejected + len(self.excused) + len(self.survivors)

    def counts(self) -> dict[str, int]:
        """Count the mutants by outcome."""
        lists = {"generic": self.generic, "excused": self.excused, "survivors": self.survivors}
        counts = {name: len(labels) for name, labels in lists.items()}
        return {"named": self.named, "told": self.told, **counts}


def survey(exercise: str, excuses: Mapping[str, str], trials: Iterable[TriedMutant]) -> Survey:
    """Sort the trials of an exercise's mutants.

    excuses: why certain mutants are right, by the start of their label.
    """
    found = Survey(exercise)
    for trial in trials:
        label, verdict = trial.label, trial.verdict
        if verdict.passed:
            is_excused = any(map(label.startswith, excuses))
            (found.excused if is_excused else found.survivors).append(label)
        elif verdict.mistake:
            found.named += 1
        elif verdict.recognized:
            found.told += 1
        else:
            found.generic.append(f"{label}: {verdict.sentence}")
    found.idle = [e for e in excuses if not any(label.startswith(e) for label in found.excused)]
    return found


def survey_lesson(lesson: Lesson, public: LessonReference) -> Iterator[Survey]:
    """Try the mutants of a lesson's exercises on public and hidden cases, on all processors."""
    reference = with_hidden(without_fresh(public), "mutants")
    shares = [slice(number, None, SHARES) for number in range(SHARES)]
    with ProcessPoolExecutor() as pool:
        for exercise in lesson.asked.values():
            question, key = reference.questions[exercise.name], reference.keys[exercise.name]
            trials = pool.map(_trials, repeat(question), repeat(key), shares)
            yield survey(exercise.name, excuses_of(exercise), chain.from_iterable(trials))


def excuses_of(exercise: Exercise) -> dict[str, str]:
    """Return the excuses of a solution and its alternatives: why, by the start of the label."""
    of_alternatives = {
        f"{alternative.name} / {start}": why
        for alternative in exercise.alternatives
        for start, why in alternative.excuses.items()
    }
    return {**exercise.excuses, **of_alternatives}


def _trials(question: Question, key: AnswerKey, share: slice) -> list[TriedMutant]:
    torch.set_num_threads(1)
    lesson = Lesson(key.lesson)
    return list(try_mutants(lesson, lesson.asked[key.exercise], question, key, share))


def require_soundness(surveys: Iterable[Survey]) -> None:
    """Raise AuthoringError if a check lets a mutant pass, or has an excuse for nothing."""
    if faults := list(_faults(surveys)):
        raise AuthoringError("\n".join(faults))


def _faults(surveys: Iterable[Survey]) -> Iterator[str]:
    for found in surveys:
        if found.survivors:
            yield (
                f"the check of {found.exercise} lets mutants pass. Add a case that rejects them, "
                "or say in `excuses` why they are right:\n  " + "\n  ".join(found.survivors)
            )
        if found.idle:
            yield (
                f"{found.exercise} excuses mutants that its check rejects, or that don't exist: "
                f"{'; '.join(found.idle)}"
            )


def require_clear_words(surveys: Iterable[Survey]) -> None:
    """Raise AuthoringError if a lesson's checks seldom say what is wrong."""
    counts = [(found.rejected, len(found.generic)) for found in surveys]
    rejected, generic = map(sum, zip(*counts, strict=True))
    if generic > (1 - LEAST_TOLD) * rejected:
        raise AuthoringError(
            f"{generic} of {rejected} rejected mutants hear only that something is wrong; at "
            f"least {LEAST_TOLD:.0%} should be named or hear what it is"
        )


def print_surveys(title: str, surveys: Iterable[Survey]) -> list[Survey]:
    """Print a line for each exercise as soon as it is known, and its survivors; return all."""
    print(f"\n{title:<28} mutants rejected   named    told generic excused survivors")
    seen = []
    for found in surveys:
        print(
            f"  {found.exercise:<26} {found.mutants:>7} {found.rejected:>8} {found.named:>7} "
            f"{found.told:>7} {len(found.generic):>7} {len(found.excused):>7} "
            f"{len(found.survivors):>9}",
            flush=True,
        )
        print(*(f"      survives: {label}\n" for label in found.survivors), sep="", end="")
        print(*(f"      needs no excuse: {label}\n" for label in found.idle), sep="", end="")
        seen.append(found)
    return seen


def record(lesson: Lesson, surveys: Iterable[Survey]) -> None:
    """Record the surveys of a lesson whose checks have been found sound."""
    exercises = {found.exercise: found.counts() for found in surveys}
    entry = {"source": surveyed_source(lesson), "exercises": exercises}
    entries = dict(sorted({**recorded(), lesson.name: entry}.items()))
    write_whole(RECORD, (json.dumps(entries, indent=1) + "\n").encode())


def recorded() -> dict[str, dict[str, Any]]:
    """Read by lesson: a digest of the sources, and the counts by exercise."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def surveyed_source(lesson: Lesson) -> str:
    """Hash all that a survey depends on: the lesson, its checks and the rules of mutation."""
    return source_digest(lesson, Path(__file__))
