"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "zeros_pass",
        right="yes",
        choices={
            "yes": "All numbers of the right result are smaller than the tolerance, so 0 is close "
            "enough.",
            "no": "The right result has no number above 0.5, so 0 is within the tolerance.",
        },
    ),
    Prediction(
        "the_last_output_moves",
        right="yes",
        choices={
            "yes": "The word doesn't see itself, but it asks: its query has changed.",
            "no": "The word's value doesn't arrive, but its query has changed as well.",
        },
    ),
    Prediction(
        "right_by_luck",
        right="6 query heads with 1 key head, or with 6",
        choices={
            "6 query heads with 1 key head": "Yes, but it isn't the only one.",
            "6 query heads with 2 key heads": (
                "Tiled: 0, 1, 0, 1, 0, 1. Repeated: 0, 0, 0, 1, 1, 1."
            ),
            "6 query heads with 1 key head, or with 6": (
                "With one key head there is nothing to confuse, and with six, nothing to copy."
            ),
        },
    ),
    Prediction(
        "a_leak_in_h",
        right="True",
        choices={
            "True": "Its outputs move from call to call. The test can't know why.",
            "False": "There is no leak. But the outputs move from call to call.",
        },
    ),
    Prediction(
        "places_in_bfloat16",
        right="about half",
        choices={
            "all 1,000": "Eight binary digits are enough for 256 numbers, not for 1,000.",
            "about half": "All up to 256, then every second up to 512, then every fourth: 507.",
            "256": "Beyond 256 there are numbers, too, but not all of them.",
        },
    ),
]
