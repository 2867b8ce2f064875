"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "at_the_floor",
        right="minus the sign",
        choices={
            "minus the corner": "It copies the noise of one corner, and misses that of another.",
            "minus the sign": "It copies no noise. It only misses the noise of what it aims at.",
            "both": "One of them copies the noise of a corner, so it pays twice.",
        },
    ),
    Prediction(
        "does_corner_3_move",
        right="it shouldn't, and it does",
        choices={
            "it shouldn't, and it doesn't": "If the call gave the mask to the target, it wouldn't.",
            "it shouldn't, and it does": "The mask went to the source. Nothing masks the target.",
            "it should": "Then a corner would depend on one that is written after it.",
        },
    ),
    Prediction(
        "second_gradient",
        right=12,
        because="`backward` adds: 6 that were there, and 6 more.",
    ),
    Prediction(
        "below_the_floor",
        right="only the training loss",
        choices={
            "both": "Nothing it reads gives away the noise of squares it hasn't seen.",
            "only the training loss": "What was drawn for the training squares can be memorized.",
            "neither": "The noise of the training squares can be memorized, like anything else.",
        },
    ),
]
