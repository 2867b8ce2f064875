"""Judge: compare answers with an answer key, and explain the result.

This half never sees the learner's code, only the tensors that it returned.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from autograder.asking.answer import GRADIENT, NEVER_CALLED, Answer, Problem
from autograder.judging.code_marks import in_backticks
from autograder.judging.compare import Comparison
from autograder.judging.explain_difference import describe_difference, recognize_difference
from autograder.judging.explain_problem import (
    explain_borrowed,
    explain_no_error,
    explain_problem,
    is_explained,
)
from autograder.judging.footprint import Footprint, footprint, slack
from autograder.judging.key import AnswerKey, AspectKey, CaseKey, MistakeKey
from autograder.judging.measures import measured
from autograder.judging.verdict import AspectResult, CaseCount, Exhibit, Verdict

MOST_PROBLEMS = 5
WHOLE_CALL = "*"  # among what is wrong: the call failed, or changed its inputs
OTHERS_ONLY = (
    "It is right on the cases that the notebook shows and wrong on others of the same form: "
    "does the code depend on particular sizes or values? "
)

LEFT_BEHIND = (
    "The first call is right, and the second is not: something is left over from the first. Do you "
    "keep a result, a mask or a size, and use it again? "
)
NOTHING_TO_DROP = (
    "It is right in evaluation mode and wrong in train mode, although `dropout` is 0 and nothing "
    "should be dropped. Pass the argument on: `nn.Dropout(dropout)`."
)
DROPPED = (
    "It is right without dropout and wrong with it: look at where dropout acts, how often, and "
    "with which probability. "
)


def judge(key: AnswerKey, answers: list[Answer]) -> Verdict:
    """Judge the answers, one for each case of the key."""
    if len(answers) != len(key.cases):
        raise ValueError(f"{key.exercise} has {len(key.cases)} cases, not {len(answers)} answers")
    answers = [
        _complete(case, measured(key.measure, case.arguments, answer))
        for case, answer in zip(key.cases, answers, strict=True)
    ]
    pairs = zip(key.cases, answers, strict=True)
    wrong = [_wrong_outputs(key, case, answer) for case, answer in pairs]
    aspects = _charge_once(key, wrong)
    failing = [_failing_cases(key, aspect, wrong) for aspect in aspects]
    verdict = Verdict(
        exercise=key.exercise,
        lesson=key.lesson,
        challenge=key.challenge,
        aspects=[
            _aspect_result(key, aspect, cases)
            for aspect, cases in zip(aspects, failing, strict=True)
        ],
        answered=not any(_is_stub(answer, key.exercise) for answer in answers),
        printed=sum(answer.printed for answer in answers),
        problems=_problems(key, answers),
    )
    found = [(number, index) for number, cases in enumerate(failing) for index in cases]
    if not found:
        return verdict
    number, shown = min(found, key=lambda pair: _rank(key, aspects, wrong, *pair))
    return replace(verdict, **_finding(key, aspects[number], answers, wrong, shown))


def _rank(
    key: AnswerKey, aspects: list[AspectKey], wrong: list[set[str]], number: int, index: int
) -> tuple[bool, bool, int, bool]:
    """Rank a failing case of an aspect; the lowest tells a learner most.

    What goes wrong in a first call, or in a result, explains what follows from it. And a case that
    is not hidden can be shown in full.
    """
    case = key.cases[index]
    counted = wrong[index] & {*_counted(case, aspects[number]), WHOLE_CALL}
    only_gradients = all(name.startswith(GRADIENT) for name in counted)
    return case.again, only_gradients, number, case.hidden


def verdict_given_up(key: AnswerKey) -> Verdict:
    """Return the verdict on an exercise for which the learner took the course's solution."""
    return Verdict(
        exercise=key.exercise,
        lesson=key.lesson,
        challenge=key.challenge,
        aspects=[AspectResult(aspect.name, aspect.points, False) for aspect in key.aspects],
        sentence=(
            "The rest of the notebook uses the course's solution. To "
            f"{'solve it yourself' if key.challenge else 'earn the points'} after all, "
            f"delete the line with `give_up` and write your own `{key.exercise}`."
        ),
        mistake="given up",
        given_up=True,
    )


def unfinished(
    keys: Mapping[str, AnswerKey],
    exercise: str,
    used: Container[str],
    is_finished: Callable[[str], bool],
) -> list[str]:
    """List the exercises that a learner has to finish before one whose answer uses them.

    That is the earlier ones, without those that build on another one of them.
    keys: of the lesson's exercises, in its order. used: names that the answer uses.
    """
    earlier = takewhile(lambda name: name != exercise, keys)
    wrong = [name for name in earlier if name in used and not is_finished(name)]
    return [name for name in wrong if not {*keys[name].builds_on} & {*wrong}]


def blame(verdict: Verdict, first: list[str]) -> Verdict:
    """Blame a wrong answer on exercises that have to be finished first, if any."""
    if verdict.passed or not verdict.answered or not first:
        return verdict
    them = "it" if len(first) == 1 else "them"
    sentence = f"Fix {in_backticks(first)} first: `{verdict.exercise}` builds on {them}."
    return replace(verdict, sentence=sentence, mistake="", exhibit=None)


def find_mistake(
    key: AnswerKey, answers: list[Answer], wrong: list[set[str]], case: int
) -> MistakeKey | None:
    """Find the known mistake that explains the answers, `case` first of all.

    It matches the answer to that case and to half of those that it could have spoiled, and it does
    not show where the answer is right. wrong: what is wrong in each case.
    """
    prints = [footprint(answer) for answer in answers]
    slacks = [slack(a, c.tolerance) for a, c in zip(answers, key.cases, strict=True)]

    def alike(form: list[Footprint], index: int) -> bool:
        if index >= len(form):
            return False
        raises = key.cases[index].raises
        if raises and _raised(form[index].problem, raises):
            return not wrong[index]  # whatever the message says
        return form[index].matches(prints[index], slacks[index])

    def agreement(suspect: tuple[MistakeKey, list[Footprint]]) -> int:
        return sum(alike(suspect[1], index) for index in range(len(answers)))

    def explains(form: list[Footprint]) -> bool:
        if not alike(form, case):
            return False
        bad = [alike(form, index) for index in range(len(form)) if wrong[index]]
        good = [alike(form, index) for index in range(len(form)) if not wrong[index]]
        return 2 * sum(bad) >= len(bad) and all(good)

    forms = [(mistake, form) for mistake in key.mistakes for form in mistake.forms]
    suspects = [(mistake, form) for mistake, form in forms if explains(form)]
    if all(value.dim() == 0 for value in key.cases[case].expected.values()):
        # One wrong True or False proves little, so every case whose answer is known has to agree.
        suspects = [suspect for suspect in suspects if agreement(suspect) == len(suspect[1])]
    mistake, _ = max(suspects, key=agreement, default=(None, []))
    return mistake


def _complete(case: CaseKey, answer: Answer) -> Answer:
    """Return the answer, or a problem if an output is missing (only forged answers lack one)."""
    given = answer.tensors.keys() | answer.lacks.keys()
    if answer.problem or case.raises or given == case.expected.keys():
        return answer
    return Answer(problem=Problem("count", f"other things than ({', '.join(case.expected)})"))


def _wrong_outputs(key: AnswerKey, case: CaseKey, answer: Answer) -> set[str]:
    """Return the names of the outputs that are wrong, and `WHOLE_CALL` if the call is."""
    if case.raises:
        return set() if _raised(answer.problem, case.raises) else {WHOLE_CALL}
    if answer.problem:
        return {WHOLE_CALL}
    wrong = {
        name
        for name in case.expected
        if name in answer.lacks or not _comparison(key, case, answer, name).right
    }
    return wrong | {WHOLE_CALL} if answer.changed else wrong


def _charge_once(key: AnswerKey, wrong: list[set[str]]) -> list[AspectKey]:
    """Return the aspects, so that a kept attribute that is wrong counts in only one of them.

    That is the aspect about this attribute, or else the first in which it is wrong.
    """
    aspects = list(key.aspects)
    for name in key.keeps:
        charged = [
            n
            for n, aspect in enumerate(aspects)
            if any(
                name in wrong[i] and name in _counted(key.cases[i], aspect) for i in aspect.cases
            )
        ]
        about = [n for n in charged if name in aspects[n].outputs]
        for n in set(charged) - set((about or charged)[:1]):
            aspects[n] = replace(aspects[n], ignored=[*aspects[n].ignored, name])
    return aspects


def _failing_cases(key: AnswerKey, aspect: AspectKey, wrong: list[set[str]]) -> list[int]:
    return [i for i in aspect.cases if wrong[i] & {*_counted(key.cases[i], aspect), WHOLE_CALL}]


def _aspect_result(key: AnswerKey, aspect: AspectKey, failing: list[int]) -> AspectResult:
    def count(hidden: bool) -> CaseCount:
        cases = [i for i in aspect.cases if key.cases[i].hidden is hidden]
        return CaseCount(sum(i not in failing for i in cases), len(cases))

    return AspectResult(aspect.name, aspect.points, not failing, count(False), count(True))


def _problems(key: AnswerKey, answers: list[Answer]) -> tuple[Problem, ...]:
    """List the problems that prevented tensors, each one once."""
    found: list[Problem] = []
    for case, answer in zip(key.cases, answers, strict=True):
        for problem in _case_problems(case, answer):
            if not any(problem.same_as(other) for other in found):
                found.append(problem)
    return tuple(found[:MOST_PROBLEMS])


def _case_problems(case: CaseKey, answer: Answer) -> list[Problem]:
    if case.raises and _raised(answer.problem, case.raises):
        return []
    if answer.problem:
        return [answer.problem]
    return [] if case.raises else list(answer.lacks.values())


def _counted(case: CaseKey, aspect: AspectKey) -> list[str]:
    """List the outputs that count in a case: all, or those named and their gradients."""
    outputs = aspect.outputs
    of_gradients = any(name.startswith(GRADIENT) for name in outputs)
    return [
        name
        for name in case.expected
        if name not in aspect.ignored
        and (not outputs or name in outputs or (name.startswith(GRADIENT) and not of_gradients))
    ]


def _raised(problem: Problem | None, error: str) -> bool:
    return problem is not None and problem.kind == "raised" and problem.detail.startswith(error)


def _comparison(key: AnswerKey, case: CaseKey, answer: Answer, name: str) -> Comparison:
    return Comparison(
        name=name,
        got=answer.tensors[name],
        expected=case.expected[name],
        tolerance=case.tolerance.get(name, 0.0),
        dims=key.dims.get(name, ""),
        sizes=case.sizes,
        most_error=case.most_error.get(name),
        returned=name not in key.keeps,
        others=case.expected,
        label=case.label,
        choices=key.choices,
    )


def _finding(
    key: AnswerKey, aspect: AspectKey, answers: list[Answer], wrong_in: list[set[str]], index: int
) -> dict[str, Any]:
    """Return what a verdict says about a failing case: sentence, mistake and exhibit."""
    case, answer = key.cases[index], answers[index]
    if answer.problem and answer.problem.kind in NEVER_CALLED:
        return {"sentence": explain_problem(answer.problem, key.exercise)}
    exhibit = Exhibit(index, case.label, case.shapes, hidden=case.hidden)
    names = _counted(case, aspect)
    lack = next((answer.lacks[name] for name in names if name in answer.lacks), None)
    wrong = None
    if not answer.problem and not lack:
        wrong = _most_telling(key, case, answer, names, wrong_in[index])
    if wrong and not case.hidden:
        exhibit = _show(exhibit, wrong)
    mistake = find_mistake(key, answers, wrong_in, index)
    if mistake:
        return {"exhibit": exhibit, "sentence": mistake.say, "mistake": mistake.name}
    sentence, recognized = _explain(
        key,
        case,
        replace(answer, problem=answer.problem or lack),
        wrong,
        _only_in_training(key, wrong_in),
    )
    if answer.borrowed:
        sentence, recognized = f"{explain_borrowed(answer.borrowed)} {sentence}", True
    return {"exhibit": exhibit, "sentence": sentence, "recognized": recognized}


def _most_telling(
    key: AnswerKey, case: CaseKey, answer: Answer, names: list[str], wrong: set[str]
) -> Comparison | None:
    """Return the first wrong output that a rule recognizes, or else the first wrong one.

    Something that is kept may explain what is returned.
    """
    first = [name for name in names if name in wrong]
    kept = [name for name in case.expected if name in wrong and name in key.keeps]
    order = dict.fromkeys([*first, *kept] if first else [])
    compared = [_comparison(key, case, answer, n) for n in order if n in answer.tensors]
    return next(filter(recognize_difference, compared), next(iter(compared), None))


def _show(exhibit: Exhibit, wrong: Comparison) -> Exhibit:
    """Add a wrong output to what a verdict shows."""
    cell_by_cell = wrong.most_error is None and wrong.got.shape == wrong.expected.shape
    return replace(
        exhibit,
        output=wrong.name,
        expected=wrong.expected,
        got=wrong.got,
        wrong=wrong.wrong_at if cell_by_cell else None,
    )


def _explain(
    key: AnswerKey,
    case: CaseKey,
    answer: Answer,
    wrong: Comparison | None,
    only_in_training: bool,
) -> tuple[str, bool]:
    """Return a sentence, and whether it says what is wrong, not only that something is.

    only_in_training: whether it is right in evaluation mode, and always wrong in train mode.
    """
    if case.raises:
        return explain_no_error(answer.problem, key.exercise, case.raises), True
    if answer.problem:
        sentence = explain_problem(answer.problem, key.exercise, case.sizes)
        return sentence, is_explained(answer.problem)
    if wrong is None or answer.changed:
        return _explain_change(answer.changed), True
    sentence = recognize_difference(wrong)
    said = sentence or describe_difference(wrong)
    if case.again:
        return LEFT_BEHIND + said, True
    if case.dropout == 0 and only_in_training:
        return NOTHING_TO_DROP, True
    if case.dropout and not sentence:
        return DROPPED + said, True
    return said if case.is_shown else OTHERS_ONLY + said, sentence is not None


def _only_in_training(key: AnswerKey, wrong: list[set[str]]) -> bool:
    """Whether a module with dropout is right in evaluation mode, and always wrong in train mode."""
    pairs = list(zip(key.cases, map(bool, wrong), strict=True))
    follows = all(bad == (case.dropout is not None) for case, bad in pairs if not case.raises)
    return follows and any(case.dropout for case in key.cases)


def _explain_change(changed: tuple[str, ...]) -> str:
    return (
        f"The code changes its input {in_backticks(changed)} in place, so the caller's tensor is "
        "no longer what it was. Make a new tensor instead (`x = x - 1`, not `x -= 1`)."
    )


def _is_stub(answer: Answer, exercise: str) -> bool:
    problem = answer.problem
    return problem is not None and problem.kind == "not answered" and problem.detail == exercise
