"""The lessons' data: examples to compute with, and measurements made once.

Nothing is drawn or trained here.
"""

from autograder.utils.data.examples import (
    CORNERS,
    NOISE,
    NOISE_FLOOR,
    RIDDLE,
    Squares,
    as_you_like_it,
    generate_squares,
    riddle,
    riddle_weights,
    six_words,
)
from autograder.utils.data.recorded import CURVES, LENGTHS, RUNS

__all__ = [
    "CORNERS",
    "CURVES",
    "LENGTHS",
    "NOISE",
    "NOISE_FLOOR",
    "RIDDLE",
    "RUNS",
    "Squares",
    "as_you_like_it",
    "generate_squares",
    "riddle",
    "riddle_weights",
    "six_words",
]
