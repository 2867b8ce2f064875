"""Which learners in made-up classes have the same code: those who copied, in disguise or not."""

import itertools
from collections import defaultdict

import pytest

from autograder.grading.report.code_print import code_print, statements
from autograder.grading.report.same_code import MOST_GROUPS, enough, same_code
from autograder.lessons.rewriting import rewrite
from tests.grading.report.disguise import disguised
from tests.grading.report.made import BARE


def body(*lines):
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


EIGHT = body(*(f"a{i} = x + {i}" for i in range(7)), "return a0")


def groups(sources, given=BARE):
    prints = {learner: code_print(source) for learner, source in sources.items()}
    known = {learner: p.without(statements(given)) for learner, p in prints.items() if p}
    return same_code({"f": known})


def of_their_own(count):
    """Answers by learners who have nothing in common."""
    return {f"own_{n:03}": body(f"b = x - {n}", f"return b * {n}") for n in range(count)}


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (EIGHT, True),
        (disguised(EIGHT), True),
        (disguised(EIGHT, 1).replace("+ 3", "- 3"), False),
        (body("return x"), False),
        (BARE, False),
        ("def f(", False),
    ],
)
def test_two_have_the_same_code(other, named):
    assert bool(groups({"ann": EIGHT, "ben": other})) is named


def test_it_is_said_whether_even_the_names_are_the_same():
    (group,) = groups({"ann": EIGHT, "ben": "# mine\n" + EIGHT})
    assert group.shared[0].to_the_letter and group.shared[0].statements == 8
    (group,) = groups({"ann": EIGHT, "ben": disguised(EIGHT)})
    assert not group.shared[0].to_the_letter and group.shared[0].statements == 8


def test_the_courses_solution_is_no_evidence_nor_most_of_it():
    sources = {"ann": EIGHT, "ben": EIGHT}
    assert not groups(sources, given=EIGHT)
    # Two who make the same mistake in the solution share one statement.
    wrong = EIGHT.replace("+ 3", "- 3")
    assert not groups({"ann": wrong, "ben": wrong} | of_their_own(10), given=EIGHT)


def test_what_many_write_is_no_evidence():
    others = of_their_own(20)
    assert groups({"ann": EIGHT, "ben": EIGHT} | others)
    many = {f"learner_{i}": disguised(EIGHT, i) for i in range(12)}
    assert not groups(many | others)


def test_short_code_is_evidence_if_several_exercises_add_up():
    three = {e: code_print(body(f"a = x + {e}", f"b = a * {e}", f"return b - {e}")) for e in "123"}
    class_of = {e: {f"own_{n}": code_print(f"y = {e} * {n}") for n in range(20)} for e in "123"}
    for number in (1, 2, 3):
        prints = {e: dict(of) for e, of in class_of.items()}
        for e in "123"[:number]:
            prints[e] |= {"ann": three[e], "ben": three[e]}
        found = same_code(prints)
        assert [group.learners for group in found] == ([("ann", "ben")] if number > 1 else [])
    assert [shared.exercise for shared in found[0].shared] == ["1", "2", "3"]


def test_a_group_is_named_once_and_part_of_it_only_if_that_says_more():
    three = {learner: disguised(EIGHT, seed) for seed, learner in enumerate("abc")}
    found = groups(three | of_their_own(20))
    assert [group.learners for group in found] == [("a", "b", "c")]
    # Two of them share more, in another exercise.
    prints = {learner: code_print(source) for learner, source in three.items()}
    alone = {learner: code_print(source) for learner, source in of_their_own(20).items()}
    longer = {learner: code_print(body(*(f"b{i} = x - {i}" for i in range(9)))) for learner in "ab"}
    found = same_code({"f": prints | alone, "g": longer | alone})
    assert [group.learners for group in found] == [("a", "b"), ("a", "b", "c")]


def test_the_larger_the_class_the_more_it_takes():
    assert enough(2) < enough(24) < enough(1000)
    four = body("a = x + 1", "b = a * 2", "c = b - 3", "return c / 4")
    pair = {"ann": four, "ben": disguised(four)}
    assert groups(pair | of_their_own(1)) and not groups(pair | of_their_own(200))


def test_in_a_large_class_the_strongest_are_named():
    pairs = {
        f"learner_{number}_{who}": EIGHT.replace("x +", f"x * {number} +")
        for number in range(2 * MOST_GROUPS)
        for who in "ab"
    }
    assert len(groups(pairs)) == MOST_GROUPS


def answers(lesson):
    """The answers of a made-up class: each learner answers each exercise in a different right way.

    Once there are no more right ways, answers are missing.
    """
    found = defaultdict(dict)
    for exercise in lesson.exercises:
        solution = lesson.solutions[exercise.name]
        ways = [rewrite(solution, alternative) for alternative in exercise.alternatives]
        for number, source in enumerate([solution, *ways]):
            found[exercise.name][f"learner_{number}"] = source
    return found


def found_in(lesson, sources):
    """The pairs that are named."""
    prints = {
        exercise: {
            learner: code_print(source).without(statements(lesson.solutions[exercise]))
            for learner, source in by_learner.items()
        }
        for exercise, by_learner in sources.items()
    }
    found = (itertools.combinations(group.learners, 2) for group in same_code(prints))
    return set(itertools.chain.from_iterable(found))


def test_independent_right_answers_are_not_named_and_copies_are(lesson):
    sources = answers(lesson)
    assert found_in(lesson, sources) == set()
    # A disguised copy of all answers is found if there is enough in them that is not the course's.
    originals = {learner for by_learner in sources.values() for learner in by_learner}
    for original in sorted(originals):
        copied = {
            exercise: by_learner | {"copy": disguised(by_learner[original])}
            for exercise, by_learner in sources.items()
            if original in by_learner
        }
        own = sum(
            len(code_print(of[original]).without(statements(lesson.solutions[e])).statements)
            for e, of in copied.items()
        )
        named = found_in(lesson, sources | copied)
        assert named <= {("copy", original)}
        assert (("copy", original) in named) is (own >= enough(len(originals) + 1))
