"""The name in the state dict of `Llama` for a tensor of the file."""

from typing import Any

from autograder.lessons.cases import CALLS, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Result
from autograder.lessons.variants import Alternative, Mistake

OUTSIDE = {"token_embd": "tokens", "output_norm": "norm"}
OF_A_BLOCK = {
    "attn_norm": "attention_norm",
    "attn_q": "attention.query",
    "attn_k": "attention.key",
    "attn_v": "attention.value",
    "attn_output": "attention.output",
    "ffn_norm": "feed_forward_norm",
    "ffn_gate": "feed_forward.gate",
    "ffn_up": "feed_forward.up",
    "ffn_down": "feed_forward.down",
}
N_BLOCKS = 30  # of SmolLM2
NAMES = {f"{theirs}.weight": f"{ours}.weight" for theirs, ours in OUTSIDE.items()} | {
    f"blk.{block}.{theirs}.weight": f"blocks.{block}.{ours}.weight"
    for block in range(N_BLOCKS)
    for theirs, ours in OF_A_BLOCK.items()
}


def outside(theirs: str) -> Inputs:
    return lambda draw: {"name": f"{theirs}.weight"}


def of_a_block(theirs: str, *blocks: int) -> Inputs:
    """A tensor of a block, which is one of those given, or any."""

    def case(draw: Draw) -> dict[str, Any]:
        chosen = draw.choose("block", *(blocks or range(N_BLOCKS))).size("block")
        return {"name": f"blk.{chosen % N_BLOCKS}.{theirs}.weight"}

    return case


BLOCK = "blocks.{block[1]}"

EXERCISE = Exercise(
    "our_name",
    returns="name",
    parts=[
        Result(choices={ours: f"That's the tensor `{theirs}`." for theirs, ours in NAMES.items()})
    ],
    also=CALLS,
    aspects=[
        Aspect("outside of the blocks", 1, [*map(outside, OUTSIDE)]),
        Aspect(
            "in the blocks",
            2,
            [of_a_block("ffn_up", 12, 29), *map(of_a_block, OF_A_BLOCK), of_a_block("attn_q", 0)],
        ),
    ],
    mistakes=[
        Mistake(
            "one digit of the number",
            "You took only one digit of the block's number.",
            {BLOCK: "blocks.{block[1][0]}"},
            {BLOCK: "blocks.{block[1][-1]}"},
        ),
        Mistake(
            "another number",
            "Your block's number isn't the file's. Both count from 0.",
            {BLOCK: "blocks.{int(block[1]) + 1}"},
            {BLOCK: "blocks.{int(block[1]) - 1}"},
        ),
        Mistake(
            "gate and up swapped",
            "You swapped `gate` and `up`.",
            {
                '"feed_forward.gate"': '"feed_forward.up"',
                '"ffn_up": "feed_forward.up"': '"ffn_up": "feed_forward.gate"',
            },
        ),
        Mistake(
            "the norms swapped",
            "You swapped the norms.",
            {
                '"attn_norm": "attention_norm"': '"attn_norm": "feed_forward_norm"',
                '"ffn_norm": "feed_forward_norm"': '"ffn_norm": "attention_norm"',
            },
        ),
    ],
    alternatives=[
        Alternative(
            "piece by piece",
            """
            theirs = "blk token_embd output_norm attn_norm attn_q attn_k attn_v attn_output"
            ours = "blocks tokens norm attention_norm attention.query attention.key "
            ours += "attention.value attention.output"
            known = dict(zip(theirs.split(), ours.split()))
            pieces = [known.get(piece, piece) for piece in name.split(".")]
            last = ".".join(pieces).replace("ffn_norm", "feed_forward_norm")
            return last.replace("ffn_", "feed_forward.")
            """,
        ),
        Alternative(
            "case by case",
            """
            if name == "token_embd.weight":
                return "tokens.weight"
            if name == "output_norm.weight":
                return "norm.weight"
            _, number, part, ending = name.split(".")
            kind, what = part.split("_")
            room = {"attn": "attention", "ffn": "feed_forward"}[kind]
            if what == "norm":
                return f"blocks.{number}.{room}_norm.{ending}"
            what = {"q": "query", "k": "key", "v": "value"}.get(what, what)
            return f"blocks.{number}.{room}.{what}.{ending}"
            """,
        ),
    ],
    hints=[
        "Take a dict for the parts: what the file says → what you say.",
        '`name.split(".")` gives two pieces outside of the blocks, and four inside.',
        "The number of the block stays what it is, with all of its digits.",
    ],
    excuses={"seed changed": "nothing is drawn in it, and the check puts the seed back"},
)
