"""What kind of mistake a wrong answer is, in terms that hold for other exercises too.

Two answers to different exercises are wrong in the same way if

- the judge found the same known mistake: many have one name throughout the course,
- or it found none, and said the same in general: the shape, the gradient, a change in place,
- or they lost an aspect of the same name, such as "gradients", and held another one.

An answer that only has some wrong values is of no kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from autograder.grading.report.class_report import nothing_came
from autograder.grading.report.submissions import Submission
from autograder.judging.differences.values import DETACHED
from autograder.judging.judge import LEFT_BEHIND, OTHERS_ONLY


class Group(StrEnum):
    """What tells that two mistakes are of one kind."""

    MISTAKE = "known mistake"
    GENERAL = "in general"
    ASPECT = "aspect lost"


@dataclass(frozen=True)
class Kind:
    """A kind of mistake."""

    group: Group
    name: str


# Kinds by what the judge says, in parts of its sentences.
SAID = {
    LEFT_BEHIND: "right in the first call only",
    OTHERS_ONLY: "right on the shown cases only",
    "The code reads the notebook's": "reads variables of the notebook",
    "in place, so the caller's tensor": "changes its input in place",
    "nothing flows back": "no gradient flows back",
    DETACHED: "wrong gradient",
    "should have shape": "wrong shape",
    "should have dtype": "wrong dtype",
    "holds NaN in": "NaN",
    "with its dimensions in another order": "dimensions in another order",
    "the right numbers, in the wrong places": "numbers in the wrong places",
}
# Kinds by the problem that left nothing to compare.
PROBLEMS = {
    "raised": "stops with an error",
    "forbidden": "calls the function that is to be written",
    "detached": "no gradient flows back",
    "arguments": "other arguments than asked for",
    "constructor": "other arguments than asked for",
    "parameters": "other parameters than asked for",
    "parameter shape": "other parameters than asked for",
    "parameter changed": "changes parameters",
    "frozen": "changes parameters",
    "attached": "holds on to the graph",
    "graph": "holds on to the graph",
    "mode": "leaves a module in another mode",
    "part's mode": "leaves a module in another mode",
    "setting": "changes a setting of torch",
    "time": "takes too long",
    "waiting": "takes too long",
    "recursion": "calls itself without end",
    "memory": "takes too much memory",
    "size": "takes too much memory",
    "type": "returns another type",
    "plain": "returns another type",
    "count": "returns another number of things",
}
# How a sentence ends that blames other exercises for a wrong answer.
BLAME = (" builds on it.", " builds on them.")

Made = Mapping[Kind, Mapping[str, list[str]]]  # the exercises by learner


def kinds_made(submissions: Iterable[Submission]) -> Made:
    """Say which kinds of mistakes were made, by whom and in which exercises."""
    made: dict[Kind, dict[str, list[str]]] = {}
    for submission in submissions:
        for exercise, verdict in submission.verdicts.items():
            for kind in kinds(verdict):
                made.setdefault(kind, {}).setdefault(submission.learner, []).append(exercise)
    return made


def kinds(verdict: Mapping[str, Any]) -> Iterator[Kind]:
    """Yield the kinds of mistake that a verdict is on; none if it is right, or says nothing."""
    right = verdict["points"] >= verdict["max_points"]
    if right or not verdict["answered"] or nothing_came(verdict) or _is_blamed(verdict):
        return
    if verdict["mistake"]:
        yield Kind(Group.MISTAKE, verdict["mistake"])
    elif name := _general(verdict):
        yield Kind(Group.GENERAL, name)
    if any(aspect["held"] for aspect in verdict["aspects"]):
        lost = {aspect["name"] for aspect in verdict["aspects"] if not aspect["held"]}
        yield from (Kind(Group.ASPECT, name) for name in sorted(lost))


def _is_blamed(verdict: Mapping[str, Any]) -> bool:
    return not verdict["mistake"] and verdict["sentence"].endswith(BLAME)


def _general(verdict: Mapping[str, Any]) -> str:
    problems = (PROBLEMS.get(problem["kind"], "") for problem in verdict["problems"])
    said = (name for words, name in SAID.items() if words.strip() in verdict["sentence"])
    return next(filter(None, [*problems, *said]), "")
