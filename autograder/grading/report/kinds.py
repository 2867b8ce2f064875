"""What kind of mistake a wrong answer is, in terms that hold for other exercises too.

Two answers to different exercises are wrong in the same way if

- the judge found the same known mistake: many have the same name throughout the course,
- or it found no known mistake but the same general one: the shape, the gradient, a change in place,
- or they lost an aspect of the same name, such as "gradients", and earned another one.

An answer that only has some wrong values has no kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from autograder.asking.problem import ProblemKind
from autograder.grading.report.class_report import GIVEN_UP, nothing_came
from autograder.grading.report.submissions import Submission
from autograder.judging.finding import General


class Basis(StrEnum):
    """What makes two mistakes the same kind."""

    MISTAKE = "known mistake"
    GENERAL = "in general"
    ASPECT = "aspect lost"


@dataclass(frozen=True)
class Kind:
    """A kind of mistake."""

    basis: Basis
    name: str


# Kinds by the rule that found the mistake; if there are several, the first one here counts.
RULES = {
    General.LEFT_BEHIND: "right in the first call only",
    General.LEFT_BEHIND_SIZES: "right in the first call only",
    General.LEFT_BY_ANOTHER: "right in the first call only",
    General.OTHERS_ONLY: "right on the shown cases only",
    General.BORROWED: "reads variables of the notebook",
    General.NOT_ITS_OWN: "reads variables of the notebook",
    General.CHANGED_INPUT: "changes its input in place",
    "no_gradient": "no gradient flows back",
    General.BROKEN_PATH: "wrong gradient",
    "wrong_shape": "wrong shape",
    "wrong_dtype": "wrong dtype",
    "holds_nan": "NaN",
    "other_axis_order": "dimensions in another order",
    "misplaced": "numbers in the wrong places",
}
# Kinds by the problem that left nothing to compare.
PROBLEMS = {
    ProblemKind.RAISED: "stops with an error",
    ProblemKind.FORBIDDEN: "calls the function that is to be written",
    ProblemKind.DETACHED: "no gradient flows back",
    ProblemKind.ARGUMENTS: "takes the wrong arguments",
    ProblemKind.CONSTRUCTOR: "takes the wrong arguments",
    ProblemKind.PARAMETERS: "has the wrong parameters",
    ProblemKind.PARAMETER_SHAPE: "has the wrong parameters",
    ProblemKind.PARAMETER_CHANGED: "changes parameters",
    ProblemKind.OTHER_PARAMETERS: "changes parameters",
    ProblemKind.FROZEN: "changes parameters",
    ProblemKind.NEVER_TRAINED: "no gradient flows back",
    ProblemKind.ARGUMENT_CHANGED: "changes its input in place",
    ProblemKind.PART_REPLACED: "changes parameters",
    ProblemKind.KEPT_ON_CLASS: "right in the first call only",
    ProblemKind.NOT_LOADED: "has the wrong parameters",
    ProblemKind.OTHER_NAMES: "has the wrong parameters",
    ProblemKind.ATTACHED: "holds on to the graph",
    ProblemKind.GRAPH: "holds on to the graph",
    ProblemKind.MODE: "leaves a module in another mode",
    ProblemKind.PART_MODE: "leaves a module in another mode",
    ProblemKind.SETTING: "changes a setting of torch",
    ProblemKind.TIME: "takes too long",
    ProblemKind.WAITING: "takes too long",
    ProblemKind.RECURSION: "calls itself without end",
    ProblemKind.MEMORY: "takes too much memory",
    ProblemKind.SIZE: "takes too much memory",
    ProblemKind.TYPE: "returns the wrong type",
    ProblemKind.PLAIN: "returns the wrong type",
    ProblemKind.COUNT: "returns the wrong number of values",
}

ByKind = Mapping[Kind, Mapping[str, list[str]]]  # the exercises by learner


def kinds_made(submissions: Iterable[Submission]) -> ByKind:
    """Say which kinds of mistakes were made, by whom and in which exercises."""
    made: dict[Kind, dict[str, list[str]]] = {}
    for submission in submissions:
        for exercise, verdict in submission.verdicts.items():
            for kind in kinds(verdict):
                made.setdefault(kind, {}).setdefault(submission.learner, []).append(exercise)
    return made


def kinds(verdict: Mapping[str, Any]) -> Iterator[Kind]:
    """Yield the kinds of mistake in a verdict; none if the answer is right or was not judged."""
    right = verdict["points"] >= verdict["max_points"]
    if right or not verdict["answered"] or nothing_came(verdict) or verdict["blamed_on"]:
        return
    if verdict["given_up"]:
        yield Kind(Basis.MISTAKE, GIVEN_UP)
    elif verdict["mistake"]:
        yield Kind(Basis.MISTAKE, verdict["mistake"])
    elif name := _general(verdict):
        yield Kind(Basis.GENERAL, name)
    if any(aspect["held"] for aspect in verdict["aspects"]):
        lost = {aspect["name"] for aspect in verdict["aspects"] if not aspect["held"]}
        yield from (Kind(Basis.ASPECT, name) for name in sorted(lost))


def _general(verdict: Mapping[str, Any]) -> str:
    problems = (PROBLEMS.get(problem["kind"], "") for problem in verdict["problems"])
    told = (name for rule, name in RULES.items() if rule in verdict["rules"])
    return next(filter(None, [*problems, *told]), "")
