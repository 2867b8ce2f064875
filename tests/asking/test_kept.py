"""What a call changes is restored, and reported."""

import pytest
import torch
from torch import nn

from autograder.asking.arguments import Code, StandIn, load_parameters
from autograder.asking.collect import collect
from autograder.asking.question import Call, Question
from autograder.judging.explain_problem import explain_problem

WORDS = torch.randn(2, 3)


def said_of(function, **arguments):
    question = Question("f", [Call({"words": WORDS} | arguments)], returns=["result"])
    [answer] = collect(function, question)
    return explain_problem(answer.problem, "f") if answer.problem else ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: torch.set_grad_enabled(False), "switches gradients off or on, and leaves them so"),
        (lambda: torch.set_default_dtype(torch.float64), "changes torch's default dtype"),
        (lambda: torch.manual_seed(0), "sets torch's seed"),
    ],
)
def test_settings_are_restored_and_the_change_is_reported(change, words):
    def f(words, *rest):
        change()
        return words

    before = torch.random.get_rng_state()
    assert words in said_of(f)
    assert torch.is_grad_enabled() and torch.get_default_dtype() is torch.float32
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_function_with_a_seed_may_set_it():
    def f(words, seed):
        torch.manual_seed(seed)
        return words

    assert said_of(f, seed=3) == ""


def test_settings_are_restored_after_an_error():
    def f(words):
        torch.set_grad_enabled(False)
        raise ValueError("no")

    assert "ValueError: no" in said_of(f)
    assert torch.is_grad_enabled()


def test_a_call_must_not_make_an_input_require_gradients():
    assert "`words` require gradients" in said_of(lambda words: words.requires_grad_())
    assert said_of(lambda words: words.clone().requires_grad_()) == ""


class Spoiling(nn.Module):
    """A linear layer that does something to itself on each call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, words):
        self.spoil()
        return self.layer(words)

    def spoil(self):
        pass


class Frozen(Spoiling):
    def spoil(self):
        self.requires_grad_(False)


class Moved(Spoiling):
    def spoil(self):
        load_parameters(self, {"layer.bias": self.layer.bias + 1})


class Seeded(Spoiling):
    def __init__(self):
        torch.manual_seed(5)
        super().__init__()


class SeededAsTheCheckDoes(Spoiling):
    def __init__(self):
        torch.manual_seed(0)
        super().__init__()


class Switched(Spoiling):
    def spoil(self):
        self.layer.train()


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (Spoiling, None),
        (Frozen, "the parameter `layer.weight` can't be trained"),
        (Moved, "changes the parameter `layer.bias`"),
        (Seeded, "sets torch's seed"),
        (SeededAsTheCheckDoes, "sets torch's seed"),
        (Switched, "changes whether `layer` is in train or in evaluation mode"),
    ],
)
def test_a_module_stays_as_it_is(module, words):
    question = Question("f", [Call({"words": WORDS}, build={})], returns=["result"])
    [answer] = collect(module, question)
    assert words in explain_problem(answer.problem, "f") if words else not answer.problem


NUMBERS = torch.zeros(2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda target: target.scale.data.copy_(NUMBERS), ""),
        (lambda target: setattr(target, "scale", nn.Parameter(NUMBERS.clone())), ""),
        (lambda target: target.requires_grad_(False), "`target.scale` can't be trained"),
        (
            lambda target: target.scale.requires_grad_(False).copy_(
                NUMBERS.clone().requires_grad_() * 2
            ),
            "`target.scale` can't be trained",
        ),
    ],
    ids=["filled", "replaced", "frozen", "no longer a parameter of its own"],
)
def test_a_module_argument_can_still_be_trained(change, said):
    def f(target):
        change(target)

    target = StandIn({"scale": torch.ones(2)})
    [answer] = collect(f, Question("f", [Call({"target": target})], returns=[], reads=["target"]))
    assert said in explain_problem(answer.problem, "f") if said else not answer.problem


def changed(do):
    """What a check says about a call that does something to a module that it is given."""

    def f(words, model):
        do(model)
        return words

    model = Code("model = nn.Sequential(nn.Linear(3, 2), nn.Dropout())")
    return said_of(f, model=model)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda model: model[0].weight.data.mul_(2), "the numbers in `0.weight` of `model`"),
        (lambda model: model.eval(), "the mode (train or evaluation) of `model`"),
        (lambda model: model[1].eval(), "the mode (train or evaluation) of its part `1`"),
        (lambda model: model[0](WORDS).sum().backward(), "the `.grad` of `0.weight`"),
        (lambda model: model[0].register_forward_hook(print), "the hooks of its part `0`"),
        (lambda model: setattr(model, "1", nn.ReLU()), "the part `1` of `model`"),
        (lambda model: model.append(nn.ReLU()), "the parts of `model`"),
    ],
)
def test_what_is_given_has_to_stay_as_it_was(do, words):
    assert words in changed(do)


def test_a_module_may_be_used_and_restored():
    def use(model):
        hook = model[0].register_forward_hook(lambda *call: None)
        model.eval()(WORDS)
        hook.remove()
        model.train()

    assert changed(use) == ""


def test_an_input_is_left_without_gradients():
    def f(words):
        leaf = words.requires_grad_()
        leaf.sum().backward()
        return words.requires_grad_(False)

    assert "`.grad` of `words`" in said_of(f)
