"""What lessons 9 and 10 share: texts that a model reads in pieces."""

from collections.abc import Sequence


def in_pieces(pieces: Sequence[int], window: int | None = None) -> str:
    """Name a case whose words come in pieces."""
    words = f"pieces of {', '.join(map(str, pieces))}" if pieces else "in one go"
    return words if window is None else f"{words}; window {window}"
