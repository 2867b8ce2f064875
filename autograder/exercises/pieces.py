"""What lessons 7, 9 and 10 share: texts that a model reads in pieces, and lost heads."""

from collections.abc import Sequence

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
