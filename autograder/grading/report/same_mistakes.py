"""Find learners who share mistakes that few others made, if chance does not explain it.

One rare mistake in common means nothing: in most classes, some pair has one. So it takes two or
more, in different exercises, and only counts if learners who err independently would seldom produce
such a pair.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from autograder.grading.report.same_code import largest

MOST_EXERCISES = 8  # that are combined, those with the most mistakes
# Pairs that chance would produce in a class. In simulated classes of 24 to 1,000 whose learners err
# independently, some more often than others, one or two groups were named in ten lessons; in
# classes of a dozen, two or three.
MOST_BY_CHANCE = 0.05
# As if this many more learners had made a mistake in an exercise, each a different one. So where
# only two learners erred, their agreement still means something.
OTHERS = 4

MistakesMade = Mapping[str, Mapping[str, str]]  # the mistake, by exercise and learner


@dataclass(frozen=True)
class RareMistake:
    """A mistake in an exercise, and how many of the class made it."""

    exercise: str
    mistake: str
    makers: int


@dataclass(frozen=True)
class SameMistakes:
    """Learners who share rare mistakes.

    by_chance: how many pairs that share as many mistakes, just as rare, chance would produce.
    """

    learners: tuple[str, ...]
    mistakes: tuple[RareMistake, ...]
    by_chance: float


def same_mistakes(made: MistakesMade) -> list[SameMistakes]:
    """Find groups that share rare mistakes, the least likely to be chance first."""
    most = sorted(made, key=lambda exercise: -len(made[exercise]))[:MOST_EXERCISES]
    made = {exercise: by_learner for exercise, by_learner in made.items() if exercise in most}
    makers = _makers(made)
    chance = _Chance(made, makers)
    found: dict[tuple[RareMistake, ...], SameMistakes] = {}
    for shared in _shared_by_pairs(makers, len({who for one in made.values() for who in one})):
        for mistakes in _rarest_first(shared):
            if mistakes not in found:
                together = set.intersection(*(set(makers[m]) for m in mistakes))
                expected = chance.pairs(len(mistakes), mistakes[-1].makers)
                found[mistakes] = SameMistakes(tuple(sorted(together)), mistakes, expected)
    unlikely = [group for group in found.values() if group.by_chance <= MOST_BY_CHANCE]
    unlikely.sort(key=lambda group: (group.by_chance, -len(group.learners), group.learners))
    return largest(unlikely)


def _makers(made: MistakesMade) -> dict[RareMistake, list[str]]:
    """List who made each mistake that more than one learner made."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for exercise, by_learner in made.items():
        for learner, mistake in by_learner.items():
            found[exercise, mistake].append(learner)
    return {RareMistake(*what, len(who)): who for what, who in found.items() if len(who) > 1}


def _shared_by_pairs(
    makers: Mapping[RareMistake, list[str]], class_size: int
) -> set[tuple[RareMistake, ...]]:
    """Return what pairs share, rarest first. Mistakes that many made would take too long."""
    shared = defaultdict(list)
    for mistake in sorted(makers, key=lambda mistake: (mistake.makers, mistake.exercise)):
        if mistake.makers <= max(3, math.isqrt(class_size)):
            for pair in combinations(sorted(makers[mistake]), 2):
                shared[pair].append(mistake)
    return set(map(tuple, shared.values()))


def _rarest_first(shared: tuple[RareMistake, ...]) -> Iterator[tuple[RareMistake, ...]]:
    """Yield the two rarest mistakes, the three rarest, and so on.

    The same mistake in two exercises may be one misunderstanding, and counts once.
    """
    names = [one.mistake for one in shared]
    kinds = [one for place, one in enumerate(shared) if one.mistake not in names[:place]]
    return (tuple(kinds[:number]) for number in range(2, len(kinds) + 1))


class _Chance:
    """Expects how many pairs share mistakes if, in each exercise, those who err do so at random."""

    def __init__(self, made: MistakesMade, makers: Mapping[RareMistake, list[str]]) -> None:
        self.makers = makers
        self.erred = {exercise: set(by_learner) for exercise, by_learner in made.items()}
        self.expected: dict[tuple[int, int], float] = {}

    def pairs(self, number: int, rarity: int) -> float:
        """Return the expected number of pairs that share mistakes in this many exercises.

        rarity: at most this many learners made each of the mistakes.
        """
        if (number, rarity) not in self.expected:
            agree = self._agree(rarity)
            self.expected[number, rarity] = sum(
                math.comb(len(set.intersection(*(self.erred[one] for one in chosen))), 2)
                * math.prod(agree[one] for one in chosen)
                for chosen in combinations(agree, number)
            )
        return self.expected[number, rarity]

    def _agree(self, rarity: int) -> dict[str, float]:
        """For each exercise, return the share of erring pairs that share a mistake this rare."""
        pairs: Counter[str] = Counter()
        for mistake in self.makers:
            if mistake.makers <= rarity:
                pairs[mistake.exercise] += math.comb(mistake.makers, 2)
        return {e: n / math.comb(len(self.erred[e]) + OTHERS, 2) for e, n in pairs.items()}
