"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "share_of_the_dog",
        right="½, and the context is the same",
        choices={
            "½, and the context is the same": "Half a dog and half a man, whoever bites.",
            "½, but the context differs": (
                "It is another sentence, but the same two halves get added up."
            ),
            "all of it": "Both places are asked for alike, so they share evenly.",
        },
    ),
    Prediction(
        "view_or_reshape",
        right="only `reshape`",
        choices={
            "both": "`view` never moves a number, and here the numbers lie in a different order.",
            "only `reshape`": "It makes a copy, in the new order.",
            "neither": "`reshape` can: where the order in memory doesn't fit, it makes a copy.",
        },
    ),
    Prediction(
        "row_after_dropout",
        right="it depends, but 1 on average",
        choices={
            "1": "Dropout doesn't divide again. It doubles what is left, whatever that sums to.",
            "½": "About half of the weights are gone, but those that are left are doubled.",
            "it depends, but 1 on average": "Every weight is gone or doubled, with even odds.",
        },
    ),
    Prediction(
        "parameters_of_16_heads",
        right="as many as with 1",
        choices={
            "16 times as many as with 1": (
                "Each head has projections of its own. But they are only a sixteenth as wide."
            ),
            "as many as with 1": "More heads are narrower heads.",
            "a sixteenth": "Each head is a sixteenth as wide, and there are 16 of them.",
        },
    ),
]
