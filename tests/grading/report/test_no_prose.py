"""No sentence decides anything: with all of them replaced, the report on a class is the same."""

import dataclasses
import hashlib
import itertools
from functools import wraps

import pytest

from autograder.asking.answer import Answer
from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.grading.gradebook.grades import LessonGrades
from autograder.grading.pages.untrusted import checked_verdict
from autograder.grading.report.make_report import make_report
from autograder.grading.report.submissions import Submission
from autograder.judging import explain_difference, explain_error, explain_problem, finding
from autograder.judging.judge import blame, judge, verdict_given_up
from tests.grading.report.judged import CASES, KEY, OTHER, RIGHT, Y, judged, verdicts

TABLES = [
    finding.SENTENCES,
    explain_problem.SENTENCES,
    explain_problem.SETTINGS,
    explain_problem.CURES,
]
TEXTS = ["STUB", "ITEM"]


def reworded(text):
    """Return another text, always the same for the same text."""
    return text and hashlib.sha256(text.encode()).hexdigest()[:12]


def rewording(rule):
    @wraps(rule)
    def speak(comparison):
        return reworded(rule(comparison))

    return speak


@pytest.fixture
def other_words(monkeypatch):
    """Make the judge write other sentences."""
    for table in TABLES:
        for name, text in table.items():
            monkeypatch.setitem(table, name, reworded(text))
    for name in TEXTS:
        monkeypatch.setattr(explain_problem, name, reworded(getattr(explain_problem, name)))
    for name in ("FACTS", "CAUSES", "PLACES"):
        rules = tuple(map(rewording, getattr(explain_difference, name)))
        monkeypatch.setattr(explain_difference, name, rules)
    of_errors = [dataclasses.replace(r, say=reworded(r.say)) for r in explain_error.RULES]
    monkeypatch.setattr(explain_error, "RULES", of_errors)


def class_verdicts():
    """Verdicts on an exercise, one of each kind."""
    yield from verdicts().values()
    yield from [judged(0, Y + 1)] * 2  # a known mistake
    for kind in ProblemKind:
        problem = Problem(kind, "dtype", Place(3, "raise ValueError"))
        yield judge(KEY, [Answer(RIGHT), *[Answer(problem=problem)] * (len(CASES) - 1)])
        yield judge(KEY, [Answer(problem=problem)] * len(CASES))
    yield judge(KEY, [Answer(problem=Problem(ProblemKind.NOT_ANSWERED, "f"))] * len(CASES))
    yield blame(judged(0, OTHER), ["e"])
    yield verdict_given_up(KEY)
    yield judge(KEY, [Answer(RIGHT) for _ in CASES])


def told(verdict_of):
    """What the report says about a class, without the sentences.

    verdict_of: reads a verdict.
    """
    submissions = []
    for number, verdict in enumerate(class_verdicts()):
        other = judged(0, Y + 2 if verdict.mistake else Y)
        both = {"f": verdict_of(verdict), "g": verdict_of(other)}
        submissions.append(Submission(f"learner{number}", 1.0, both))
    found = make_report("01", submissions, LessonGrades(), {})
    assert {"given up", "a slip", "a slur", ""} == {made.name for made in found.mistakes}
    assert found.forbidden and found.same_mistakes and found.ended_early and found.kinds
    wordless = [(made.exercise, made.name, made.learners) for made in found.mistakes]
    leads = [(lead.learner, lead.exercise, str(lead.where)) for lead in found.ended_early]
    exercises = [
        dataclasses.replace(one, wrong=without_words(one)) for one in found.exercises.values()
    ]
    facts = found.kinds, found.same_mistakes, found.forbidden, found.only_public
    facts += ([(row.grade, row.outcome, row.points, row.judged) for row in found.rows],)
    return facts, wordless, leads, exercises


def without_words(report):
    """Who gave which wrong answers, by what was found."""
    return {found: [*told] for found, told in report.wrong.items()}


def as_it_is(verdict):
    return checked_verdict(verdict.summary())


def in_other_words(verdict):
    summary = verdict.summary()
    return checked_verdict(summary | {"sentence": reworded(summary["sentence"])})


def in_words_of_its_own(verdict):
    return checked_verdict(verdict.summary() | {"sentence": f"sentence {next(NUMBERS)}"})


NUMBERS = itertools.count()
AS_IT_IS = told(as_it_is)


@pytest.mark.parametrize("verdict_of", [in_other_words, in_words_of_its_own])
def test_no_sentence_of_a_verdict_decides_anything(verdict_of):
    assert told(verdict_of) == AS_IT_IS


def test_no_sentence_in_the_judge_decides_anything(other_words):
    for wrong in (OTHER, Y[:1], 3 * Y):  # told by a place, a fact and a cause
        assert " " not in judged(0, wrong).sentence
    assert told(in_other_words) == AS_IT_IS
