"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "the_bigram_table",
        right="about 2.4",
        choices={
            "about 4.2": "That's a guess among 68 equally likely characters. Pairs tell more.",
            "about 3.4": "That's what you get without pairs, from how often each character comes.",
            "about 2.4": "Pairs alone leave 11 characters to choose from.",
            "about 1.4": "That takes words and phrases. A pair doesn't know what word it's in.",
        },
    ),
    Prediction(
        "before_training",
        right="about ln 68",
        choices={
            "0": "A loss of 0 means being sure and right every time.",
            "about ln 68": "All tokens are about equally likely, as in the uniform guess.",
            "far above ln 68": "Only if it were sure of wrong answers. It isn't sure of anything.",
        },
    ),
    Prediction(
        "too_little_text",
        right="It falls, then rises, and by step 400 is about where it began",
        choices={
            "It falls, and stays there": "It would, if more training never hurt.",
            "It stays where it is": "2,000 characters are enough to learn some English.",
            "It falls, then rises, and by step 400 is about where it began": (
                "Knowing one text by heart makes the model sure of what is wrong in another."
            ),
        },
    ),
    Prediction(
        "another_period",
        right="never",
        choices={
            "nearly always": "If it looked for the token, it would. It doesn't.",
            "about half the time": "There is nothing halfway: it looks at the wrong place.",
            "never": "It looks 11 places back, and what it needs is 15 places back.",
        },
    ),
    Prediction(
        "one_induction_head_less",
        right="nearly always",
        choices={
            "never": "If it were the only one. But there are two.",
            "half the time": (
                "They don't split the texts between them. Each can do nearly all of the work."
            ),
            "nearly always": "The other head does the same job, and is enough by itself.",
        },
    ),
]
