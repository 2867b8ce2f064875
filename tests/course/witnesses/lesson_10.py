"""Witnesses for lesson 10: token by token, by the library's functions, or by the theory."""

import math

import torch
import torch.nn.functional as F


def next_token_loss(logits, tokens, ignore):
    losses = [
        torch.logsumexp(at_place, dim=-1) - at_place[following]
        for text, words in zip(logits, tokens, strict=True)
        for at_place, following in zip(text, words[1:], strict=False)
        if ignore is None or following != ignore
    ]
    return sum(losses) / len(losses)


def attended(x, parameters, prefix, n_heads):
    """Causal self-attention, by the library: its output and its weights."""
    names = ("query", "key", "value")
    return F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3,
        embed_dim_to_check=x.shape[-1],
        num_heads=n_heads,
        in_proj_weight=torch.cat([parameters[f"{prefix}{name}.weight"] for name in names]),
        in_proj_bias=torch.cat([parameters[f"{prefix}{name}.bias"] for name in names]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=parameters[f"{prefix}output.weight"],
        out_proj_bias=parameters[f"{prefix}output.bias"],
        attn_mask=torch.full((x.shape[1],) * 2, -math.inf, dtype=x.dtype).triu(1),
        average_attn_weights=False,
    )


def normed(x, parameters, name):
    parts = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
    return F.layer_norm(x, x.shape[-1:], *parts)


def run_block(x, parameters, prefix, n_heads):
    """Return the output of a block, and its weights."""

    def layer(x, name):
        return F.linear(x, parameters[f"{prefix}{name}.weight"], parameters[f"{prefix}{name}.bias"])

    normed_x = normed(x, parameters, f"{prefix}attention_norm")
    found, weights = attended(normed_x, parameters, f"{prefix}attention.", n_heads)
    after = x + found.transpose(0, 1)
    hidden = layer(normed(after, parameters, f"{prefix}feed_forward_norm"), "feed_forward.0")
    bell = torch.distributions.Normal(0.0, 1.0)
    return after + layer(hidden * bell.cdf(hidden), "feed_forward.2"), weights


def block(build, parameters, x, pieces, window):
    return run_block(x, parameters, "", build["n_heads"])[0]


def tiny_language_model(build, parameters, tokens, pieces):
    """The whole text at once; the weights are those of the last piece's queries."""
    n = tokens.shape[1]
    x = parameters["tokens.weight"][tokens] + parameters["positions.weight"][:n]
    all_weights = []
    for number in range(build["n_layers"]):
        x, weights = run_block(x, parameters, f"blocks.{number}.", build["n_heads"])
        all_weights.append(weights[:, :, -(pieces or [n])[-1] :])
    last = normed(x, parameters, "norm")
    logits = F.linear(last, parameters["logits.weight"], parameters["logits.bias"])
    return {
        "logits": logits,
        "n_context": torch.tensor(build["n_context"]),
        "attn_weights": torch.stack(all_weights),
    } | ({"afterwards": logits} if pieces else {})


def sample(logits, temperature=1.0, top_k=None, top_p=None):
    """What is left of the probabilities, token by token."""
    probs = F.one_hot(logits.argmax(), len(logits)).to(logits.dtype)
    if temperature > 0:
        probs = (logits / temperature).softmax(-1)
    ranks = [(probs > p).sum().item() for p in probs]
    if top_k is not None:
        probs = torch.stack([p * (rank < top_k) for p, rank in zip(probs, ranks, strict=True)])
        probs = probs / probs.sum()
    if top_p is not None:
        before = [probs[probs > p].sum() for p in probs]
        probs = torch.stack([p * (b < top_p) for p, b in zip(probs, before, strict=True)])
        probs = probs / probs.sum()
    possible = probs > 0
    yes = torch.tensor(True)
    varies = possible.sum() > 1
    return {"frequencies": probs, "possible": possible, "by_generator": yes, "varies": varies}


def generate(model, tokens, n_new, how):
    """Greedy, without caches: the text's length determines how much of it is visible."""
    read, start, unread = [], 0, tokens.shape[1]
    for _ in range(n_new):
        if tokens.shape[1] - start > model.n_context:
            unread = model.n_context // 2
            start = tokens.shape[1] - unread
        read.append(unread)
        likeliest = model(tokens[:, start:])[:, -1].argmax(-1, keepdim=True)
        tokens, unread = torch.cat([tokens, likeliest], dim=1), 1
    names = "again", "light", "random", "by_generator", "varies", "advances", "in_order"
    facts = dict.fromkeys(names, torch.tensor(True))
    return {"tokens": tokens, "tokens per call": torch.tensor(read, dtype=torch.long)} | facts


def previous_token_score(attn_weights, tokens):
    n = len(tokens)
    return torch.stack(
        [sum(head[i, i - 1] for i in range(1, n)) / (n - 1) for head in attn_weights]
    )


def induction_score(attn_weights, tokens):
    places = [
        [j for j in range(1, i + 1) if tokens[j - 1] == token] for i, token in enumerate(tokens)
    ]
    counted = sum(map(bool, places))
    sums = [
        sum(head[i, j] for i, found in enumerate(places) for j in found) for head in attn_weights
    ]
    return torch.stack([torch.as_tensor(total) / max(1, counted) for total in sums])


def copy_accuracy(logits, tokens, known):
    guesses = [
        logits[text, place - 1].tolist().index(max(logits[text, place - 1])) == tokens[text, place]
        for text, place in known.nonzero().tolist()
        if place > 0
    ]
    return sum(guesses) / len(guesses)


def without_head(weights, model, layer, head, tokens):
    """What heads hand to the output layer is replaced with zeros on its way."""
    attention = model.blocks[layer].attention
    d_head = attention.output.in_features // attention.n_heads

    def result_without(*silent):
        def silenced(module, inputs):
            heads = list(inputs[0].split(d_head, dim=-1))
            return torch.cat([h * (n not in silent) for n, h in enumerate(heads)], dim=-1)

        hook = attention.output.register_forward_pre_hook(silenced)
        result = model(tokens)
        hook.remove()
        return result

    return {
        "result": result_without(head),
        "untouched": torch.tensor(True),
        "alike": torch.tensor(True),
        "without the next": result_without(head, (head + 1) % attention.n_heads),
    }


def speculate(draft, target):
    """The chance of each pair: the rows sum to the draft's, the columns to the target's."""
    kept = torch.minimum(draft, target)
    changed = torch.outer(draft - kept, target - kept)
    return {
        "pairs": torch.diag(kept) + changed / max(changed.sum().item() ** 0.5, 1e-12),
        "by_generator": torch.tensor(True),
        "varies": changed.any(),
    }


WITNESSES = {
    "next_token_loss": next_token_loss,
    "Block": block,
    "TinyLanguageModel": tiny_language_model,
    "sample": sample,
    "generate": generate,
    "previous_token_score": previous_token_score,
    "induction_score": induction_score,
    "copy_accuracy": copy_accuracy,
    "without_head": without_head,
    "speculate": speculate,
}
