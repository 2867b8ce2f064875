"""Witnesses for lesson 9: whole texts instead of pieces, and all scores instead of tiles."""

import math
from itertools import product

import torch
import torch.nn.functional as F


def kv_cache(key, value, pieces, window):
    n_past = key.shape[-2] - pieces[-1]
    first = 0 if window is None else max(0, n_past - (window - 1))
    return {
        "keys": torch.stack(key.unbind(-2)[first:], dim=-2),
        "values": torch.stack(value.unbind(-2)[first:], dim=-2),
        "length": torch.tensor(sum(pieces)),
        "forgets": torch.tensor(True),
    }


def attended(query, key, value, keep):
    """Attention of single heads, [n, d] each, with a mask, by the library."""
    if keep is None:
        return F.scaled_dot_product_attention(query, key, value)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=keep)


def grouped_query_attention(query, key, value, keep):
    group = query.shape[1] // key.shape[1]
    texts = [
        [attended(q, k[h // group], v[h // group], keep) for h, q in enumerate(heads)]
        for heads, k, v in zip(query, key, value, strict=True)
    ]
    return torch.stack([torch.stack(heads) for heads in texts])


def cached_self_attention(build, parameters, x, pieces, window):
    """The whole text at once, head by head; a window is a band of the mask."""
    n, n_heads = x.shape[1], build["n_heads"]
    n_kv_heads = build.get("n_kv_heads") or n_heads
    d_head = build["d_model"] // n_heads
    back = torch.arange(n)[:, None] - torch.arange(n)
    keep = (back >= 0) & (back < (window or n))

    def projected(name, head):
        rows = slice(head * d_head, (head + 1) * d_head)
        return x @ parameters[f"{name}.weight"][rows].T + parameters[f"{name}.bias"][rows]

    heads = []
    for head in range(n_heads):
        shared = head // (n_heads // n_kv_heads)
        parts = projected("query", head), projected("key", shared), projected("value", shared)
        heads.append(attended(*parts, keep))
    context = torch.cat(heads, dim=-1)
    return context @ parameters["output.weight"].T + parameters["output.bias"]


def online_step(m, l, o, scores, value):  # noqa: E741
    """Query by query, with the sums so far as exponentials of their own."""
    new_m, new_l, new_o = m.clone(), l.clone(), o.clone()
    for place in product(*map(range, m.shape)):
        seen = [
            (s, v) for s, v in zip(scores[place], value[place[:-1]], strict=True) if s > -math.inf
        ]
        if not seen:
            continue
        most = max([m[place], *(s for s, _ in seen)], key=lambda score: score.item())
        old = torch.exp(m[place] - most)
        new_m[place] = most
        new_l[place] = old * l[place] + sum(torch.exp(s - most) for s, _ in seen)
        new_o[place] = old * o[place] + sum(torch.exp(s - most) * v for s, v in seen)
    return new_m, new_l, new_o


def lower_right(query, key, causal):
    n_query, n_key = query.shape[-2], key.shape[-2]
    return torch.arange(n_key) <= torch.arange(n_key - n_query, n_key)[:, None] if causal else None


def tiled_attention(query, key, value, causal=False, tile_query=16, tile_key=16):
    keep = lower_right(query, key, causal)
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    seen = scores if keep is None else torch.where(keep, scores, -torch.inf)
    return attended(query, key, value, keep), torch.logsumexp(seen, dim=-1)


def attention_backward(query, key, value, context, logsumexp, d_context, causal):
    """Score by score."""
    root, keep = math.sqrt(query.shape[-1]), lower_right(query, key, causal)
    d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
    for i, j in product(range(query.shape[-2]), range(key.shape[-2])):
        if keep is not None and not keep[i, j]:
            continue
        q, k, v, do = query[..., i, :], key[..., j, :], value[..., j, :], d_context[..., i, :]
        weight = torch.exp((q * k).sum(-1) / root - logsumexp[..., i])
        slope = weight * (do * (v - context[..., i, :])).sum(-1) / root
        d_query[..., i, :] += slope[..., None] * k
        d_key[..., j, :] += slope[..., None] * q
        d_value[..., j, :] += weight[..., None] * do
    return d_query, d_key, d_value


def tiled_attention_function(query, key, value, causal=False):
    return attended(query, key, value, lower_right(query, key, causal))


def latent_attention(query, latent, w_key, w_value):
    keys = torch.einsum("hdl,bnl->bhnd", w_key, latent)
    values = torch.einsum("hdl,bnl->bhnd", w_value, latent)
    return attended(query, keys, values, None)


WITNESSES = {
    "KVCache": kv_cache,
    "grouped_query_attention": grouped_query_attention,
    "CachedSelfAttention": cached_self_attention,
    "online_step": online_step,
    "tiled_attention": tiled_attention,
    "attention_backward": attention_backward,
    "TiledAttention": tiled_attention_function,
    "latent_attention": latent_attention,
}
