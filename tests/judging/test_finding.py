"""Each rule has an id of its own, and each general one a sentence."""

from autograder.asking.problem import ProblemKind
from autograder.judging.explain_difference import CAUSES, FACTS, PLACES
from autograder.judging.finding import SENTENCES, General


def test_no_two_rules_share_an_id():
    of_differences = [rule.__name__ for rule in (*FACTS, *CAUSES, *PLACES)]
    ids = [*of_differences, *General, *ProblemKind]
    assert len(set(ids)) == len(ids)


def test_every_general_rule_has_a_sentence():
    assert SENTENCES.keys() == set(General)
