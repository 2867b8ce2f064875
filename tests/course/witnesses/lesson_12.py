"""Witnesses for lesson 12: bytes read one by one, complex rotations, heads one after another."""

import struct

import torch


def dequantize(blocks):
    """Read each block's bytes with `struct`, as a C program would."""
    weights = []
    for block in blocks.to(torch.uint8).tolist():
        scale, minimum, *packed = struct.unpack("<ee16B", bytes(block))
        numbers = [byte % 16 for byte in packed] + [byte // 16 for byte in packed]
        weights.append([scale * number + minimum for number in numbers])
    return torch.tensor(weights, dtype=torch.float64)


def normed(x, weight, eps):
    length = x.square().sum(-1, keepdim=True).sqrt()
    return weight * x * x.shape[-1] ** 0.5 / (length**2 + x.shape[-1] * eps).sqrt()


def rms_norm(build, parameters, x):
    return normed(x, parameters["weight"], build.get("eps", 1e-5))


def feed_forward(x, gate, up, down):
    gated = x @ gate.T
    return (gated / (1 + torch.exp(-gated)) * (x @ up.T)) @ down.T


def gated_feed_forward(build, parameters, x):
    layers = (parameters[f"{name}.weight"] for name in ("gate", "up", "down"))
    return feed_forward(x, *layers)


def turned(x, base):
    """Turn each pair, as a complex number, by its place."""
    d_head = x.shape[-1]
    speeds = torch.tensor([base ** (-2 * pair / d_head) for pair in range(d_head // 2)])
    angles = torch.arange(x.shape[-2])[:, None] * speeds.double()
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def attention(x, weights, n_heads, n_kv_heads, base):
    """Each query head by itself, with the key head that it shares.

    weights: of queries, keys, values and output.
    """
    query, key, value = (x @ weight.T for weight in weights[:3])
    d_head = query.shape[-1] // n_heads
    later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    contexts = []
    for head in range(n_heads):
        shared = head * n_kv_heads // n_heads
        q = turned(query[..., head * d_head : head * d_head + d_head], base)
        of_shared = slice(shared * d_head, shared * d_head + d_head)
        k, v = turned(key[..., of_shared], base), value[..., of_shared]
        scores = torch.einsum("bqd,bkd->bqk", q, k) / d_head**0.5
        contexts.append(scores.masked_fill(later, -torch.inf).softmax(-1) @ v)
    return torch.cat(contexts, dim=-1) @ weights[3].T


def rotary_grouped_attention(build, parameters, x, pieces, window):
    weights = [parameters[f"{name}.weight"] for name in ("query", "key", "value", "output")]
    sizes = build["n_heads"], build["n_kv_heads"], build.get("base", 10000.0)
    result = attention(x, weights, *sizes)
    yes = torch.tensor(True)
    if not pieces:
        return {"result": result, "cached_heads": torch.tensor(0), "by_name": yes}
    cached = torch.tensor(build["n_kv_heads"])
    facts = {"cached_heads": cached, "by_name": yes, "turned_once": yes}
    return {"result": result, "afterwards": result} | facts


def stream(build, parameters, tokens, n_blocks):
    """The stream after some blocks, as one function of the model's parameters."""
    x, eps = parameters["tokens.weight"][tokens], build["eps"]
    sizes = build["n_heads"], build["n_kv_heads"], build["base"]
    for number in range(n_blocks):
        of = {
            name.removeprefix(f"blocks.{number}."): value
            for name, value in parameters.items()
            if name.startswith(f"blocks.{number}.")
        }
        weights = [of[f"attention.{name}.weight"] for name in ("query", "key", "value", "output")]
        x = x + attention(normed(x, of["attention_norm.weight"], eps), weights, *sizes)
        layers = [of[f"feed_forward.{name}.weight"] for name in ("gate", "up", "down")]
        x = x + feed_forward(normed(x, of["feed_forward_norm.weight"], eps), *layers)
    return x


def llama(build, parameters, tokens, pieces):
    x = stream(build, parameters, tokens, build["n_layers"])
    logits = normed(x, parameters["norm.weight"], build["eps"]) @ parameters["tokens.weight"].T
    return {"logits": logits} | ({"afterwards": logits} if pieces else {})


def to_pairs(weight, n_heads):
    d_head = len(weight) // n_heads
    order = []
    for head in range(n_heads):
        for pair in range(d_head // 2):
            order += [head * d_head + pair, head * d_head + d_head // 2 + pair]
    return weight[order]


def our_name(name):
    """The number of the right choice: two names outside of the blocks, then nine in each."""
    parts = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output"]
    parts += ["ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
    if not name.startswith("blk."):
        return torch.tensor(["token_embd.weight", "output_norm.weight"].index(name))
    _, block, part, _ = name.split(".")
    return torch.tensor(2 + 9 * int(block) + parts.index(part))


def drawn_parameters(sizes, seed):
    """The parameters that the check draws, in the order of their names."""
    n_tokens, d, n_heads, n_kv_heads, inner, n_layers, *_ = sizes
    kv = n_kv_heads * (d // n_heads)
    shapes = {"tokens.weight": (n_tokens, d), "norm.weight": (d,)}
    for number in range(n_layers):
        of_block = {
            "attention.query": (d, d),
            "attention.key": (kv, d),
            "attention.value": (kv, d),
            "attention.output": (d, d),
            "feed_forward.gate": (inner, d),
            "feed_forward.up": (inner, d),
            "feed_forward.down": (d, inner),
            "attention_norm": (d,),
            "feed_forward_norm": (d,),
        }
        shapes |= {f"blocks.{number}.{name}.weight": shape for name, shape in of_block.items()}
    generator = torch.Generator().manual_seed(seed)
    drawn = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        / shape[-1] ** (0.5 * (len(shape) - 1))
        for name, shape in sorted(shapes.items())
    }
    return {name: value.float().double() for name, value in drawn.items()}


SIZES = ["n_tokens", "d_model", "n_heads", "n_kv_heads", "d_feedforward", "n_layers", "base", "eps"]


def logit_lens(sizes, seed, tokens):
    """Models with fewer and fewer blocks."""
    parameters = drawn_parameters(sizes, seed)
    found = [
        llama(dict(zip(SIZES, sizes, strict=True)) | {"n_layers": n}, parameters, tokens, [])
        for n in range(sizes[5] + 1)
    ]
    return {"logits": torch.stack([each["logits"] for each in found])}


def sink_window(n_query, n_key, window, n_sinks):
    """A text of n_key tokens, token by token: what is still there when it is read."""
    rows, recent = [], []
    for place in range(n_key):
        recent = [*recent, place][-window:]
        seen = {*recent, *range(min(n_sinks, place + 1))}
        rows.append([key in seen for key in range(n_key)])
    return torch.tensor(rows)[n_key - n_query :]


def keys_from(sizes, seed, tokens, layer, from_layer):
    """Each head by itself; the streams come from models with fewer blocks, without a last norm."""
    parameters, build = drawn_parameters(sizes, seed), dict(zip(SIZES, sizes, strict=True))
    names = "attention_norm", "attention.query", "attention.key"
    of = {name: parameters[f"blocks.{layer}.{name}.weight"] for name in names}
    n_heads, d_head, eps = build["n_heads"], build["d_model"] // build["n_heads"], build["eps"]
    query, key = (
        normed(stream(build, parameters, tokens, block), of["attention_norm"], eps)
        @ of[f"attention.{name}"].T
        for name, block in (("query", layer), ("key", from_layer))
    )
    later = torch.ones(tokens.shape[1], tokens.shape[1]).triu(1).bool()
    maps = []
    for head in range(n_heads):
        shared = head * build["n_kv_heads"] // n_heads
        q = turned(query[..., head * d_head : head * d_head + d_head], build["base"])
        k = turned(key[..., shared * d_head : shared * d_head + d_head], build["base"])
        scores = torch.einsum("bqd,bkd->bqk", q, k) / d_head**0.5
        maps.append(scores.masked_fill(later, -torch.inf).softmax(-1))
    return {"attn_weights": torch.stack(maps, dim=1)}


def as_tried(result, witness):
    """What the trial notes beside a result: another text's, and that functions are put back."""

    def noted(sizes, seed, tokens, *others):
        found = witness(sizes, seed, tokens, *others)
        other = witness(sizes, seed, (tokens + 1) % int(sizes[0]), *others)
        return found | {"another_text": other[result], "put_back": torch.tensor(True)}

    return noted


WITNESSES = {
    "dequantize": dequantize,
    "RMSNorm": rms_norm,
    "GatedFeedForward": gated_feed_forward,
    "RotaryGroupedAttention": rotary_grouped_attention,
    "Llama": llama,
    "our_name": our_name,
    "to_pairs": to_pairs,
    "logit_lens": as_tried("logits", logit_lens),
    "sink_window": sink_window,
    "keys_from": as_tried("attn_weights", keys_from),
}
