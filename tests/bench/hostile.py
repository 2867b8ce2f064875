"""Every hostile submission, one after another: what it did, and what it earned."""

from tests.sandbox.hostile.__main__ import main


def report() -> None:
    """Print a line for each attack, and one for each wall that did not hold."""
    main([])
