"""Which learners in made-up classes share rare mistakes: chance seldom names anyone."""

import random

import pytest

from autograder.grading.report.same_code import MOST_GROUPS
from autograder.grading.report.same_mistakes import MOST_BY_CHANCE, same_mistakes

COMMON = ("not scaled", "no transpose", "hard attention")


def made_by(*learners, **made):
    """Have all these learners make the same mistakes, by exercise."""
    return {exercise: dict.fromkeys(learners, mistake) for exercise, mistake in made.items()}


def class_of(size, exercises=5, mistakes=COMMON, seed=0):
    """A class in which each learner makes some of the mistakes, independently of the others."""
    chance = random.Random(seed)
    often = {f"learner_{number}": chance.random() for number in range(size)}
    return {
        f"exercise_{number}": {
            learner: f"{chance.choice(mistakes)} {number}"
            for learner, share in often.items()
            if chance.random() < share
        }
        for number in range(exercises)
    }


def with_those(made, others):
    return {exercise: by | others.get(exercise, {}) for exercise, by in made.items()}


@pytest.mark.parametrize("size", [10, 24, 200])
def test_two_mistakes_that_nobody_else_made_are_a_lead(size):
    alike = made_by("ann", "ben", exercise_0="distance", exercise_1="reversed")
    group = same_mistakes(with_those(class_of(size), alike))[0]
    assert group.learners == ("ann", "ben") and group.by_chance <= MOST_BY_CHANCE
    assert [(one.exercise, one.mistake, one.makers) for one in group.mistakes] == [
        ("exercise_0", "distance", 2),
        ("exercise_1", "reversed", 2),
    ]


def test_two_mistakes_are_a_lead_even_if_only_two_err():
    (group,) = same_mistakes(made_by("ann", "ben", one="distance", two="reversed"))
    assert group.learners == ("ann", "ben")


@pytest.mark.parametrize(
    "alike",
    [
        made_by("ann", "ben", exercise_0="distance"),
        made_by("ann", "ben", exercise_0="distance", exercise_1="distance"),
        made_by("ann", "ben", exercise_0="not scaled 0", exercise_1="not scaled 1"),
        made_by(*"abcdefgh", exercise_0="distance", exercise_1="reversed"),
    ],
    ids=["one", "one misunderstanding", "common ones", "of many"],
)
def test_anything_less_is_not_a_lead(alike):
    assert same_mistakes(with_those(class_of(40), alike)) == []


def test_three_who_share_them_are_one_group():
    alike = made_by("ann", "ben", "cleo", exercise_0="distance", exercise_1="reversed")
    (group,) = same_mistakes(with_those(class_of(40), alike))
    assert group.learners == ("ann", "ben", "cleo")


def test_the_less_likely_come_first():
    two = made_by("ann", "ben", exercise_0="distance", exercise_1="reversed")
    three = made_by("dan", "eve", exercise_1="a", exercise_2="b", exercise_3="c")
    found = same_mistakes(with_those(with_those(class_of(40), two), three))
    assert [group.learners for group in found] == [("dan", "eve"), ("ann", "ben")]
    assert found[0].by_chance < found[1].by_chance


def test_where_everybody_makes_rare_mistakes_sharing_two_is_chance():
    rare = [f"mistake {number}" for number in range(20)]
    crowd = class_of(60, mistakes=rare)
    alike = made_by("ann", "ben", exercise_0="distance", exercise_1="reversed")
    assert ("ann", "ben") not in {group.learners for group in same_mistakes(crowd | alike)}


@pytest.mark.parametrize("size", [24, 60, 200])
def test_learners_who_err_independently_are_seldom_named(size):
    """At most once in five classes, although they differ in how often they err."""
    mistakes = [f"mistake {number}" for number in range(20)]
    classes = [class_of(size, 6, mistakes, seed) for seed in range(40)]
    assert sum(len(same_mistakes(made)) for made in classes) <= 8


def test_a_large_class_with_many_exercises_is_bounded():
    pairs = {
        f"exercise_{e}": {f"{who}_{n}": f"{n} {e}" for n in range(500) for who in "ab"}
        for e in range(20)
    }
    assert len(same_mistakes(pairs)) == MOST_GROUPS
