"""Witnesses for lesson 7."""

import math
from itertools import product

import torch
import torch.nn.functional as F


def sinusoidal_positions(n, d_model, base=10000.0):
    """Take the real and imaginary parts of a rotating number."""
    positions = torch.zeros(n, d_model, dtype=torch.float64)
    for place, i in product(range(n), range(d_model // 2)):
        hand = complex(math.cos(angle := place / base ** (2 * i / d_model)), math.sin(angle))
        positions[place, 2 * i], positions[place, 2 * i + 1] = hand.imag, hand.real
    return positions


def relative_bias(table, n_query, n_key):
    max_distance = (len(table) - 1) // 2
    bias = table.new_zeros(table.shape[1], n_query, n_key)
    for i, j in product(range(n_query), range(n_key)):
        distance = j - (i + n_key - n_query)
        bias[:, i, j] = table[sorted((-max_distance, distance, max_distance))[1] + max_distance]
    return bias


def alibi_bias(n_heads, n_query, n_key):
    """Follow MPT: every second slope of the next power of two first, then those between."""
    power = 2 ** math.ceil(math.log2(n_heads))
    slopes = [2.0 ** (-8 * (head + 1) / power) for head in range(power)]
    slopes = (slopes[1::2] + slopes[::2])[:n_heads] if power > n_heads else slopes
    bias = torch.zeros(n_heads, n_query, n_key, dtype=torch.float64)
    for h, i, j in product(range(n_heads), range(n_query), range(n_key)):
        bias[h, i, j] = slopes[h] * (j - (i + n_key - n_query))
    return bias


def rotate(x, positions, base=10000.0):
    """Multiply complex numbers, one for each pair."""
    return _turned(x, positions, base, lambda i: (2 * i, 2 * i + 1))


def rotate_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    return _turned(x, positions, base, lambda i: (i, i + half))


def _turned(x, positions, base, pair):
    turned = x.clone()
    d_head = x.shape[-1]
    for word, i in product(range(len(positions)), range(d_head // 2)):
        angle = positions[word].item() * base ** (-2 * i / d_head)
        a, b = pair(i)
        arrow = torch.complex(x[..., word, a], x[..., word, b])
        arrow = arrow * complex(math.cos(angle), math.sin(angle))
        turned[..., word, a], turned[..., word, b] = arrow.real, arrow.imag
    return turned


def to_halves(weight, n_heads):
    """Say where each row goes."""
    d_head = len(weight) // n_heads
    reordered = torch.empty_like(weight)
    for row, features in enumerate(weight):
        head, feature = divmod(row, d_head)
        reordered[head * d_head + feature // 2 + feature % 2 * (d_head // 2)] = features
    return reordered


def rotary_self_attention(build, parameters, x, positions=None, keep=None):
    """Run the library's attention head by head, on queries and keys turned by halves."""
    d_head = build["d_model"] // build["n_heads"]
    positions = torch.arange(x.shape[1]) if positions is None else positions
    result, weights = F.linear(x * 0, parameters["output.weight"], parameters["output.bias"]), []
    for head in range(build["n_heads"]):
        own = slice(head * d_head, (head + 1) * d_head)
        query, key, value = (
            F.linear(x, parameters[f"{name}.weight"][own], parameters[f"{name}.bias"][own])
            for name in ("query", "key", "value")
        )
        order = [*range(0, d_head, 2), *range(1, d_head, 2)]
        base = build.get("base", 10000.0)
        query, key = (rotate_halves(x[..., order], positions, base) for x in (query, key))
        context = F.scaled_dot_product_attention(query, key, value, keep)
        result = result + context @ parameters["output.weight"][:, own].T
        eye = torch.eye(x.shape[1], dtype=x.dtype).expand(len(x), -1, -1)
        weights.append(F.scaled_dot_product_attention(query, key, eye, keep))
    return result, torch.stack(weights, dim=1)


def t5_bucket(distance):
    """Take logarithms, as the authors' code does."""
    buckets = []
    for number in distance.flatten().tolist():
        far = 16 + int(math.log(max(number, 16) / 16) / math.log(128 / 16) * 16)
        buckets.append(max(number, 0) if number < 16 else min(far, 31))
    return torch.tensor(buckets).view(distance.shape)


WITNESSES = {
    "sinusoidal_positions": sinusoidal_positions,
    "relative_bias": relative_bias,
    "alibi_bias": alibi_bias,
    "rotate": rotate,
    "rotate_halves": rotate_halves,
    "to_halves": to_halves,
    "RotarySelfAttention": rotary_self_attention,
    "t5_bucket": t5_bucket,
}
