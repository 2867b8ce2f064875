"""Whatever a learner's code does, it ends up as an answer, and as one clear sentence."""

import dataclasses
import sys
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from autograder.asking import clock
from autograder.asking.answer import REPEATS
from autograder.asking.collect import collect
from autograder.asking.problem import ProblemKind
from autograder.asking.question import Call, Question
from autograder.judging.explain_problem import explain_problem
from autograder.judging.judge import judge
from autograder.references.store import find
from tests.support.waiting import HANG

REFERENCE = find("softmax")
QUESTION = dataclasses.replace(REFERENCE.questions["softmax"], seconds=HANG)
KEY = REFERENCE.keys["softmax"]


def right(scores, dim=-1):
    exps = (scores - scores.amax(dim, keepdim=True)).exp()
    return exps / exps.sum(dim, keepdim=True)


def recurses(scores, dim=-1):
    return recurses(scores, dim)


def never_ends(scores, dim=-1):
    while True:
        pass


def swallows(scores, dim=-1):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def raises(scores, dim=-1):
    raise KeyError("rows")


def changes_its_input(scores, dim=-1):
    scores -= scores.amax(dim, keepdim=True)
    return right(scores, dim)


def calls_torch(scores, dim=-1):
    return torch.nn.functional.softmax(scores, dim=dim)


class Refusing(nn.Linear):
    def forward(self, x):
        raise ValueError("no")


def stub(scores, dim=-1):
    raise NotImplementedError()


stub.__code__ = stub.__code__.replace(co_name="softmax", co_qualname="softmax")

BAD = {
    "three arguments": (lambda a, b, c: a, "takes (a, b, c), and is called with (scores)"),
    "no argument": (lambda: 1, "takes (nothing)"),
    "None": (
        lambda scores, dim=-1: None,
        "returned None; it should return a torch tensor. Is a `re",
    ),
    "a list": (lambda scores, dim=-1: scores.tolist(), "returned a list of numbers; it"),
    "tensors": (lambda scores, dim=-1: [list(scores)], "returned a list of tensors; it"),
    "words": (lambda scores, dim=-1: ["a"], "returned a list; it"),
    "nothing": (lambda scores, dim=-1: [], "returned a list; it"),
    "an int": (lambda scores, dim=-1: 3, "returned an int"),
    "numpy": (lambda scores, dim=-1: np.ones(3), "returned a numpy array"),
    "sparse": (lambda scores, dim=-1: scores.to_sparse(), "returned a sparse tensor"),
    "huge": (lambda scores, dim=-1: torch.zeros(1).expand(2_000_000), "far too large"),
    "float64": (lambda scores, dim=-1: right(scores, dim).double(), "should have dtype float32"),
    "recursion": (recurses, "calls itself without end"),
    "a layer": (
        lambda scores, dim=-1: nn.Linear(8, 2)(scores),
        "A linear layer for 8 features got a tensor with",
    ),
    "an own layer": (lambda scores, dim=-1: Refusing(8, 2)(scores), "stopped with ValueError: no."),
    "complex": (lambda scores, dim=-1: scores + 0j, "returned a tensor of dtype complex64"),
    "raises": (raises, "stopped with KeyError: 'rows'. It happened in `raises`, line"),
    "exits": (lambda scores, dim=-1: sys.exit("bye"), "stopped with SystemExit: bye"),
    "torch's own": (calls_torch, "Write `softmax` yourself"),
    "stub": (stub, "`softmax` is not answered yet"),
}


@pytest.mark.parametrize(("function", "words"), BAD.values(), ids=BAD.keys())
def test_bad_answers_get_a_clear_sentence(function, words):
    verdict = judge(KEY, collect(function, QUESTION))
    assert verdict.points == 0
    assert words in verdict.sentence


@pytest.mark.parametrize("function", [never_ends, swallows])
def test_an_endless_loop_is_stopped(function, monkeypatch):
    monkeypatch.setattr(clock, "PATIENCE", 1e6)
    question = dataclasses.replace(QUESTION, seconds=0.3)
    answers = collect(function, question)
    assert {answer.problem.kind for answer in answers} == {"time"}
    assert "No answer after 0.3 seconds of computing" in explain_problem(
        answers[0].problem, "softmax"
    )


def test_a_stub_is_called_once():
    called = []

    def unwritten(scores, dim=-1):
        called.append(scores)
        raise NotImplementedError

    answers = collect(unwritten, QUESTION)
    assert (len(called), len(answers)) == (1, len(QUESTION.calls))


def test_interrupting_a_check_gives_no_answer():
    def interrupted(scores, dim=-1):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(interrupted, QUESTION)


def test_a_changed_input_is_seen():
    verdict = judge(KEY, collect(changes_its_input, QUESTION))
    assert verdict.sentence.startswith("The code changes its input `scores` in place")


class Late(torch.Tensor):
    """A tensor that computes its numbers when it is copied in order to be sent."""

    def detach(self):
        return self

    cpu = detach

    def clone(self, **more):
        plain = self.as_subclass(torch.Tensor)
        return torch.softmax(plain, -1).clone(**more) if more else self


def test_a_tensor_that_computes_later_is_taken_as_it_was():
    answers = collect(lambda scores, dim=-1: scores.clone().as_subclass(Late), QUESTION)
    outputs = [tensor for answer in answers for tensor in answer.tensors.values()]
    assert outputs and all(type(tensor) is torch.Tensor for tensor in outputs)


def test_printing_and_warning_cost_nothing(capsys):
    def chatty(scores, dim=-1):
        for _ in range(10_000):
            print("line")
        warnings.warn("careful", stacklevel=1)
        print("to stderr", file=sys.stderr)
        return right(scores, dim)

    answers = collect(chatty, QUESTION)
    assert judge(KEY, answers).passed
    assert answers[0].printed == 10_001
    assert capsys.readouterr() == ("", "")


def test_a_check_leaves_the_random_state_alone():
    torch.manual_seed(7)
    wanted = torch.rand(3)
    torch.manual_seed(7)
    collect(lambda scores, dim=-1: torch.rand_like(scores), QUESTION)
    assert torch.equal(torch.rand(3), wanted)


def test_inputs_are_copies():
    before = [call.arguments["scores"].clone() for call in QUESTION.calls]
    collect(changes_its_input, QUESTION)
    after = [call.arguments["scores"] for call in QUESTION.calls]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda words: words, "You returned one tensor. Return two things"),
        (lambda words: {}, "returned a dict instead of (context, attn_weights)"),
        (lambda words: (words, words, words), "3 things instead of (context, attn_weights)"),
        (lambda words: (words, None), "returned None for attn_weights; it should return"),
    ],
)
def test_two_results_are_told_apart(result, words):
    reference = find("simple_attention")
    answers = collect(result, reference.questions["simple_attention"])
    sentence = judge(reference.keys["simple_attention"], answers).sentence
    assert words in sentence and "`return`" not in sentence


def twice(answer, **facts):
    """Ask for a call that comes after another one, on other words of the same shape."""
    words = torch.randn(2, 3)
    call = Call({"words": words}, earlier=Call({"words": -words}), **facts)
    [answer] = collect(answer, Question("f", [call], ["result"]))
    return answer.tensors["result"], words


def test_state_that_a_function_keeps_is_noticed():
    cache, made = {}, [torch.zeros(3), torch.zeros(3, dtype=torch.int64), torch.zeros(3) > 1]

    def by_shape(words):
        return cache.setdefault(words.shape, words * 2)

    assert torch.equal(*twice(lambda words: words * 1))
    result, words = twice(by_shape)
    assert not torch.equal(result, words * 2)
    for kept in made:
        result, _ = twice(lambda words, kept=kept: kept)
        assert result.all()  # the first caller wrote into it
    buffer = torch.zeros(3)
    result, words = twice(lambda words: torch.mul(words, 2, out=buffer))
    assert not torch.equal(result, words * 2)  # the next caller wrote into it


def test_a_tensor_of_the_notebook_stays_as_it_is():
    namespace = {"kept": torch.arange(6.0)}
    exec("def f(words):\n    return kept[1:4]", namespace)
    twice(namespace["f"])
    assert torch.equal(namespace["kept"], torch.arange(6.0))


def test_arguments_in_another_order_are_told():
    def swapped(key, query):
        return query

    call = Call({"query": torch.ones(2), "key": torch.zeros(2)})
    [answer] = collect(swapped, Question("f", [call], ["y"]))
    assert answer.reordered == ("query", "key")
    [answer] = collect(lambda query, other: query, Question("f", [call], ["y"]))
    assert answer.reordered == ()


def test_state_that_a_module_keeps_is_noticed():
    class Keeping(nn.Module):
        def forward(self, words):
            if not hasattr(self, "kept"):
                self.kept = words
            return self.kept + 0

    class Fresh(nn.Module):
        def forward(self, words):
            self.kept = words
            return self.kept + 0

    result, words = twice(Fresh, build={})
    assert torch.equal(result, words)
    result, words = twice(Keeping, build={})
    assert torch.equal(result, -words)


def test_weights_that_a_module_keeps_from_a_call_are_noticed():
    class Linear(nn.Linear):
        def __init__(self):
            super().__init__(3, 3, bias=False)

    class Keeping(Linear):
        def forward(self, words):
            if not hasattr(self, "kept"):
                self.kept = 1 * self.weight
            return words @ self.kept.T

    parameters = {"weight": torch.randn(3, 3)}
    for module, is_right in ((Linear, True), (Keeping, False)):
        result, words = twice(module, build={}, parameters=parameters)
        assert torch.allclose(result, words @ parameters["weight"].T) == is_right


class FromFile(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3, bias=False)

    def forward(self, words):
        return self.layer(words)


class WithAlias(FromFile):
    def __init__(self):
        super().__init__()
        self.other = self.layer


class WithTable(FromFile):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(3)

    def forward(self, words):
        return self.layer(words) * self.table


def loaded(answer):
    parameters = {"layer.weight": torch.eye(3)}
    call = Call({"words": torch.ones(2, 3)}, build={}, parameters=parameters)
    [collected] = collect(answer, Question("f", [call], ["result"], from_file=True))
    return collected


def test_a_module_can_be_loaded_from_a_file():
    assert torch.equal(loaded(FromFile).tensors["result"], torch.ones(2, 3))
    problem = loaded(WithAlias).problem
    assert problem.kind == ProblemKind.OTHER_NAMES and "other.weight" in problem.detail
    assert "meta" in loaded(WithTable).problem.detail


class Scaled(nn.Module):
    """Right, unless another module was made since: the factor is on the class."""

    def __init__(self, by):
        super().__init__()
        type(self).by = by

    def forward(self, words):
        return words * self.by


class Remembering(nn.Module):
    """Right, but what it keeps from a call is saved with it."""

    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, words):
        self.register_buffer("last", words.sum(-1))
        return words * self.by


def after(earlier, answer):
    call = Call({"words": torch.ones(2, 3)}, build={"by": 2}, earlier=earlier)
    [collected] = collect(answer, Question("f", [call], ["result"]))
    return collected


def test_another_module_in_between_is_of_no_concern():
    another = Call({"words": torch.ones(1, 2)}, build={"by": 5})
    assert after(another, Scaled).tensors["result"].unique() == 5
    assert after(None, Scaled).tensors["result"].unique() == 2


def test_a_used_module_can_be_saved_and_loaded():
    problem = after(Call({"words": torch.ones(4, 3)}), Remembering).problem
    assert problem.kind == ProblemKind.NOT_LOADED and "last" in problem.detail
    assert after(Call({"words": torch.ones(4, 3)}), Scaled).problem is None


def test_what_is_compiled_is_judged_as_it_was_written():
    @torch.compile
    def f(words):
        return words * 2

    [answer] = collect(f, Question("f", [Call({"words": torch.ones(2)})], ["result"]))
    assert torch.equal(answer.tensors["result"], torch.full((2,), 2.0))


@pytest.mark.parametrize("value", [np.True_, np.int64(1), torch.tensor(True)])
def test_a_number_of_numpy_and_a_flag_are_plain(value):
    [answer] = collect(lambda: value, Question("f", [Call({})], ["y"], plain=True))
    assert answer.tensors["y"] == 1 and answer.problem is None


def test_equal_tensors_are_one_as_in_self_attention():
    def are_one(query, key):
        return torch.tensor(float(query is key))

    words = torch.randn(2, 3)
    calls = [Call({"query": words, "key": other}) for other in (words.clone(), words + 1)]
    answers = collect(are_one, Question("f", calls, ["result"]))
    assert [answer.tensors["result"].item() for answer in answers] == [1, 0]


@pytest.mark.parametrize(
    ("body", "repeats"),
    [
        ("torch.manual_seed(seed); return torch.rand(2)", True),
        ("return torch.rand(2, generator=torch.Generator().manual_seed(seed))", True),
        ("return torch.full((2,), float(seed))", True),
        ("return float(seed) + 1e-4 * torch.rand(2)", True),
        ("return float(seed) + torch.rand(2)", False),
        ("return torch.rand(2)", False),
        ("return torch.ones(torch.randint(1, 1000, ()))", False),
    ],
)
def test_whether_a_call_repeats_itself_is_an_output(body, repeats):
    beside = {"torch": torch}
    exec(f"def draw(seed):\n    {body}", beside)
    question = Question("draw", [Call({"seed": 3}, repeats=True)], ["drawn"])
    [answer] = collect(beside["draw"], question)
    assert answer.tensors[REPEATS].item() is repeats


def softmax_of_positive(scores):
    return scores.masked_fill(scores < 0, -torch.inf).softmax(-1)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda scores: softmax_of_positive(scores[:1]), None),
        (lambda scores: softmax_of_positive(scores).nan_to_num(), "nan on the way"),
        (lambda scores: scores / scores.masked_fill(scores < 0, 0), None),  # infinite to the end
        (lambda scores: (0 * scores).sqrt(), None),  # NaN to the end
    ],
)
def test_nan_that_is_wiped_away_on_the_way_back_is_found(answer, problem):
    call = Call({"scores": torch.tensor([[1.0, 2.0], [-1.0, -2.0]])}, gradients=True)
    [found] = collect(answer, Question("softmax", [call], returns=["result"]))
    assert (found.problem and found.problem.kind) == problem


def loops_over_a_number(scores, dim=-1):
    rows = []
    for row in scores.sum():
        rows.append(row)
    return rows


def loops_over_a_table(scores, dim=-1):
    rows = []

    # As many rows as there are scores.
    for row in range(scores):
        rows.append(row)
    return rows


def loops_over_pairs(scores, dim=-1):
    rows = []
    for i, row in enumerate(scores.shape[0]):
        rows.append((i, row))
    return rows


def loops_too_far(scores, dim=-1):
    rows = []
    for row, _ in zip(
        scores,
        [*scores, 0],
        strict=True,
    ):
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "answer", [loops_over_a_number, loops_over_a_table, loops_over_pairs, loops_too_far]
)
def test_a_header_that_fails_is_the_line_named(answer):
    [place] = {answer.problem.place for answer in collect(answer, QUESTION)}
    assert place.code.startswith("for ")
