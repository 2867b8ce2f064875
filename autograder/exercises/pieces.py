"""What lessons 7, 9, 10 and 12 share: texts that a model reads in pieces, and heads."""

from collections.abc import Callable, Sequence
from typing import Any

from autograder.lessons.draw import Draw
from autograder.lessons.variants import Mistake

MANY = 9  # so many pieces are all alike

NO_OUTPUT_PROJECTION = Mistake(
    "no output projection",
    "You returned the heads side by side. The last step is missing: the output projection.",
    {"self.output(context.transpose(1, 2).flatten(2))": ("context.transpose(1, 2).flatten(2)")},
)
HEADS_NOT_PUT_BACK = Mistake(
    "heads not put back",
    "You flattened the heads without moving them back behind the words: `transpose(1, 2)` first.",
    {"context.transpose(1, 2).flatten(2)": "context.reshape(x.shape)"},
)


def in_pieces(pieces: Sequence[int], window: int | None = None) -> str:
    """Name a case whose words come in pieces."""
    words = f"pieces of {', '.join(map(str, pieces))}" if pieces else "in one go"
    if len(pieces) > MANY:
        words = f"{len(pieces)} pieces of {pieces[0]}"
    return words if window is None else f"{words}; window {window}"


def projection(n_heads: int | None = None) -> Callable[[Draw], dict[str, Any]]:
    """The weight of a projection into some heads, each of an even number of rows."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.among("d_head", 8, 10)  # so that a head has more pairs than there are heads
        heads = draw.choose("n_heads", 2, 3).size("n_heads") if n_heads is None else n_heads
        weight = draw.normal_of((heads * draw.size("d_head"), draw.size("d_model")))
        return {"weight": weight, "n_heads": heads}

    return case
