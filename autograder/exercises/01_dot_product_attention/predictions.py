"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "whose_direction",
        right="“with”",
        choices={
            "“Your”": "It scores higher, but only because it is longer.",
            "“with”": "It points nearly the same way as “journey”. It is just short.",
            "both alike": "Then only their lengths would tell them apart. Look at the cosines.",
        },
    ),
    Prediction(
        "scores_that_cancel",
        right="the shares are infinite",
        choices={
            "the shares still sum to 1": (
                "To share 1 among them, you would have to divide by their sum, and that is 0."
            ),
            "the shares are infinite": (
                "Divided by 0, a positive number gives ∞ and a negative one −∞, and nobody "
                "complains."
            ),
            "an error": "In plain Python, dividing by 0 raises one. Tensors go on with ∞.",
        },
    ),
    Prediction(
        "e_to_100",
        right="infinity, and the weights are NaN",
        choices={
            "a large number": "e¹⁰⁰ is about 2.7 · 10⁴³: too large by a factor of 10⁴ and more.",
            "infinity, but the weights are right": (
                "To get a weight, you divide by the sum, which is infinite too, and ∞/∞ is NaN."
            ),
            "infinity, and the weights are NaN": (
                "All three exponentials overflow: not even e⁹⁸ fits."
            ),
        },
    ),
    Prediction(
        "slope",
        right=2,
        because="log n² = 2 log n: wherever n doubles once, n² doubles twice.",
    ),
    Prediction(
        "two_dot_products",
        right="the first is larger, the second negative",
        choices={
            "the second is larger": "−3 is large, but its sign is not that of 2: it subtracts 6.",
            "the first is larger, none negative": "1·2 − 2·3 is −4.",
            "the first is larger, the second negative": "1·2 + 2·1 = 4, and 1·2 − 2·3 = −4.",
        },
    ),
]
