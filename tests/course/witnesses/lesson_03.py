"""Witnesses for lesson 3."""

import math
from itertools import product

import torch
import torch.nn.functional as F


def project_heads(words, weights):
    """Compute one number at a time: the dot product of a word and a row of a head's matrix."""
    projected = words.new_zeros(len(weights), len(words), weights.shape[1])
    for h, n, k in product(*map(range, projected.shape)):
        projected[h, n, k] = torch.dot(weights[h, k], words[n])
    return projected


def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    d_head = d_model // n_heads
    heads = x.new_zeros(batch, n_heads, n, d_head)
    for b, word, feature in product(*map(range, x.shape)):
        heads[b, feature // d_head, word, feature % d_head] = x[b, word, feature]
    return heads


def merge_heads(x):
    batch, n_heads, n, d_head = x.shape
    merged = x.new_zeros(batch, n, n_heads * d_head)
    for b, head, word, feature in product(*map(range, x.shape)):
        merged[b, word, head * d_head + feature] = x[b, head, word, feature]
    return merged


def multi_head_attention(build, parameters, query, key, value, keep=None):
    """Run the library's attention head by head; sum over slices of the output's columns."""
    d_head = build["d_model"] // build["n_heads"]
    output = F.linear(query * 0, parameters["output.weight"], parameters.get("output.bias"))
    weights = []
    for head in range(build["n_heads"]):
        own = slice(head * d_head, (head + 1) * d_head)
        q, k, v = (
            F.linear(x, parameters[f"{name}.weight"][own], _own(parameters, f"{name}.bias", own))
            for name, x in (("query", query), ("key", key), ("value", value))
        )
        shown = keep[:, head] if keep is not None and keep.dim() == 4 else keep
        context = F.scaled_dot_product_attention(q, k, v, shown)
        output = output + context @ parameters["output.weight"][:, own].T
        # With the identity as values, it gives the weights.
        eye = torch.eye(key.shape[1], dtype=value.dtype).expand(len(key), -1, -1)
        weights.append(F.scaled_dot_product_attention(q, k, eye, shown))
    return output, torch.stack(weights, dim=1)


def _own(parameters, name, own):
    return parameters[name][own] if name in parameters else None


def seq_first_scores(query, key):
    scores = query.new_zeros(len(query), len(key), *query.shape[1:3])
    for i, j, b, h in product(*map(range, scores.shape)):
        scores[i, j, b, h] = torch.dot(query[i, b, h], key[j, b, h]) / math.sqrt(query.shape[-1])
    return scores


def attend_by_einsum(words, w_query, w_key, w_value, w_output):
    """Run torch's own attention head by head, and add up what the heads send back."""
    heads = zip(w_query, w_key, w_value, w_output, strict=True)
    return sum(
        F.scaled_dot_product_attention(words @ q.T, words @ k.T, words @ v.T) @ o
        for q, k, v, o in heads
    )


WITNESSES = {
    "project_heads": project_heads,
    "split_heads": split_heads,
    "merge_heads": merge_heads,
    "MultiHeadAttention": multi_head_attention,
    "seq_first_scores": seq_first_scores,
    "attend_by_einsum": attend_by_einsum,
}
