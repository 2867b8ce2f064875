"""A view of each kind, and pages that show them."""

from functools import cache

import torch
from torch import nn

from autograder.utils.data import WrongModel, six_words
from autograder.utils.views import (
    view_dial,
    view_heads,
    view_mask,
    view_memory,
    view_next_tokens,
    view_packing,
    view_probe,
    view_recall,
    view_scale,
    view_square,
    view_tiles,
    view_training,
    view_writing,
    view_wrong_models,
)

LABELS, WORDS = six_words()
SCORES = 4 * WORDS @ WORDS.T
HEADS = torch.stack([SCORES, -SCORES]).softmax(-1)
CAUSAL = torch.ones(6, 6).tril().bool()
PRODUCTS = torch.tensor([1.0, -0.5, 0.2])
SQUARE = torch.tensor([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])


def opposite(source):
    """The corners opposite to the given ones, which each of them looks at alone."""
    return -source, torch.eye(2).expand(len(source), 2, 2)


def untrained(source):
    return torch.zeros(len(source), 2, 2), torch.full((len(source), 2, 2), 0.5)


def seeing(keep):
    """A module whose outputs are sums of the words that a mask lets them see."""
    return lambda x: keep.float() @ x


PROBED = {"healthy": seeing(CAUSAL), "ill": seeing(torch.ones(6, 6).tril(1) - torch.eye(6))}

MEMORIES = ["adds", "replaces", "fades and replaces"]

TOKENS = ["The", " sky", " is", "\n"]
LIKELIEST = [
    {" sky": 0.5, " sea": 0.25, " is": 0.004},
    {" was": 0.7, " is": 0.2},
    {" blue": 0.9, " gray": 0.1},
    {"The": 1.0},
]

RIGHT = WrongModel("", 2.5, 0.0, 0.0, "Paris.")
WRONG = [
    WrongModel("no mask", 1.25, 20.0, 30.0, "France."),
    WrongModel("no rotation", 4.0, 10.0, 5.5, ""),
    WrongModel("no scale", 6.0, 12.0, 11.0, "Lion"),
]

LETTERS = list("ab \n\tXYZ.,")


class OneBlock(nn.Module):
    """Has the parameters of lesson 10's model."""

    def __init__(self, d_model=8, n_heads=2, n_context=6):
        super().__init__()
        self.n_context, self.tokens = n_context, nn.Embedding(len(LETTERS), d_model)
        self.positions = nn.Embedding(n_context, d_model)
        block = nn.Module()
        block.attention_norm, block.attention = nn.LayerNorm(d_model), nn.Module()
        for name in ("query", "key", "value", "output"):
            setattr(block.attention, name, nn.Linear(d_model, d_model))
        block.attention.n_heads, block.feed_forward_norm = n_heads, nn.LayerNorm(d_model)
        layers = nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        block.feed_forward, self.blocks = nn.Sequential(*layers), nn.ModuleList([block])
        self.norm, self.logits = nn.LayerNorm(d_model), nn.Linear(d_model, len(LETTERS))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            parts = (block.attention.query, block.attention.key, block.attention.value)
            normed = block.attention_norm(x)
            query, key, value = (
                part(normed).unflatten(-1, (block.attention.n_heads, -1)).transpose(1, 2)
                for part in parts
            )
            seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + block.attention.output(seen.transpose(1, 2).flatten(2))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        return self.logits(self.norm(x))


def in_half_precision(model):
    """What the page gets: the same model with rounded parameters."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.half())
    return model


torch.manual_seed(0)
WRITER = in_half_precision(OneBlock())
HEADS_OVER_TIME = torch.rand(3, 2, 2, 4, 4).tril()
SCORES_OVER_TIME = {"induction": HEADS_OVER_TIME.mean(dim=(-2, -1)).tolist()}

MOMENTS = {0: untrained(SQUARE[None, :2]), 50: opposite(SQUARE[None, :2])}
# Drawn when a test asks for one: all of them take seconds.
VIEWS = {
    "heads": lambda: view_heads(HEADS, LABELS, caption="1 < 2"),
    "one head": lambda: view_heads(HEADS[0], LABELS, caption="1 < 2"),
    "mask": lambda: view_mask(SCORES, CAUSAL, LABELS, caption="1 < 2"),
    "scale": lambda: view_scale(PRODUCTS, ["one", "two", "three"], caption="1 < 2"),
    "dial": lambda: view_dial((1.0, 0.0), (0.0, 0.5), caption="1 < 2"),
    "tiles": lambda: view_tiles([[1.0, 0.0, 3.0], [2.0, 1.0, 0.0]], tile=2, caption="1 < 2"),
    "memory": lambda: view_memory(caption="1 < 2"),
    "writing": lambda: view_writing(WRITER, LETTERS, "ab", caption="1 < 2"),
    "next": lambda: view_next_tokens(TOKENS, LIKELIEST, opens_on=1, caption="1 < 2"),
    "training": lambda: view_training(
        [10, 20, 30], [3.0, 2.0, 0.5], HEADS_OVER_TIME, SCORES_OVER_TIME, caption="1 < 2"
    ),
    "packing": lambda: view_packing(n_heads=2, d_head=2, caption="1 < 2"),
    "probe": lambda: view_probe(PROBED, WORDS, LABELS, changed=2, caption="1 < 2"),
    "recall": lambda: view_recall(MEMORIES, caption="1 < 2"),
    "adding": lambda: view_recall(caption="1 < 2"),
    "wrong": lambda: view_wrong_models(RIGHT, WRONG, caption="1 < 2"),
    "square": lambda: view_square(opposite, SQUARE, MOMENTS, caption="1 < 2"),
}


@cache
def view(name):
    return VIEWS[name]()


PAGE = "<!doctype html><html lang='en'><title>Views</title><main><h1>Views</h1>{}</main>"


def html(*names):
    return PAGE.format("".join(view(name)._repr_mimebundle_()["text/html"] for name in names))
