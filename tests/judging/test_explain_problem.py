"""Each problem has a sentence, with a cure or a line of code if there is one."""

import numpy as np
import pytest
import torch

from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.asking.returned import wrong_type
from autograder.judging.explain_problem import SENTENCES, explain_problem

PROBLEMS = [
    (ProblemKind.NOT_ANSWERED, "f", "`f` is not answered yet. Replace"),
    (ProblemKind.NOT_ANSWERED, "g", "`f` uses `g`, which is not answered yet"),
    (ProblemKind.ARGUMENTS, "(x)", "`f` takes (x). Restore"),
    (ProblemKind.CHOICE, "'a', not 'b'", "`f` returned 'a', not 'b'."),
    (ProblemKind.KEYS, "other keys", "`f` returned other keys."),
    (ProblemKind.SHARED, "W is V", "W is V: change one and the other changes."),
    (ProblemKind.METHOD, "forward", "should have a method `forward`"),
    (
        ProblemKind.CLASS,
        "a function",
        "should be a class that inherits from `nn.Module`; it is a function.",
    ),
    (ProblemKind.CONSTRUCTOR, "(n)", "The constructor of `f` takes (n)."),
    (ProblemKind.PARAMETERS, "lacks `a`", "The parameters don't match: `f` lacks `a`."),
    (ProblemKind.PARAMETER_SHAPE, "W is flat", "In `f` the parameter W is flat."),
    (ProblemKind.ATTRIBUTE, "weights", "should keep `self.weights`"),
    (ProblemKind.OTHER_ATTRIBUTE, "`window` is 4", "`window` is 4. Keep it as it was given."),
    (ProblemKind.NEVER_TRAINED, "w", "The parameter `w` can't be trained: it is made with"),
    (ProblemKind.ATTACHED, "weights", "`self.weights` still holds the graph"),
    (ProblemKind.GRAPH, "", "`f` returned a tensor that holds the graph"),
    (ProblemKind.MODE, "train", "leaves the model in train mode"),
    (ProblemKind.DETACHED, "words", "No gradient flows back from `words`."),
    (ProblemKind.COUNT, "one thing", "`f` returned one thing. Return them together"),
    (ProblemKind.SIZE, "(9, 9)", "shape (9, 9), far too large"),
    (ProblemKind.FORBIDDEN, "softmax", "without torch's `softmax`."),
    (ProblemKind.TIME, "10", "No answer after 10 seconds of computing"),
    (ProblemKind.WAITING, "10", "after 10 seconds, most of them spent waiting"),
    (ProblemKind.RECURSION, "", "`f` calls itself without end."),
    (ProblemKind.MEMORY, "", "The computer's memory ran out"),
    (ProblemKind.RAISED, "E: x", "The code stopped with E: x."),
    (ProblemKind.UNDEFINED, "", "There is no `f`: the cell"),
    (ProblemKind.CHECK_TIMED_OUT, "10 s", "The check of `f` took too long: 10 s."),
    (ProblemKind.NOT_RUN, "torn.", "The check of `f` did not run: torn."),
    (ProblemKind.UNREADABLE, "odd", "can't be read as an answer (odd)."),
    (ProblemKind.NO_ANSWER, "", "No answer came in for `f`"),
]


@pytest.mark.parametrize(("kind", "detail", "words"), PROBLEMS)
def test_problems_are_explained(kind, detail, words):
    said = explain_problem(Problem(kind, detail), "f")
    assert words in said and said.endswith((".", "?", "`."))
    assert "happened at" not in said


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("type", None, "returned None; it should return a torch tensor. Is a `return` missing?"),
        ("type", np.zeros(2), "torch tensor. Stay with torch's own functions: they"),
        ("type", [[torch.zeros(2)]], "torch tensor. `torch.stack` makes one tensor of them"),
        ("type", [[1, 2]], "torch tensor. `torch.tensor` makes one of them."),
        ("type", ["a"], "`f` returned a list; it should return a torch tensor."),
        ("type", (1, 2), "torch tensor. Return only the one that the exercise asks for."),
        ("type", "a", "`f` returned a str; it should return a torch tensor."),
        ("plain", ["a"], "plain number (or a plain True or False). `.item()` turns a tensor"),
        ("plain", None, "plain number (or a plain True or False). Is a `return` missing?"),
        ("module", None, "it should return a module. Is a `return` missing?"),
    ],
)
def test_a_wrong_type_comes_with_its_cure(kind, value, words):
    said = explain_problem(wrong_type(ProblemKind(kind), value).problem, "f")
    assert words in said and said.endswith(".") == ("missing?" not in said)


def test_every_kind_has_a_sentence():
    assert SENTENCES.keys() == set(ProblemKind)


@pytest.mark.parametrize("kind", ["forbidden", "time", "waiting", "memory", "raised"])
def test_the_line_of_a_problem_is_named(kind):
    said = explain_problem(Problem(ProblemKind(kind), "10", Place(3, "of f")), "f")
    assert said.endswith(" It happened at line 3: of f.")


def test_a_line_that_ends_with_a_colon_ends_the_sentence_without_it():
    said = explain_problem(
        Problem(ProblemKind.RAISED, "E: x", Place(9, "for i in range(len(words)):")), "f"
    )
    assert said.endswith(" It happened at line 9: for i in range(len(words)).")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place(3, "raise ValueError('n')"), "Your own `raise` stopped the code, but these sizes "),
        (Place(3, "raise ValueError('n')", "g"), "stopped with ValueError: n. It happened in `g`,"),
        (Place(3, "raised = 2"), "The code stopped with ValueError: n. It happened at line 3: rai"),
    ],
)
def test_the_learners_own_raise_is_told_apart(place, words):
    problem = Problem(ProblemKind.RAISED, "ValueError: n", place)
    assert words in explain_problem(problem, "f")


@pytest.mark.parametrize(
    ("line", "told"),
    [("words * words.T", True), ("total + w * word", False), ("a * b @ c", False)],
)
def test_the_two_products_are_told_apart_where_nothing_else_can_have_failed(line, told):
    sizes = "The size of tensor a (3) must match the size of tensor b (2)"
    error = f"RuntimeError: {sizes} at non-singleton dimension 0"
    said = explain_problem(Problem(ProblemKind.RAISED, error, Place(4, line)), "f")
    assert ("`@` is the matrix product" in said) == told
