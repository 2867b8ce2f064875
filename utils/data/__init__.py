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
    plain_paragraphs,
    riddle,
    riddle_weights,
    six_words,
)
from autograder.utils.data.recorded import (
    CAPITAL_OF_FRANCE,
    CURVES,
    LENGTHS,
    RIGHT_MODEL,
    RUNS,
    WRONG_MODELS,
    WrongModel,
)
