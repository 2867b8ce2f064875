"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "which_contexts_change",
        right="those of the first two",
        choices={
            "all": (
                "From the third place on, each word still sees the same words, and attention sees "
                "a set."
            ),
            "those of the first two": (
                "The first place sees a different word. At the second, a different word asks. The "
                "rest see the same set."
            ),
            "none": "The first place holds another word now, and sees only that.",
        },
    ),
    Prediction(
        "found_by_properties",
        right=5,
        because="Eight are rotations of a kind, and five pass all three. Only values tell them "
        "apart.",
    ),
    Prediction(
        "which_scores_stay",
        right="those of a word with itself",
        choices={
            "all of them": "Scores are sums over pairs, and here the pairs are different.",
            "those of a word with itself": (
                "Query and key turn by the same angle, so it cancels out."
            ),
            "none": "There is one distance at which the turns cancel out.",
        },
    ),
    Prediction(
        "who_fails_at_64",
        right="sinusoidal, learned and rotary",
        choices={
            "learned alone": (
                "Its rows from 32 on were never trained. But neither were the others' vectors for "
                "those places, or turns by such distances."
            ),
            "sinusoidal and learned": "And rotary? It sees distances only, but new ones.",
            "sinusoidal, learned and rotary": (
                "What they meet at 64 is new to all three, and they depend on it. ALiBi's new "
                "distances only fade."
            ),
        },
    ),
    Prediction(
        "a_window_of_32",
        right="rotary",
        choices={
            "sinusoidal": (
                "With a window, the distances are familiar, but its places are still new. At 64, "
                "it does better, but doesn't recover."
            ),
            "learned": (
                "Its rows from 32 on stay untrained, whatever the window. At 64, it does better, "
                "but doesn't recover."
            ),
            "rotary": "It sees distances only, and within the window there are no new ones.",
        },
    ),
    Prediction(
        "two_places_apart",
        right="yes",
        choices={
            "yes": "sin a · sin b + cos a · cos b = cos(a − b): only the distance counts.",
            "no": "The vectors differ, but sin a · sin b + cos a · cos b = cos(a − b).",
        },
    ),
    Prediction(
        "paper_and_code",
        right="powers of two",
        choices={
            "all": "The code has a rule of its own for 6 or 12 heads.",
            "powers of two": "For others, the code takes slopes from the powers next to them.",
            "none": "For 8 heads, both start at 1/2 and halve.",
        },
    ),
    Prediction(
        "rotated_bias",
        right="no",
        choices={
            "yes": "Each key's bias is turned by that key's place.",
            "no": "Each key's bias is turned by that key's place: each score gets its own.",
        },
    ),
    Prediction(
        "contexts_of_shuffled_words",
        right="they get shuffled along",
        choices={
            "nothing": "The rows trade places: each word takes its context along.",
            "they get shuffled along": "Each word meets the same words as before.",
            "all get other numbers": "No: each word meets the same words as before.",
        },
    ),
    Prediction(
        "the_last_hand",
        right=0.001,
        because="10000^(−6/8). Each hand turns a tenth as fast as the one before.",
    ),
]
