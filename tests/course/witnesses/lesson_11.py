"""Witnesses for lesson 11: sums over earlier words in plain loops, and gradient descent."""

from itertools import product

import torch
import torch.nn.functional as F

IN_CHUNKS = {fact: torch.tensor(True) for fact in ("of_chunks", "chunks", "cuts")}


def each(function, *tensors, dims):
    """Call a function for every element of the leading dimensions, and put the results back there.

    dims: how many dimensions of each tensor aren't leading ones.
    """
    leading = tensors[0].shape[: tensors[0].dim() - dims[0]]
    results = [
        function(*(tensor[index] for tensor in tensors))
        for index in product(*(range(size) for size in leading))
    ]
    return [
        torch.stack(values).reshape(*leading, *values[0].shape)
        for values in zip(*results, strict=True)
    ]


def one_text(query, key, value, causal, state=None):
    """Each word adds its value times its dot product with the query."""
    contexts = []
    for place, q in enumerate(query):
        context = q @ state if state is not None else torch.zeros_like(value[0])
        for other in range(place + 1 if causal else len(key)):
            context = context + torch.dot(q, key[other]) * value[other]
        contexts.append(context)
    return torch.stack(contexts)


def linear_attention(query, key, value, causal=True):
    def one(*text):
        return (one_text(*text, causal),)

    [context] = each(one, query, key, value, dims=(2, 2, 2))
    return context


def after(state, key, value):
    """The state after some words, number by number."""
    added = [[(k * v).sum() for v in value.T] for k in key.T]
    return state + torch.stack([torch.stack(row) for row in added])


def linear_step(state, query, key, value):
    def one(state, query, key, value):
        written = after(state, key[None], value[None])
        return sum(q * row for q, row in zip(query, written, strict=True)), written

    return tuple(each(one, state, query, key, value, dims=(2, 1, 1, 1)))


def chunked_linear_attention(query, key, value, chunk=64, state=None):
    if state is None:
        state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])

    def one(query, key, value, state):
        return one_text(query, key, value, True, state), after(state, key, value)

    context, state = each(one, query, key, value, state, dims=(2, 2, 2, 2))
    return {"context": context, "state": state} | IN_CHUNKS


def delta_step(state, query, key, value, beta):
    """β times the gradient of ½ ‖stateᵀ key − value‖², by hand: key ⊗ (stateᵀ key − value)."""

    def one(state, query, key, value, beta):
        missing = state.T @ key - value
        changed = state - beta * torch.stack([k * missing for k in key])
        return changed.T @ query, changed

    return tuple(each(one, state, query, key, value, beta, dims=(2, 1, 1, 1, 0)))


def gated_delta_step(state, query, key, value, beta, log_decay):
    stays = torch.e**log_decay
    faded = torch.einsum("...kv,...->...kv", state, stays)
    return delta_step(faded, query, key, value, beta)


def chunked_gated_delta(query, key, value, beta, log_decay, chunk=64, state=None):
    """One word after another."""
    if state is None:
        state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
    contexts = []
    words = (x.unbind(-2) for x in (query, key, value))
    for word in zip(*words, *(x.unbind(-1) for x in (beta, log_decay)), strict=True):
        context, state = gated_delta_step(state, *word)
        contexts.append(context)
    return {"context": torch.stack(contexts, dim=-2), "state": state} | IN_CHUNKS


def short_convolution(x, weight, tail=None):
    """Each sum by itself, weight by weight."""
    width = weight.shape[1]
    before = list(tail.unbind(1)) if tail is not None else [torch.zeros_like(x[:, 0])] * (width - 1)
    words = before + list(x.unbind(1))
    sums = [
        sum(weight[:, width - 1 - back] * words[place - back] for back in range(width))
        for place in range(width - 1, len(words))
    ]
    kept = words[len(words) - width + 1 :]
    return torch.stack(sums, dim=1), torch.stack(kept, dim=1) if kept else x[:, :0]


def gated_delta_attention(build, parameters, x, pieces):
    """One head after another, each of them word by word."""
    heads, d_k, d_v = build["n_heads"], build["d_k"], build["d_v"]
    projected = [x @ parameters[f"{name}.weight"].T for name in ("query", "key", "value")]
    weights = parameters["convolution"].split([heads * d_k, heads * d_k, heads * d_v])
    query, key, value = (
        short_convolution(part, weight)[0] for part, weight in zip(projected, weights, strict=True)
    )
    logits = (
        x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]
        for name in ("beta", "decay")
    )
    log_beta, log_decay = (-torch.logaddexp(-z, torch.zeros_like(z)) for z in logits)
    contexts, states = [], []
    for head in range(heads):
        of_key, of_value = slice(head * d_k, head * d_k + d_k), slice(head * d_v, head * d_v + d_v)
        q, k, v = query[..., of_key], key[..., of_key], value[..., of_value]
        q, k = (y / y.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12) for y in (q, k))
        gates = log_beta[..., head].exp(), log_decay[..., head]
        found = chunked_gated_delta(q, k, v, *gates)
        context = found["context"]
        states.append(found["state"])
        size = (context.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        contexts.append(context / size * parameters["norm.weight"])
    result = torch.cat(contexts, dim=-1) @ parameters["output.weight"].T
    if not pieces:
        return {"result": result}
    tail = F.pad(torch.cat(projected, dim=-1), (0, 0, 3, 0))[:, -3:]
    facts = {"state": torch.stack(states, dim=1), "tail": tail}
    facts |= dict.fromkeys(("fixed", "old", "nothing_kept"), torch.tensor(True))
    return dict.fromkeys(("result", "afterwards", "afresh"), result) | facts


def swap_key(i, j, n):
    rows = torch.eye(n, dtype=torch.float64)
    return (rows[j] - rows[i]) / 2**0.5


WITNESSES = {"GatedDeltaAttention": gated_delta_attention} | {
    function.__name__: function
    for function in (
        linear_attention,
        linear_step,
        chunked_linear_attention,
        delta_step,
        gated_delta_step,
        chunked_gated_delta,
        short_convolution,
        swap_key,
    )
}
