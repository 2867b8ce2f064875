"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "as_large_as_the_state",
        right=64,
        because="A word's key and value are 2 · 128 numbers, and the state has 128 · 128.",
    ),
    Prediction(
        "written_twice",
        right="5",
        choices={
            "1": "That's what you'd want. But nothing has taken the old value out.",
            "2.5": "That's the mean. But the memory doesn't know how many values went in.",
            "5": "Both values were added under the same key: 4 + 1.",
            "4": "The new value was added, too.",
        },
    ),
    Prediction(
        "which_finds_more",
        right="the one that adds",
        choices={
            "the one that adds": "It treats all words alike: four in five are found, wherever they "
            "stand.",
            "the one that replaces": "Each new word is exact. But look at what becomes of the "
            "older ones.",
            "both find equally many": "Both have 32 · 32 numbers, but they spend them on different "
            "words.",
        },
    ),
    Prediction(
        "without_the_convolution",
        right="1 in 7",
        choices={
            "9 in 10": "The layer still has its keys, its state and its gates. But think of what a "
            "value is stored under.",
            "1 in 2": "That's what guessing finds among two pairs.",
            "1 in 7": "It can't tell which value belongs to which key, and guesses.",
            "1 in 64": "That's any token at all. But it knows which values are in the text.",
        },
    ),
    Prediction(
        "which_gets_worse",
        right="only softmax",
        choices={
            "only softmax": "It has never seen words so far away.",
            "only states": "They do fill up. But old words fade, and most of what predicts the "
            "next character was read just now.",
            "each of the two": "One of them stores no places, so it can't be surprised by one.",
            "neither": "One of them has only ever seen distances below 64.",
        },
    ),
]
