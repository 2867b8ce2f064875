"""A small Transformer to look inside, and a way to make parts of it ill."""

import torch
from torch import nn

from autograder.utils.models.patient import Attention, source_of

N_BLOCKS = 3
PARTS = ("norm", "attention", "feed_forward")
PART_NAMES = [f"blocks.{number}.{part}" for number in range(N_BLOCKS) for part in PARTS]


class Block(nn.Module):
    """A block of a Transformer: attention, then a feed-forward network."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_model), nn.GELU())
        self.attention = Attention(d_model, n_heads, n_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.feed_forward(x)


class Stack(nn.Module):
    """Several blocks, [batch, n, d_model] → same."""

    def __init__(self, n_blocks, d_model, n_heads):
        super().__init__()
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def build_stack(n_blocks, d_model, n_heads, seed, *ill):
    """Build a stack with weights drawn from a seed; the parts named in `ill` have others."""
    stack = Stack(n_blocks, d_model, n_heads).eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for value in stack.parameters():
        value.normal_(std=0.5, generator=generator)
    for name in ill:
        for value in stack.get_submodule(name).parameters():
            value *= 1.1
    return stack


def stack_code(d_model: int, n_heads: int, seed: int, ill: list[str]) -> str:
    """Return code that defines `stack`, as built by `build_stack`."""
    arguments = ", ".join(map(repr, [N_BLOCKS, d_model, n_heads, seed, *ill]))
    sources = map(source_of, (Attention, Block, Stack, build_stack))
    return "\n\n".join([*sources, f"stack = build_stack({arguments})"])
