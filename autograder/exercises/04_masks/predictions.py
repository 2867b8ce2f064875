"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "weight_of_padding",
        right="a third or more",
        choices={
            "nothing": "A score of 0 is not a weight of 0: e⁰ is 1.",
            "a little": "e⁰ is 1, about what a real word gets, and there are three of them.",
            "a third or more": "e⁰ is 1, about what a real word gets, and there are three of them.",
        },
    ),
    Prediction(
        "after_a_hidden_200",
        right="NaN",
        choices={
            "0, .27 and .73": "On paper. But next to e²⁰⁰, both weights are already rounded to 0.",
            "0, 0 and 0": "That is what is left before you divide. But the sum is 0, too.",
            "NaN": "Both weights are already rounded to 0, and 0/0 is NaN.",
        },
    ),
    Prediction(
        "nothing_to_see",
        right="NaN, thirds, thirds",
        choices={
            "0 all three times": "Weights of softmax always sum to 1, unless they are NaN.",
            "NaN, thirds, thirds": "∞ − ∞ is NaN. Three equal scores share evenly, however low.",
            "thirds all three times": "Scores of −∞ are equal too. But −∞ − (−∞) is NaN.",
        },
    ),
    Prediction(
        "keys_of_the_last_word",
        right=2,
        because=(
            "`is_causal` lines up the first query with the first key, so the second query sees two "
            "keys. You would want it to see all five."
        ),
    ),
    Prediction(
        "who_hides_the_future",
        right="F.sdpa with booleans, and Keras",
        choices={
            "all four": "True means “hidden” to one of them, and one adds numbers.",
            "F.sdpa with booleans, and Keras": "To both, True means “may attend”.",
            "all but nn.MultiheadAttention": (
                "A mask of floats is added to the scores. Adding 0 hides nothing."
            ),
        },
    ),
    Prediction(
        "column_and_row",
        right="[3, 3], above the diagonal",
        choices={
            "[3], and nowhere": "Two rows would meet in pairs. A column meets all of a row.",
            "[3, 3], above the diagonal": "Row i is true where a number is larger than number i.",
            "[3, 3], below the diagonal": "Row 0 is 1 < 1, 1 < 2, 1 < 3: true twice.",
        },
    ),
    Prediction(
        "mask_of_the_last",
        right="row i is sentence i's",
        choices={
            "its own, in each row": "It takes [batch, 1, n] to say so.",
            "the first sentence's, in each row": "The whole table is repeated, not its first row.",
            "row i is sentence i's": "From the right, [batch, n] reads as [n_query, n_key].",
        },
    ),
    Prediction(
        "zero_times_infinity",
        right="NaN",
        choices={
            "0": "Zero times any number is 0, but −∞ is no number.",
            "−∞": "Any other number would keep the ∞. With 0, the product has no value.",
            "NaN": "The product has no value. So don't multiply by −∞; put it where it belongs.",
        },
    ),
    Prediction(
        "sound_of_four",
        right=1,
        because=(
            "Only the mask before softmax keeps the past still. After softmax, the changed word is "
            "in the sum that every row was divided by."
        ),
    ),
]
