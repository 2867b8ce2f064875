"""Trials use answers as the check does, and note what a plain call doesn't show."""

import copy
import random
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from autograder.asking.backward_trials import apply_in_little_memory
from autograder.asking.cache_trials import (
    GivenCache,
    append_in_pieces,
    read_in_pieces,
    read_tokens,
)
from autograder.asking.collect import collect
from autograder.asking.memory_trials import in_little_memory, recording, without_keys
from autograder.asking.question import Call, Question
from autograder.asking.returned import WrongResult
from autograder.asking.writing_trials import draw_again, draw_often, run_without_head, write_on

KEY, VALUE = torch.randn(2, 2, 3, 12, 4)


class Hoarder:
    """Keeps everything, in nested containers."""

    def __init__(self, window=None):
        self.window, self.length, self.pieces = window, 0, {"all": []}

    def append(self, key, value):
        self.length += key.shape[-2]
        self.pieces["all"].append((key, value))
        return key, value


@pytest.mark.parametrize(("pieces", "window"), [([12], None), ([5, 7], None), ([4, 4, 4], 3)])
def test_a_cache_is_given_all_pieces(pieces, window):
    facts = {}
    keys, values = append_in_pieces(GivenCache, facts, KEY, VALUE, pieces, window)
    seen = 12 if window is None else 4 + window - 1
    assert torch.equal(keys, KEY[..., -seen:, :]) and torch.equal(values, VALUE[..., -seen:, :])
    assert facts["length"] == 12


def test_memory_is_recorded_wherever_it_is_kept():
    kept = []

    def keep():
        kept.append(torch.randn(100, 100).numpy().copy())
        kept.append(torch.randn(100, 100).tolist())
        with torch._C.DisableTorchFunction():
            kept.append(torch.randn(50, 30) + 1)
        _ = torch.randn(500, 500)

    with recording() as record:
        keep()
    assert 100 * 100 * (4 + 24) < record.held < 100 * 100 * (4 + 60)
    assert record.largest >= 50 * 30 and (50, 30) in record.matrices


def test_the_contents_of_a_cache_are_counted():
    facts = {}
    append_in_pieces(Hoarder, facts, KEY, VALUE, [1] * 12, 2)
    assert not facts["forgets"]
    append_in_pieces(Hoarder, facts, KEY, VALUE, [1] * 12, None)
    assert facts["forgets"]


def test_a_cache_tells_its_window():
    class Nameless(Hoarder):
        def __init__(self, window=None):
            super().__init__()

    with pytest.raises(WrongResult, match="window"):
        append_in_pieces(Nameless, {}, KEY, VALUE, [12], 3)


def test_the_heads_that_a_cache_is_given_are_counted():
    facts, x = {}, torch.randn(1, 6, 8)

    def module(x, cache=None):
        if cache is not None:
            cache.append(x[:, None].expand(-1, 3, -1, -1), x[:, None])
        return x

    assert torch.equal(read_in_pieces(module, facts, x, [2, 4], None), x)
    assert facts["cached_heads"] == 3
    read_in_pieces(module, facts, x, [], None)
    assert facts["cached_heads"] == 0


@pytest.mark.parametrize(("length", "kind"), [(None, "attribute"), (torch.tensor(3), "plain")])
def test_a_length_is_a_number(length, kind):
    class Odd(Hoarder):
        def append(self, key, value):
            self.length = length
            if length is None:
                del self.length
            return key, value

    with pytest.raises(WrongResult) as raised:
        append_in_pieces(Odd, {}, KEY, VALUE, [12], None)
    assert raised.value.problem.kind == kind


def whole(query, key, value, *how):
    return (query @ key.mT).softmax(-1) @ value


def row_by_row(query, key, value, *how):
    return torch.stack([whole(row[None], key, value)[0] for row in query])


def after(make_mask):
    def attend(query, key, value, *how):
        mask = make_mask(len(query), len(key))
        return row_by_row(query, key, value) + mask[0, 0]

    return attend


def row_of_scores(query, key, value, *how):
    rows = [(row[None] @ key.mT).softmax(-1) @ value for row in query]
    return torch.cat(rows)


LARGE = {
    whole: {"scores", "pairs", "small"},
    row_by_row: set(),
    row_of_scores: set(),
    after(torch.zeros): {"pairs", "small"},
    after(lambda *sizes: torch.zeros(sizes, dtype=torch.bool)): {"pairs"},
    after(lambda *sizes: torch.zeros(sizes[1], 1).mT.expand(sizes)): set(),
}


@pytest.mark.parametrize(("attend", "large"), LARGE.items(), ids=range(len(LARGE)))
def test_large_tensors_are_seen(attend, large):
    facts, qkv = {}, (torch.randn(100, 4), *torch.randn(2, 110, 4))
    assert in_little_memory(attend, facts, *qkv, False, 10, 11).shape == (100, 4)
    assert {name for name in ("scores", "pairs", "small") if not facts[name]} == large


def test_they_are_seen_on_the_way_back_too():
    class Whole(torch.autograd.Function):
        @staticmethod
        def forward(ctx, query, key, value, causal):
            ctx.save_for_backward(query, key, value)
            return row_by_row(query, key, value)

        @staticmethod
        def backward(ctx, d_context):
            query, key, _ = ctx.saved_tensors
            return query, key, (query @ key.mT).mT @ d_context, None

    facts, qkv = {}, torch.randn(3, 300, 4)
    apply_in_little_memory(Whole, facts, *qkv, False)
    assert not facts["small"] and facts["own"] and not facts["precise"]
    apply_in_little_memory(Whole, facts, *qkv[:, :50], False)
    assert facts["small"]


def test_a_function_may_return_anything():
    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            return None

    assert apply_in_little_memory(Silent, {}, *torch.randn(3, 2, 4), False) is None


def test_a_question_names_its_trial():
    arguments = dict(zip("qkv", torch.randn(3, 9, 4), strict=True))
    call = Call(arguments | {"causal": False, "rows": 3, "columns": 3})
    [answer] = collect(whole, Question("f", [call], ["context"], trial="in_little_memory"))
    assert answer.tensors.keys() == {"context", "scores", "pairs", "small", "tiles"}


def keeping(keep, gradients):
    """A function that keeps its inputs, and whose backward pass returns some gradients."""

    def forward(ctx, query, key, value, causal):
        keep(ctx, query)
        return row_by_row(query, key, value)

    def backward(ctx, d_context):
        return gradients(d_context)

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Keeping", (torch.autograd.Function,), members)


def four(d_context):
    return d_context, d_context, d_context, None


KEPT = {
    "saved": (lambda ctx, query: ctx.save_for_backward(query), True),
    "an attribute": (lambda ctx, query: setattr(ctx, "query", query), False),
    "in a list of dicts": (lambda ctx, query: setattr(ctx, "kept", [{"query": query}]), False),
    "in a closure": (lambda ctx, query: setattr(ctx, "get", lambda: query), False),
    "in a method": (lambda ctx, query: setattr(ctx, "get", query.clone), False),
    "a function": (lambda ctx, query: setattr(ctx, "get", row_by_row), True),
}


@pytest.mark.parametrize(("keep", "tracked"), KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("n", [5, 300])
def test_tensors_on_ctx_are_found(keep, tracked, n):
    facts = {}
    apply_in_little_memory(keeping(keep, four), facts, *torch.randn(3, n, 4), False)
    assert facts["tracked"] == tracked


def nothing_kept(ctx, query):
    pass


def raising(d_context):
    raise ValueError("no way back")


def test_a_backward_pass_that_fails_leaves_the_result():
    """What it used is known only if it came to its end."""
    for gradients, known in ((raising, False), (lambda d_context: (d_context,), True)):
        facts, function = {}, keeping(nothing_kept, gradients)
        result = apply_in_little_memory(function, facts, *torch.randn(3, 300, 4), False)
        assert result.shape == (300, 4) and facts["saves"] and facts["tracked"]
        assert isinstance(facts["own"], Exception)
        assert isinstance(facts["small"], torch.Tensor) is known


def test_what_fails_in_a_trial_is_lacking():
    qkv = dict(zip(("query", "key", "value"), torch.randn(3, 5, 4), strict=True))
    question = Question(
        "Keeping", [Call(qkv | {"causal": False})], ["context"], trial="apply_in_little_memory"
    )
    [answer] = collect(keeping(nothing_kept, raising), question)
    assert answer.problem is None and answer.tensors.keys() == {
        *("context", "small", "saves", "tracked")
    }
    assert answer.lacks.keys() == {"own", "alone", "given", "precise", "once"}
    assert answer.lacks["own"].detail == "ValueError: no way back"


def test_a_stub_ends_a_trial():
    def stub(d_context):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        apply_in_little_memory(keeping(nothing_kept, stub), {}, *torch.randn(3, 5, 4), False)


def test_calls_that_share_state_are_noticed():
    class Shared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, query, key, value, causal):
            Shared.value = value
            return query * value

        @staticmethod
        def backward(ctx, d_context):
            return d_context * Shared.value, d_context, d_context, None

    qkv = torch.rand(3, 5, 4)
    facts = {}
    apply_in_little_memory(Shared, facts, *qkv, False)
    assert not facts["own"]


def test_keys_and_values_are_seen():
    query, latent = torch.randn(1, 2, 1, 5), torch.randn(1, 50, 6)
    w_key, w_value = torch.randn(2, 2, 5, 6)

    def by_values(query, latent, w_key, w_value):
        scores = query @ w_key @ latent[:, None].mT
        return scores.softmax(-1) @ (latent[:, None] @ w_value.mT)

    def by_latents(query, latent, w_key, w_value):
        scores = query @ w_key @ latent[:, None].mT
        return scores.softmax(-1) @ latent[:, None] @ w_value.mT

    for attend, small in ((by_values, False), (by_latents, True)):
        facts = {}
        without_keys(attend, facts, query, latent, w_key, w_value)
        assert facts["small"] == small


class Echo(nn.Module):
    """A model with one layer; its logits are the sum of the keys in its cache."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.ModuleDict({"attention": nn.Identity()})])
        self.n_context = 20

    def forward(self, tokens, caches=None):
        keys = tokens[:, None, :, None].float()
        if caches:
            keys, _ = caches[0].append(keys, keys)
        self.blocks[0].attention.attn_weights = keys
        return keys.cumsum(dim=2)[:, 0, -tokens.shape[1] :]


def test_tokens_are_read_with_caches():
    facts, tokens = {}, torch.arange(6)[None]
    whole = read_tokens(Echo(), {}, tokens, [])
    assert torch.equal(read_tokens(Echo(), facts, tokens, [2, 4]), whole)
    assert facts["attn_weights"].shape == (1, 1, 1, 6, 1) and facts["n_context"] == 20


def test_weights_that_are_not_kept_are_empty():
    model, facts = Echo(), {}
    model.forward = lambda tokens: tokens
    read_tokens(model, facts, torch.arange(6)[None], [])
    assert facts["attn_weights"].numel() == 0
    del model.n_context
    with pytest.raises(WrongResult, match="n_context"):
        read_tokens(model, {}, torch.arange(6)[None], [])


def by_library(logits, temperature, top_k, top_p, generator):
    return torch.multinomial(logits.softmax(-1), 1, generator=generator).item()


def test_draws_are_counted():
    facts, chances = {}, torch.tensor([0.6, 0.4, 0.0])
    frequencies = draw_often(by_library, facts, chances.log(), 1.0, None, None)
    torch.testing.assert_close(frequencies, chances, rtol=0, atol=0.06)
    assert facts["possible"].tolist() == [True, True, False]
    assert facts["by_generator"] and facts["varies"]


@pytest.mark.parametrize("draw", [torch.rand, lambda _: torch.tensor(random.random())])
def test_draws_from_elsewhere_are_noticed(draw):
    facts = {}
    draw_often(lambda *_: int(draw(()) < 0.5), facts, torch.zeros(2), 1.0, None, None)
    assert not facts["by_generator"]


def test_a_generator_made_for_each_draw_is_noticed():
    def drawn(logits, temperature, top_k, top_p, generator):
        return torch.randint(2, (), generator=generator or torch.Generator()).item()

    facts = {}
    draw_often(drawn, facts, torch.zeros(2), 1.0, None, None)
    assert facts["by_generator"] and not facts["varies"]


@pytest.mark.parametrize(
    ("draw", "said"), [(torch.argmax, r"[Tt]ensor|number"), (len, "2, and the tokens are 0 to 1")]
)
def test_a_draw_is_a_token(draw, said):
    with pytest.raises(WrongResult, match=said):
        draw_often(lambda logits, *_: draw(logits), {}, torch.zeros(2), 1.0, None, None)


def test_pairs_of_tokens_are_counted():
    draft, target, facts = torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0]), {}
    pairs = draw_again(lambda draft, target, token, generator: 1, facts, draft, target)
    torch.testing.assert_close(pairs, torch.tensor([[0.0, 0.5], [0.0, 0.5]]), rtol=0, atol=0.05)
    assert facts["by_generator"] and not facts["varies"]


def test_a_changed_input_stays_changed():
    """Draws go on from the changed input, so that nothing but the change is wrong."""

    def drawn(logits, temperature, top_k, top_p, generator):
        logits /= temperature
        return torch.multinomial(logits.softmax(-1), 1, generator=generator).item()

    logits = torch.tensor([0.0, 2.0])
    frequencies = draw_often(drawn, {}, logits, 2.0, None, None)
    assert logits.tolist() == [0.0, 1.0]
    torch.testing.assert_close(frequencies, logits.softmax(-1), rtol=0, atol=0.05)


def noisy(model, tokens, n_new, generator=None, temperature=1.0):
    model(tokens)
    new = torch.randint(100, (len(tokens), n_new), generator=generator)
    return torch.cat([tokens, new if temperature else torch.zeros_like(new)], dim=1)


def from_elsewhere(model, tokens, n_new, generator=None, temperature=1.0):
    return noisy(model, tokens, n_new, None, temperature)


def always_from_the_start(model, tokens, n_new, generator=None, temperature=1.0):
    return noisy(model, tokens, n_new, generator or torch.Generator(), temperature)


def without_heat(model, tokens, n_new, generator=None, temperature=1.0):
    return noisy(model, tokens, n_new, generator)


def one_text_for_all(model, tokens, n_new, generator=None, temperature=1.0):
    return noisy(model, tokens[:1], n_new, generator, temperature).expand(len(tokens), -1)


WRITERS = {
    noisy: set(),
    from_elsewhere: {"by_generator"},
    always_from_the_start: {"varies"},
    without_heat: {"random"},
    one_text_for_all: {"random"},
}


@pytest.mark.parametrize(("write", "lacking"), WRITERS.items())
def test_the_source_of_a_writers_draws_is_noted(write, lacking):
    facts, tokens = {}, torch.ones(2, 4, dtype=torch.long)
    assert write_on(write, facts, Echo(), tokens, 3, {}).shape == (2, 7)
    drawn = {"by_generator", "varies", "random"}
    assert {name for name in drawn if not facts[name]} == lacking


def test_the_tokens_that_a_writer_reads_are_counted():
    facts = {}
    write_on(noisy, facts, Echo(), torch.ones(1, 4, dtype=torch.long), 3, {"temperature": 0.0})
    assert facts["tokens per call"].tolist() == [4] and facts["again"]


def test_a_writer_that_continues_from_its_last_call_is_noticed():
    def write(model, tokens, n_new, **how):
        written.append(n_new)
        return torch.cat([tokens, torch.full((len(tokens), n_new), len(written))], dim=1)

    facts, written = {}, []
    write_on(write, facts, Echo(), torch.ones(1, 4, dtype=torch.long), 3, {})
    assert not facts["again"]


def test_a_writer_leaves_the_models_attributes():
    def write(model, tokens, n_new, **how):
        model.written = noisy(model, tokens, n_new)
        return model.written

    with pytest.raises(WrongResult, match="written"):
        write_on(write, {}, Echo(), torch.ones(1, 4, dtype=torch.long), 3, {})


def test_a_writer_leaves_the_model_in_its_mode():
    def write(model, tokens, n_new, **how):
        return noisy(model.eval(), tokens, n_new)

    with pytest.raises(WrongResult) as raised:
        write_on(write, {}, Echo(), torch.ones(1, 4, dtype=torch.long), 3, {})
    assert raised.value.problem.kind == "part's mode"


def test_a_writer_may_return_anything():
    assert write_on(lambda *_, **how: None, {}, Echo(), torch.ones(1, 4), 3, {}) is None


@pytest.mark.parametrize("copied", [True, False])
def test_a_changed_model_is_noticed(copied):
    def without_head(model, layer, head):
        model = copy.deepcopy(model) if copied else model
        with torch.no_grad():
            model.weight.zero_()
        return model

    facts, x, model = {}, torch.randn(1, 3, 8), nn.Linear(8, 8, bias=False)
    model.blocks = [SimpleNamespace(attention=SimpleNamespace(n_heads=2))]
    assert not run_without_head(without_head, facts, x, model, 0, 1, x).any()
    assert facts["untouched"].item() is copied and not facts["without the next"].any()
    assert model.weight.any()  # so it costs nothing else
    with pytest.raises(WrongResult) as raised:
        run_without_head(lambda *_: None, {}, x, model, 0, 1, x)
    assert raised.value.problem.kind == "module"
    with pytest.raises(WrongResult) as raised:
        run_without_head(lambda model, *_: copy.deepcopy(model.eval()), {}, x, model, 0, 1, x)
    assert raised.value.problem.kind == "part's mode"
