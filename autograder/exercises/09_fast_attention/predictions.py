"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "words_read",
        right=500500,
        because="1 + 2 + … + 1,000: for each word, it reads the prompt and all words before it.",
    ),
    Prediction(
        "size_of_the_cache",
        right="4 GB",
        choices={
            "4 MB": "That's about one layer's keys for 512 words.",
            "400 MB": "There are keys and values, in 32 layers, with 4,096 numbers each.",
            "4 GB": "2 · 32 · 4,096 numbers of two bytes, half a megabyte for each word.",
        },
    ),
    Prediction(
        "a_lost_mask",
        right="6 of 20",
        choices={
            "all 20": "Every model computes something else. But the likeliest word often stays.",
            "15 of 20": "Fewer. The likeliest word is a poor witness.",
            "6 of 20": "In 14 models, every one of the 12 words stays the same.",
        },
    ),
    Prediction(
        "is_causal_with_a_cache",
        right="1",
        choices={
            "6": "It should: it comes after all of them. But the corner is at the top left.",
            "1": "Query 0 sees key 0, wherever the query really is.",
            "none": "Query 0 always sees key 0.",
        },
    ),
    Prediction(
        "what_is_d",
        right="the dot product of dO and O",
        choices={
            "the dot product of dO and O": "The context already holds the sum over the keys.",
            "the logsumexp": "That one has no gradient in it.",
            "the sum of dO": "The values have to come in, and they are in O.",
        },
    ),
]
