"""Find learners whose answers have the same code, if enough of it is unusual.

Names, the order of independent statements, comments and layout do not matter. What counts is
statements that few others wrote: two learners who solve a short exercise in the usual way need not
have copied.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol, TypeVar

from autograder.grading.report.code_print import Print

MOST_GROUPS = 20
MOST_EXERCISES = 8  # are combined: those with the longest answers
PARTS = ("meaning", "letters")


class _HasLearners(Protocol):
    @property
    def learners(self) -> tuple[str, ...]: ...


Sharing = TypeVar("Sharing", bound=_HasLearners)
Prints = Mapping[str, Mapping[str, Print]]  # by exercise and learner


@dataclass(frozen=True)
class Shared:
    """An exercise that a group answered with the same code.

    statements: how many statements are theirs, not the course's.
    weight: how unusual these are; a statement that only two learners wrote weighs 1, and one that
        everybody wrote weighs 0.
    """

    exercise: str
    statements: int
    weight: float
    to_the_letter: bool


@dataclass(frozen=True)
class SameCode:
    """Learners with the same code in some exercises."""

    learners: tuple[str, ...]
    shared: tuple[Shared, ...]

    @property
    def weight(self) -> float:
        return sum(shared.weight for shared in self.shared)


def same_code(prints: Prints) -> list[SameCode]:
    """Find groups with the same code, the strongest evidence first."""
    class_size = len({learner for by_learner in prints.values() for learner in by_learner})
    rarities = {exercise: _rarities(by_learner) for exercise, by_learner in prints.items()}
    found = [
        SameCode(who, tuple(_shared(who, exercises, prints, rarities)))
        for who, exercises in _groups(prints).items()
    ]
    telling = [group for group in found if group.weight >= enough(class_size)]
    telling.sort(key=lambda group: (-group.weight, -len(group.learners), group.learners))
    return largest(telling)


def enough(class_size: int) -> float:
    """Return the weight from which a group is worth a look.

    Among pairs of people who answered all exercises of a lesson independently, and wrongly, the
    share that reached a weight of 3 to 7 was at most 10^(1 - weight) (1,359 answers by three
    authors to the course's 36 exercises). So chance produces a pair in at most one lesson out of a
    hundred, however large the class is.
    """
    pairs = class_size * (class_size - 1) / 2
    return 3 + math.log10(max(1, pairs))


def _rarities(by_learner: Mapping[str, Print]) -> dict[str, float]:
    """Weigh each statement in the answers to an exercise: the fewer wrote it, the heavier."""
    of = len(by_learner)
    writers = Counter(one for print_ in by_learner.values() for one in print_.statements)
    return {
        one: math.log(of / (count - 1)) / math.log(of)
        for one, count in writers.items()
        if count > 1
    }


def _groups(prints: Prints) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return groups of learners with all the exercises that they answered alike.

    A group is found for several combinations of exercises. The largest one, which comes last,
    counts.
    """
    longest = sorted(prints, key=lambda exercise: -_length(prints[exercise]))[:MOST_EXERCISES]
    exercises = [exercise for exercise in prints if exercise in longest]
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for number in range(1, len(exercises) + 1):
        for chosen in combinations(exercises, number):
            found |= dict.fromkeys(_alike([prints[exercise] for exercise in chosen]), chosen)
    return found


def _length(by_learner: Mapping[str, Print]) -> int:
    return sum(len(print_.statements) for print_ in by_learner.values())


def _alike(answers: Sequence[Mapping[str, Print]]) -> Iterator[tuple[str, ...]]:
    """Yield the groups whose answers to each of these exercises are alike."""
    for part in PARTS:
        groups = defaultdict(list)
        for learner in sorted(set.intersection(*map(set, answers))):
            groups[*(getattr(one[learner], part) for one in answers)].append(learner)
        yield from (tuple(who) for who in groups.values() if len(who) > 1)


def _shared(
    who: Sequence[str],
    exercises: Sequence[str],
    prints: Prints,
    rarities: Mapping[str, Mapping[str, float]],
) -> Iterator[Shared]:
    """Yield what a group shares in those of these exercises where it wrote something of its own."""
    for exercise in exercises:
        theirs = [prints[exercise][learner] for learner in who]
        if own := frozenset.intersection(*(print_.statements for print_ in theirs)):
            weight = sum(rarities[exercise][one] for one in own)
            same_letters = len({print_.letters for print_ in theirs}) == 1
            yield Shared(exercise, len(own), weight, same_letters)


def largest(groups: Iterable[Sharing]) -> list[Sharing]:
    """Return the first groups that aren't part of an earlier one."""
    kept: list[Sharing] = []
    for group in groups:
        if not any(set(group.learners) <= set(one.learners) for one in kept):
            kept.append(group)
    return kept[:MOST_GROUPS]
