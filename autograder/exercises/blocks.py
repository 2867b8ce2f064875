"""Mistakes of a language model that runs a stack of blocks, in lessons 10 and 12."""

from autograder.lessons.variants import Mistake

CALLED = "x = block(x, None if caches is None else caches[number])"
LOOP = f"        for number, block in enumerate(self.blocks):\n            {CALLED}\n"

OF_THE_LOOP = [
    Mistake(
        "blocks side by side",
        "Each of your blocks reads the embeddings. A block reads what the one before it returned.",
        {LOOP: "        start = x\n" + LOOP.replace("x = block(x, ", "x = block(start, ")},
    ),
    Mistake("no blocks", "The blocks don't run: pass x through each of them.", {LOOP: ""}),
    Mistake(
        "blocks added once more",
        "You added what a block returns to x. A block has already added its part.",
        {LOOP: LOOP.replace("x = block(", "x = x + block(")},
    ),
    Mistake(
        "blocks backward",
        "Your blocks run from the last to the first.",
        {LOOP: LOOP.replace("enumerate(self.blocks)", "reversed([*enumerate(self.blocks)])")},
    ),
    Mistake(
        "one cache for all blocks",
        "All blocks use `caches[0]`, so their keys end up together. Block i has `caches[i]`.",
        {"caches[number]": "caches[0]"},
    ),
]


def in_a_plain_list(blocks: str) -> Mistake:
    """The blocks in a list that torch doesn't know; `blocks` is the `nn.ModuleList(…)`."""
    return Mistake(
        "the blocks in a plain list",
        "The model doesn't know all n_layers blocks as its parts. Keep them in an `nn.ModuleList`: "
        "torch doesn't look into a plain list.",
        {blocks: f"[{blocks.removeprefix('nn.ModuleList(')[:-1]}]"},
    )
