"""Modules as answers: built, given parameters by name, called and differentiated."""

import dataclasses

import pytest
import torch
from torch import nn

from autograder.asking.arguments import Code, Library, StandIn, make
from autograder.asking.codec import decode, encode
from autograder.asking.collect import collect
from autograder.asking.question import Call, Question
from autograder.asking.returned import other_parameters
from autograder.judging.explain_problem import explain_problem

WORDS = torch.randn(4, 3)
PARAMETERS = {"weight": torch.randn(3, 5), "bias": torch.randn(5)}
CALL = Call({"words": WORDS}, build={"d_in": 3, "d_out": 5}, parameters=PARAMETERS)
QUESTION = Question("Affine", [CALL], returns=["result"], keeps=["scaled"], keeps_detached=True)


class Affine(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))

    def forward(self, words):
        scaled = words @ self.weight
        self.scaled = scaled.detach()
        return scaled + self.bias


def ask(answer, **changes):
    question = dataclasses.replace(QUESTION, calls=[dataclasses.replace(CALL, **changes)])
    [answer] = collect(answer, question)
    return answer


def test_parameters_are_loaded_by_name():
    answer = ask(Affine)
    torch.testing.assert_close(answer.tensors["scaled"], WORDS @ PARAMETERS["weight"])
    expected = WORDS @ PARAMETERS["weight"] + PARAMETERS["bias"]
    torch.testing.assert_close(answer.tensors["result"], expected)


def test_own_parameters_are_drawn_from_a_fixed_seed():
    torch.manual_seed(0)
    weight = torch.rand(3, 5)
    torch.manual_seed(123)
    torch.testing.assert_close(ask(Affine, parameters=None).tensors["scaled"], WORDS @ weight)


def test_gradients_of_arguments_and_parameters():
    answer = ask(Affine, gradients=True)
    weights = torch.arange(20.0).cos().view(4, 5)
    wanted = {
        "gradient of words": weights @ PARAMETERS["weight"].T,
        "gradient of weight": WORDS.T @ weights,
        "gradient of bias": weights.sum(0),
    }
    assert answer.tensors.keys() == {"result", "scaled", *wanted}
    for name, value in wanted.items():
        torch.testing.assert_close(answer.tensors[name], value)


def test_the_mode_and_the_dtype():
    class Mode(Affine):
        def forward(self, words):
            self.scaled = words
            return words.new_tensor(float(self.training))

    assert ask(Mode).tensors["result"] == 0
    assert ask(Mode, training=True).tensors["result"] == 1
    double = ask(Affine, arguments={"words": WORDS.double()})
    assert double.tensors["result"].dtype is torch.float64


def test_a_module_with_integer_inputs_has_the_dtype_of_its_parameters():
    class Row(Affine):
        def forward(self, words):
            self.scaled = self.weight
            return self.weight[words]

    doubles = {name: value.double() for name, value in PARAMETERS.items()}
    answer = ask(Row, arguments={"words": torch.tensor([1])}, parameters=doubles)
    assert answer.tensors["result"].dtype is torch.float64


def variant(**methods):
    return type("Affine", (Affine,), methods)


def renamed(self, d_in, d_out):
    nn.Module.__init__(self)
    self.w = nn.Parameter(torch.rand(d_in, d_out))


def transposed(self, d_in, d_out):
    Affine.__init__(self, d_out, d_in)


def one_size(self, d_in):
    nn.Module.__init__(self)


def tied(self, d_in, d_out):
    nn.Module.__init__(self)
    self.weight = self.bias = nn.Parameter(torch.rand(d_in, d_out))


def switches(self, words):
    self.train()
    return Affine.forward(self, words)


def keeps_nothing(self, words):
    return words @ self.weight + self.bias


def keeps_the_graph(self, words):
    self.scaled = words @ self.weight
    return self.scaled + self.bias


def detaches(self, words):
    self.scaled = words.detach()
    return (words @ self.weight + self.bias).detach()


def unanswered(self, words):
    raise NotImplementedError()


unanswered.__code__ = unanswered.__code__.replace(co_qualname="Affine.forward")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda words: words, "should be a class that inherits from `nn.Module`; it is a function"),
        (dict, "should be a class that inherits from `nn.Module`"),
        (variant(__init__=renamed), "`Affine` lacks `weight`, `bias` and has an extra `w`"),
        (variant(__init__=tied), "`bias` is `weight`"),
        (variant(forward=switches), "leaves the model in training mode"),
        (variant(__init__=transposed), "parameter weight has shape (5, 3), not (3, 5)"),
        (variant(__init__=one_size), "takes (d_in), and is built with (d_in, d_out)"),
        (variant(forward=lambda self: 1), "takes (nothing), and is called with (words)"),
        (variant(forward=keeps_nothing), "should keep `self.scaled`"),
        (variant(forward=keeps_the_graph), "Keep `scaled.detach()`"),
        (variant(forward=detaches), "No gradient flows back from `result`"),
        (variant(forward=unanswered), "`Affine` is not answered yet"),
        (variant(forward=lambda self, words: None), "returned None"),
    ],
)
def test_problems_of_a_module_are_named(answer, words):
    got = ask(answer, gradients=True)
    problem = got.problem or got.lacks["scaled"]
    assert words in explain_problem(problem, "Affine")


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (["net.1.weight", "net.1.bias"], "so a step before it is missing, such as a ReLU"),
        (["net.3.weight", "net.3.bias"], "lacks `net.2.weight`, `net.2.bias` and has an extra"),
        (["net.1.weight"], "lacks `net.2.weight`, `net.2.bias` and has an extra `net.1.weight`"),
        (["net.1.weight", "web.1.bias"], "lacks `net.2.weight`, `net.2.bias` and has an extra"),
    ],
)
def test_parameters_at_another_place_in_a_list(there, words):
    wanted = ["net.0.weight", "net.2.weight", "net.2.bias"]
    assert words in other_parameters(["net.0.weight", *there], wanted).problem.detail


def test_a_list_with_too_few_modules():
    wanted = [f"heads.{number}.weight" for number in range(3)]
    said = other_parameters(wanted[:2], wanted).problem.detail
    assert said == "has 2 modules in `heads`, and should have 3"


def test_a_stand_in_has_the_parameters_and_layers_it_is_given():
    weight, bias = torch.randn(2, 3), torch.randn(2)
    module = StandIn({"w": torch.ones(4), "query.weight": weight, "query.bias": bias}).make()
    assert isinstance(module.w, nn.Parameter)
    torch.testing.assert_close(module.query(torch.ones(3)), weight.sum(1) + bias)
    assert StandIn({"key.weight": weight}).make().key.bias is None
    assert StandIn({}, {"n_heads": 3}).make().n_heads == 3


def test_a_librarys_module():
    build = {"embed_dim": 4, "num_heads": 2}
    parameters = {"out_proj.bias": torch.arange(4.0)}
    module = Library("torch.nn.MultiheadAttention", build, parameters).make()
    torch.testing.assert_close(module.out_proj.bias.detach(), torch.arange(4.0))


def test_code_makes_a_function():
    double = Code("factor = 2\ndef double(x):\n    return factor * torch.as_tensor(x)").make()
    assert double(3) == 6


def test_code_that_uses_numbers():
    source = "def times(x):\n    return factor * x"
    double, triple = (Code(source, numbers={"factor": factor}).make() for factor in (2, 3))
    assert (double(5), triple(5)) == (10, 15)


def test_descriptions_travel_as_plain_data():
    arguments = {
        "source": StandIn({"w": WORDS}),
        "mha": Library("torch.nn.Linear", {"in_features": 1, "out_features": 2}),
        "code": Code("def f(): return 1"),
        "dtype": torch.float16,
        "n": 3,
    }
    back = Call.from_tree(decode(encode(Call(arguments).to_tree()))).arguments
    assert list(back) == list(arguments)
    assert torch.equal(back["source"].parameters["w"], WORDS)
    assert back["mha"] == arguments["mha"] and back["code"] == arguments["code"]
    assert (back["dtype"], back["n"]) == (torch.float16, 3)
    assert make(back["code"])() == 1


def test_tensors_in_descriptions_change_their_dtype_too():
    library = Library("torch.nn.Linear", {}, {"weight": WORDS})
    call = Call({"source": StandIn({"w": WORDS}), "layer": library})
    doubled = call.map_tensors(torch.Tensor.double).arguments
    assert doubled["source"].parameters["w"].dtype is torch.float64
    assert doubled["layer"].parameters["weight"].dtype is torch.float64


def test_reading_what_a_function_did_to_a_module():
    def fill(source, target):
        with torch.no_grad():
            target.w.copy_(source.w * 2)

    call = Call({"source": StandIn({"w": WORDS}), "target": StandIn({"w": WORDS * 0})})
    [answer] = collect(fill, Question("fill", [call], returns=[], reads=["target"]))
    assert torch.equal(answer.tensors["target.w"], WORDS * 2)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, None),
        (0.5, None),
        (torch.tensor(True), None),
        (torch.tensor(1.0), "returned a Tensor; it should"),
        (torch.tensor(1.0, requires_grad=True), "returned a tensor that holds the graph"),
        ("yes", "returned a str; it should"),
    ],
)
def test_plain_results(value, words):
    question = Question("f", [Call({})], returns=["answer"], plain=True)
    [answer] = collect(lambda: value, question)
    if words:
        assert words in explain_problem(answer.problem, "f")
    else:
        assert answer.tensors["answer"] == torch.as_tensor(value)


def test_a_dict_of_named_results():
    question = Question("f", [Call({})], returns=["a", "b"], as_dict=True)
    [answer] = collect(lambda: {"b": WORDS, "a": WORDS + 1}, question)
    assert torch.equal(answer.tensors["b"], WORDS)
    [answer] = collect(lambda: {"a": WORDS}, question)
    assert "a dict with a; it should have a, b" in explain_problem(answer.problem, "f")
    [answer] = collect(lambda: (WORDS, WORDS), question)
    assert "returned a tuple, not a dict" in explain_problem(answer.problem, "f")


def test_one_word_of_several():
    question = Question("f", [Call({})], returns=["defect"], choices=["none", "leak"])
    [answer] = collect(lambda: "leak", question)
    assert answer.tensors["defect"] == 1
    [answer] = collect(lambda: "leek", question)
    assert "returned 'leek', which is none of: none, leak" in explain_problem(answer.problem, "f")


def test_a_method_other_than_forward():
    class Doubler(Affine):
        def twice(self, words):
            self.scaled = words
            return 2 * words

    assert torch.equal(ask(Doubler, method="twice").tensors["result"], 2 * WORDS)
    assert "should have a method `twice`" in explain_problem(
        ask(Affine, method="twice").problem, "Affine"
    )


def test_an_argument_made_from_another():
    optimizer = Code("def sgd(model):\n    return torch.optim.SGD([model.w], lr=0.5)", ["model"])
    call = Call({"model": StandIn({"w": WORDS}), "optimizer": optimizer})

    def step(model, optimizer):
        model.w.sum().backward()
        optimizer.step()

    [answer] = collect(step, Question("step", [call], returns=[], reads=["model"]))
    torch.testing.assert_close(answer.tensors["model.w"], WORDS - 0.5)


def test_a_module_built_of_modules():
    class Sum(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, words):
            return self.first(words) + self.second(words)

    linear = Library("torch.nn.Linear", {"in_features": 3, "out_features": 3})
    triple = Code("class Triple(nn.Module):\n    def forward(self, x): return 3 * x\nt = Triple()")
    call = Call({"words": WORDS}, build={"first": triple, "second": triple}, parameters={})
    [answer] = collect(Sum, Question("Sum", [call], returns=["total"]))
    torch.testing.assert_close(answer.tensors["total"], 6 * WORDS)
    call = dataclasses.replace(call, build={"first": triple, "second": linear}, parameters=None)
    [answer] = collect(Sum, Question("Sum", [call], returns=["total"]))
    assert answer.tensors["total"].shape == WORDS.shape


def test_sharing_memory_is_not_copying():
    def share(source, target):
        target.w = nn.Parameter(source.w.data)

    call = Call({"source": StandIn({"w": WORDS}), "target": StandIn({"w": WORDS * 0})})
    [answer] = collect(share, Question("share", [call], returns=[], reads=["target"]))
    sentence = explain_problem(answer.problem, "share")
    assert "`target.w` now shares its memory with `source.w`" in sentence


def test_a_module_may_be_built_without_a_call():
    class Refuses(Affine):
        def __init__(self, d_in, d_out):
            raise ValueError("no")

    assert ask(Refuses, method="").problem.detail == "ValueError: no"
    built = ask(Affine, method="")
    assert (built.tensors, built.problem) == ({}, None)
