"""Witnesses for lesson 4."""

import math

import torch
import torch.nn.functional as F


def causal_keep(n):
    return torch.tensor([[key <= query for key in range(n)] for query in range(n)])


def padding_keep(lengths, n):
    return torch.tensor([[[place < length for place in range(n)]] for length in lengths.tolist()])


def masked_softmax(attn_scores, keep):
    """Use the library's attention, which with the identity as keys and values is just softmax."""
    n_key = attn_scores.shape[-1]
    eye = torch.eye(n_key, dtype=attn_scores.dtype).expand(*attn_scores.shape[:-2], -1, -1)
    keep = keep.expand(attn_scores.shape)
    return F.scaled_dot_product_attention(attn_scores, eye, eye, attn_mask=keep, scale=1.0)


def masked_attention(query, key, value, keep):
    keep = keep.expand(*query.shape[:-1], key.shape[-2])
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
    # With the identity as values, it gives the weights.
    eye = torch.eye(key.shape[-2], dtype=value.dtype).expand(*key.shape[:-1], -1)
    return context, F.scaled_dot_product_attention(query, key, eye, attn_mask=keep)


def to_torch_mha_mask(keep):
    return torch.tensor([not may for may in keep.flatten().tolist()]).view(keep.shape)


def to_additive(keep, dtype):
    added = [0.0 if may else -math.inf for may in keep.flatten().tolist()]
    return torch.tensor(added, dtype=dtype).view(keep.shape)


def leaks_future(attention):
    """Whether an output depends on a later word, smoothly or in jumps."""
    return later_changes(attention, (3, 4, 4)).max().item() > 1e-9


ROUNDING = 1e-9  # of outputs in float64; slopes have none where nothing depends


def later_changes(attention, shape):
    """Return how much each output i depends on each later word j: [n, n], 0 elsewhere.

    This is the largest derivative of any feature of output i, in any sentence, by any feature of
    word j, or how far output i moves when word j changes its sign, whichever is larger.
    """
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(shape, generator=generator, dtype=torch.float64)
    # [batch, n, d] for the outputs, then [batch, n, d] for the words
    jacobian = torch.autograd.functional.jacobian(attention, words)
    slopes = jacobian.abs().amax((0, 2, 3, 5))
    moves = torch.zeros_like(slopes)
    for j in range(words.shape[1]):
        changed = words.clone()
        changed[:, j] *= -1
        moves[:, j] = (attention(changed) - attention(words)).abs().amax((0, 2))
    moves[moves < ROUNDING] = 0
    return torch.maximum(slopes, moves).triu(1)


def packed_keep(document, before):
    """Walk back from each word until the window ends or another text begins."""
    keep = torch.zeros(len(document), len(document), dtype=torch.bool)
    for word in range(len(document)):
        key = word
        while key >= 0 and word - key <= before and document[key] == document[word]:
            keep[word, key] = True
            key -= 1
    return keep


WITNESSES = {
    function.__name__: function
    for function in (
        causal_keep,
        padding_keep,
        masked_softmax,
        masked_attention,
        to_torch_mha_mask,
        to_additive,
        leaks_future,
        packed_keep,
    )
}
