"""Which kinds of mistakes persist: in a learner's lessons, and in the class's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from autograder.grading.report.kinds import Kind
from autograder.grading.report.make_report import Report

# By lesson and learner: the exercises in which a kind of mistake was made.
Where = Mapping[str, Mapping[str, list[str]]]


@dataclass(frozen=True)
class Persistent:
    """A kind of mistake that was made in more than one lesson.

    where: the exercises in which it was made, by lesson and learner.
    answered: how many learners had answers judged, by lesson.
    """

    kind: Kind
    where: Where
    answered: Mapping[str, int]

    @cached_property
    def again(self) -> dict[str, dict[str, list[str]]]:
        """The learners who made it in more than one lesson: their exercises, by lesson."""
        by_learner: dict[str, dict[str, list[str]]] = {}
        for lesson, learners in self.where.items():
            for learner, exercises in learners.items():
                by_learner.setdefault(learner, {})[lesson] = exercises
        return {who: by_learner[who] for who in sorted(by_learner) if len(by_learner[who]) > 1}

    def share(self, lesson: str) -> float:
        """The share of a lesson's learners who made it, from 0 to 1."""
        return len(self.where.get(lesson, ())) / max(1, self.answered[lesson])

    @property
    def later(self) -> float:
        """The largest share in any lesson after the first in which it was made."""
        return max(self.share(lesson) for lesson in list(self.where)[1:])

    @property
    def most_still(self) -> list[str]:
        """The lessons after its first one in which more than half of the learners made it."""
        return [lesson for lesson in list(self.where)[1:] if self.share(lesson) > 0.5]


def persistent_mistakes(reports: Iterable[Report]) -> list[Persistent]:
    """List the kinds of mistakes made in several lessons, the most common in later ones first.

    reports: in the order of the lessons.
    """
    found: dict[Kind, dict[str, Mapping[str, list[str]]]] = {}
    answered = {}
    for report in reports:
        answered[report.lesson] = sum(row.judged for row in report.rows)
        for kind, by_learner in report.kinds.items():
            found.setdefault(kind, {})[report.lesson] = by_learner
    several = (Persistent(kind, where, answered) for kind, where in found.items() if len(where) > 1)
    return sorted(several, key=lambda one: (-one.later, -len(one.again), one.kind.name))
