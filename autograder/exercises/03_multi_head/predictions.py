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
    Prediction(
        "rows_of_word_2",
        right="rows 0 and 1 of head 1",
        choices={
            "row 2 of each head": "That is the right split. `view` cuts in the order of memory.",
            "rows 0 and 1 of head 1": "Words 0 and 1 fill head 0. Word 2 comes next in memory.",
            "all rows of head 1": "Word 2 has eight numbers, and a row of a head takes four.",
        },
    ),
    Prediction(
        "whom_can_it_name",
        right="the one with more attention",
        choices={
            "always the biter": "The reader can't know who bites. It sees which number is larger.",
            "the one with more attention": "Its number is the larger one, whatever its role.",
            "both, unless they share evenly": (
                "Both are in there. But a table that puts the smaller number first puts the six "
                "zeros before it."
            ),
        },
    ),
]
