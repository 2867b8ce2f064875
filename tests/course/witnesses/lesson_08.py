"""Witnesses for lesson 8: evidence of what a module does that the solutions don't use."""

import math
from copy import deepcopy
from itertools import product

import torch
from torch.autograd.functional import jacobian

from autograder.utils.models import PART_NAMES
from autograder.utils.models.stacks import PARTS

N = 12


def in_double(attention):
    attention = deepcopy(attention).double()
    for layer in (attention.query, attention.key, attention.value, attention.output):
        layer.double()
    return attention


def find_leak(attention):
    """Whether an output of one of three texts has a slope in a later word of the same text."""
    attention = in_double(attention)
    x = torch.randn(3, N, attention.query.in_features).double()
    found = jacobian(lambda x: attention(x).sum(dim=-1), x).abs().amax(dim=-1)  # [text, n] twice
    return any((found[text, :, text].triu(1) > 1e-9).any() for text in range(3))


def head_slopes(attention, layer="value", n=N):
    """[n, n_heads, n, heads]: how each head's context depends on each head of a layer."""
    attention = in_double(attention)
    x = torch.randn(1, n, attention.query.in_features).double()
    added = {}

    def add(module, inputs, output):
        start = added.setdefault("place", 0)
        added["place"] = start + output.shape[1]
        return output + added["change"][:, start : start + output.shape[1]]

    def context(change):
        added.clear()
        added["change"] = change
        seen = {}
        hooks = [
            getattr(attention, layer).register_forward_hook(add),
            attention.output.register_forward_pre_hook(lambda m, i: seen.update(context=i[0])),
        ]
        attention(x)
        for hook in hooks:
            hook.remove()
        return seen["context"][0].unflatten(-1, (attention.n_heads, -1)).sum(dim=-1)

    heads = attention.n_heads if layer == "query" else attention.n_kv_heads
    nothing = torch.zeros_like(getattr(attention, layer)(x))
    found = jacobian(context, nothing)[:, :, 0]  # [n, n_heads, n, heads * d_head]
    return found.unflatten(-1, (heads, -1)).abs().sum(dim=-1)


def find_blind_spot(attention):
    seen = head_slopes(attention).sum(dim=-1).transpose(0, 1)
    return any((seen[:, i, j] == 0).any() for i in range(N) for j in range(i + 1))


def find_mixing(attention):
    module = in_double(attention)
    x = torch.randn(3, N, module.query.in_features).double()
    across = jacobian(lambda x: module(x).sum(dim=(1, 2)), x).abs().sum(dim=(2, 3))
    if not torch.equal(across > 1e-9, torch.eye(3, dtype=torch.bool)):
        return True
    for layer in ("query", "key", "value"):
        reach = head_slopes(attention, layer).sum(dim=(0, 2)) > 1e-9
        n_heads, heads = reach.shape
        own = torch.eye(heads, dtype=torch.bool).repeat_interleave(n_heads // heads, dim=0)
        if not torch.equal(reach, own):
            return True
    return False


def find_scale(attention):
    """Compare scores with the weights of random words, where heads use the same features."""
    module = in_double(attention)
    with torch.no_grad():
        for layer in (module.query, module.key, module.value):
            layer.weight[:] = layer.weight[:1]
        module.value.weight[:] = 0
        module.value.weight[:, 0] = 1
        module.query.weight[:, 0] = module.key.weight[:, 0] = 0
        module.output.weight.copy_(torch.eye(len(module.output.weight)))
    x = torch.randn(1, N, module.query.in_features).double() / 3
    asks, answers = x[0] @ module.query.weight[0], x[0] @ module.key.weight[0]
    scores = asks[:, None] * answers * math.sqrt(module.d_head)  # d_head times the same product
    weights = []
    for place in range(N):
        x[..., 0] = 0
        x[0, place, 0] = 1
        weights.append(module(x)[0])
    for i in range(1, N):
        for j in range(1, i + 1):
            ratio = (weights[j][i] / weights[0][i]).log()
            if not ((ratio - (scores[i, j] - scores[i, 0])).abs() < 1e-6).all():
                return True
    return False


def sums_are_wrong(attention):
    module = in_double(attention)
    reach = head_slopes(module)
    group = module.n_heads // module.n_kv_heads
    own = torch.stack([reach[:, h, :, h // group] for h in range(module.n_heads)])
    return bool(((own.sum(dim=-1) / module.d_head - 1).abs() > 1e-6).any())


def diagnose(attention):
    """Return the index of the word among the choices."""
    x = torch.randn(1, N, attention.query.in_features)
    diseases = [
        (lambda a: bool((a(x) != a(x)).any())),
        find_leak,
        find_blind_spot,
        find_mixing,
        sums_are_wrong,
        find_scale,
    ]
    return next((i for i, test in enumerate(diseases) if test(attention)), len(diseases))


def repair_1(query, key, value, window):
    n_query, n_key = query.shape[-2], key.shape[-2]
    contexts = []
    for i in range(n_query):
        last = n_key - n_query + i
        seen = slice(max(0, last - window + 1), last + 1)
        scores = torch.einsum("...d,...jd->...j", query[..., i, :], key[..., seen, :])
        weights = torch.softmax(scores / math.sqrt(query.shape[-1]), dim=-1)
        contexts.append(torch.einsum("...j,...jd->...d", weights, value[..., seen, :]))
    return torch.stack(contexts, dim=-2)


def repair_2(attn_scores):
    return torch.nn.functional.log_softmax(attn_scores, dim=-1).exp()


def repair_3(logits, tokens, padding):
    costs = []
    for text, words in zip(logits, tokens, strict=True):
        for place in range(len(words) - 1):
            if words[place + 1] != padding:
                costs.append(text[place].logsumexp(0) - text[place, words[place + 1]])
    return torch.stack(costs).mean()


def turned(x, place):
    """Turn each pair of features of one vector."""
    parts = []
    for i in range(x.shape[-1] // 2):
        angle = place / 10000.0 ** (2 * i / x.shape[-1])
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        parts += [
            a * math.cos(angle) - b * math.sin(angle),
            a * math.sin(angle) + b * math.cos(angle),
        ]
    return torch.stack(parts, dim=-1)


def repair_4(query, key, value, past_key, past_value):
    n, n_past = query.shape[-2], past_key.shape[-2]
    keys = [past_key[..., j, :] for j in range(n_past)]
    keys += [turned(key[..., j, :], n_past + j) for j in range(n)]
    values = torch.cat([past_value, value], dim=-2)
    contexts = []
    for i in range(n):
        own = turned(query[..., i, :], n_past + i)
        scores = torch.stack([(own * k).sum(-1) for k in keys[: n_past + i + 1]], dim=-1)
        weights = torch.softmax(scores / math.sqrt(query.shape[-1]), dim=-1)
        seen = values[..., : n_past + i + 1, :]
        contexts.append((weights[..., None] * seen).sum(dim=-2))
    return torch.stack(contexts, dim=-2)


def smallest_input(healthy, ill):
    """Try every shape of at most 16 words many times, and take one of the smallest."""
    shapes = [(b, n) for b, n in product(range(1, 17), repeat=2) if b * n <= 16]
    for batch, n in sorted(shapes, key=lambda shape: (shape[0] * shape[1], -shape[0])):
        for _ in range(12):
            x = torch.randn(batch, n, healthy.query.in_features)
            if (healthy(x) - ill(x)).norm(torch.inf) > 1e-4:
                return x
    return None


def first_difference(healthy, ill, x):
    """Follow both models block by block, and each block by hand, part by part."""
    words, others = x, x
    for number, (right, other) in enumerate(zip(healthy.blocks, ill.blocks, strict=True)):
        for part, a, b in zip(PARTS, by_hand(right, words), by_hand(other, others), strict=True):
            if (a - b).abs().max() > 1e-4:
                return PART_NAMES.index(f"blocks.{number}.{part}")
        words, others = right(words), other(others)
    return None


def by_hand(block, x):
    """What a block's three parts return."""
    normal = block.norm(x)
    attended = block.attention(normal)
    return normal, attended, block.feed_forward(x + attended)


WITNESSES = {
    witness.__name__: witness
    for witness in (
        find_leak,
        find_blind_spot,
        find_mixing,
        find_scale,
        diagnose,
        repair_1,
        repair_2,
        repair_3,
        repair_4,
        smallest_input,
        first_difference,
    )
}
