"""What an instructor may want to look at: leads with reasons, not verdicts on anyone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.asking.problem import Place, ProblemKind
from autograder.grading.report.code_print import Print, statements
from autograder.grading.report.same_code import SameCode, same_code
from autograder.grading.report.same_mistakes import SameMistakes, same_mistakes
from autograder.grading.report.submissions import Submission

UNFIT = "it is not valid Python, or too long"


@dataclass(frozen=True)
class Lead:
    """One answer worth a look.

    where: the line of code, if it is known.
    """

    learner: str
    exercise: str
    reason: str
    where: Place | None = None


def forbidden_calls(submissions: Sequence[Submission]) -> list[Lead]:
    """List answers that call the function that learners are asked to write."""
    return [
        Lead(submission.learner, exercise, f"calls torch's {problem['detail']}", place_of(problem))
        for submission in submissions
        for exercise, verdict in submission.verdicts.items()
        for problem in verdict["problems"]
        if problem["kind"] == ProblemKind.FORBIDDEN
    ]


def only_public(submissions: Sequence[Submission]) -> list[Lead]:
    """List answers that are right on all cases in the notebook, but wrong on hidden ones."""
    found = [
        (hidden, Lead(submission.learner, exercise, _public_reason(public, hidden)))
        for submission in submissions
        for exercise, verdict in submission.verdicts.items()
        for public, hidden in [(_cases(verdict, "public"), _cases(verdict, "hidden"))]
        if public[0] == public[1] > 0 and hidden[0] < hidden[1]
    ]
    return [lead for hidden, lead in sorted(found, key=lambda pair: pair[0][0] / pair[0][1])]


def shared_code(
    submissions: Sequence[Submission], released: Mapping[str, str], solutions: Mapping[str, str]
) -> list[SameCode]:
    """Find learners with the same code, the strongest evidence first; note what can't be compared.

    released: the solution cells as learners get them, by grade_id.
    solutions: the solution cells in the course's own notebook, by grade_id.
    """
    prints: dict[str, dict[str, Print]] = {}
    given: dict[str, frozenset[str]] = {}
    for submission in submissions:
        for exercise in answered(submission):
            if exercise not in given:
                given[exercise] = statements(
                    released.get(exercise, ""), solutions.get(exercise, "")
                )
            if print_ := submission.prints.get(exercise):
                own = print_.without(given[exercise])
                prints.setdefault(exercise, {})[submission.learner] = own
            else:
                submission.note(f"`{exercise}` can't be compared with others: {UNFIT}.")
    return same_code(prints)


def shared_mistakes(submissions: Sequence[Submission]) -> list[SameMistakes]:
    """Find learners who made the same rare mistakes, the least likely to be chance first."""
    made: dict[str, dict[str, str]] = {}
    for submission in submissions:
        for exercise, verdict in submission.verdicts.items():
            if verdict["mistake"]:
                made.setdefault(exercise, {})[submission.learner] = verdict["mistake"]
    return same_mistakes(made)


def place_of(problem: Mapping[str, Any]) -> Place | None:
    """Return the line of code that a problem in a verdict names, if it names one."""
    return Place(**problem["place"]) if problem["place"] else None


def answered(submission: Submission) -> list[str]:
    """List the exercises that a submission answers in a known cell."""
    verdicts = submission.verdicts
    return [name for name in submission.sources if name in verdicts and verdicts[name]["answered"]]


def _cases(verdict: dict[str, Any], kind: str) -> tuple[float, float]:
    """Count the cases that are right, and all cases."""
    counts = [aspect[kind] for aspect in verdict["aspects"]]
    return sum(count["right"] for count in counts), sum(count["of"] for count in counts)


def _public_reason(public: tuple[float, float], hidden: tuple[float, float]) -> str:
    wrong = hidden[1] - hidden[0]
    all_or_some = "all" if not hidden[0] else f"{wrong:g} of the"
    return (
        f"right on all {public[1]:g} cases that the notebook shows, wrong on {all_or_some} "
        f"{hidden[1]:g} that only grading uses"
    )
