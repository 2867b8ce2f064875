"""What an answer's code shows: a lost gradient, unused arguments, a stub or a `self` too few."""

import pytest
import torch
from torch import nn

from autograder.asking.code_facts import cut_in, unused_arguments
from autograder.asking.collect import collect
from autograder.asking.problem import Instead, ProblemKind
from autograder.asking.question import Call, Question
from autograder.judging.explain_problem import explain_problem

QUESTION = Question("f", [Call({"x": torch.ones(3)}, gradients=True)], ["y"])


def problem_of(answer, question=QUESTION):
    [collected] = collect(answer, question)
    return collected.problem


def copies(x):
    doubled = [2 * value for value in x]
    return torch.tensor(doubled)


def detaches(x):
    return (2 * x.detach()).sum()


def copies_inside(x):
    def double(value):
        return torch.tensor(2 * float(value))

    return torch.stack([double(value) for value in x])


@pytest.mark.parametrize(
    ("answer", "line", "how"),
    [
        (copies, "return torch.tensor(doubled)", Instead.COPY),
        (detaches, "return (2 * x.detach()).sum()", Instead.OTHER),
        (copies_inside, "return torch.tensor(2 * float(value))", Instead.COPY),
    ],
)
def test_the_line_that_ends_the_gradient_is_named(answer, line, how):
    problem = problem_of(answer)
    assert (problem.kind, problem.place.code, problem.instead) == (ProblemKind.DETACHED, line, how)
    said = explain_problem(problem, "f")
    assert f"(`{line}`) forgets where its numbers came from" in said
    assert ("`torch.stack` makes one tensor of several" in said) == (how == Instead.COPY)


def test_a_line_in_a_function_that_the_answer_uses_is_named():
    def f(x):
        return 2 * detaches(x)

    place, _ = cut_in(f)
    assert (place.function, place.code) == ("detaches", "return (2 * x.detach()).sum()")
    said = explain_problem(problem_of(f), "f")
    assert "of your `detaches` (`return (2 * x.detach()).sum()`) forgets" in said


def test_of_several_lines_none_is_blamed():
    def twice(x):
        copied = torch.tensor(x.tolist())
        return copied.detach()

    assert cut_in(twice) == (None, Instead.OTHER)
    assert "Is there a `detach()`" in explain_problem(problem_of(twice), "f")


def test_a_copy_that_is_only_kept_is_not_to_blame():
    class Keeping(nn.Module):
        @torch.no_grad()
        def forward(self, x):
            self.kept = x.detach()
            return 2 * x

    class Using(nn.Module):
        def forward(self, x):
            self.kept = x.detach()
            return 2 * self.kept

    assert cut_in(Keeping)[0] is None
    assert cut_in(Using)[0].code == "self.kept = x.detach()"


def test_arguments_that_are_never_read():
    def all_read(x, y=1, *, z=2):
        return [x + i for i in range(y)] + [z]

    def some(x, y, z):
        def inner():
            return z

        return inner

    class Layer(nn.Module):
        def forward(self, x, keep):
            return x

    class Frozen(nn.Module):
        @torch.no_grad()
        def forward(self, x, keep):
            return keep

    assert unused_arguments(all_read) == ()
    assert unused_arguments(some) == ("x", "y")
    assert unused_arguments(Layer) == ("keep",) and unused_arguments(Frozen) == ("x",)
    assert unused_arguments(len) == ()


def test_a_stub_left_below_an_answer():
    def f(x):
        x = 2 * x
        raise NotImplementedError()

    def stub(x):
        """Double it."""
        raise NotImplementedError()

    def stub_with_a_line(x):
        x = x + 1
        # YOUR CODE HERE
        raise NotImplementedError()

    def answered_with_a_line(x):
        x = x + 1
        # YOUR CODE HERE
        x = 2 * x
        raise NotImplementedError()

    def problem(function):
        function.__code__ = function.__code__.replace(co_qualname="f")
        return problem_of(function)

    for answered in (f, answered_with_a_line):
        assert problem(answered).kind == ProblemKind.STUB_BELOW
        assert "Delete that line" in explain_problem(problem(answered), "f")
    for untouched in (stub, stub_with_a_line):
        assert problem(untouched).kind == ProblemKind.NOT_ANSWERED


def asked(build):
    call = Call({"x": torch.ones(3)}, build={}, parameters=build)
    return Question("Layer", [call], ["y"])


def test_a_method_without_self():
    class Layer(nn.Module):
        def forward(x):
            return x

    class Typed(nn.Module):
        def forward(self, x, y):
            return x

    problem = problem_of(Layer, asked(None))
    assert problem.kind == ProblemKind.NO_SELF
    assert "`def forward(self, …)`" in explain_problem(problem, "Layer")
    assert problem_of(Typed, asked(None)).kind == ProblemKind.ARGUMENTS


def test_a_plain_tensor_where_a_parameter_should_be():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.ones(3)

        def forward(self, x):
            return x * self.weight

    problem = problem_of(Layer, asked({"weight": torch.ones(3)}))
    assert problem.kind == ProblemKind.PLAIN_PARAMETER
    assert "`self.weight` is a plain tensor" in explain_problem(problem, "Layer")
