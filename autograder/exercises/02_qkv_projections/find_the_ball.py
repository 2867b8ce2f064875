"""Attention weights by hand-written projections."""

import torch

from autograder.lessons.cases import Case, Goal, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake, Rewrite

WORDS = {"noun": 0, "verb": 1, "pronoun": 2}
LOOKS_FOR = {"pronoun": "noun", "verb": "pronoun"}
MOST_MISSING = 0.05  # share of the weight that a word owes to the one it looks for


def sentence(*kinds: str) -> Inputs:
    """Make a sentence of words of these kinds, and the weights that it should get."""

    def case(draw: Draw) -> Case:
        draw.label(", ".join(kinds))
        words, weights = torch.zeros(len(kinds), 4), torch.full((len(kinds),) * 2, 1 / len(kinds))
        words[:, 3] = (draw.normal_of((len(kinds),)) > 0).float()
        for place, kind in enumerate(kinds):
            if kind in WORDS:
                words[place, WORDS[kind]] = 1.0
            if kind in LOOKS_FOR:
                weights[place] = torch.eye(len(kinds))[kinds.index(LOOKS_FOR[kind])]
        looking = sum(kind in LOOKS_FOR for kind in kinds)
        if not looking:
            return {"words": words}
        most_error = looking * 2 * MOST_MISSING**2 / weights.numel()  # all of it on one other word
        return Goal({"words": words}, {"attn_weights": weights}, most_error)

    return case


def aloud(*edits: dict[str, str]) -> list[Rewrite]:
    """Edits of the solution, each as loud as there and louder."""
    louder = [{"loud = 8.0": f"loud = {loud}"} for loud in ("10.0", "12.0", "15.0", "20.0")]
    return [edit | more for edit in edits for more in ({}, *louder)]


def quiet(old: str, new: str) -> list[Rewrite]:
    """Edits that make a part of the solution too quiet, to various degrees."""
    return [{old: new.format(loud)} for loud in ("1.0", "2.0", "3.0", "4.0", "5.0", "5.5")]


EXERCISE = Exercise(
    "find_the_ball",
    challenge=True,
    returns="attn_weights",
    also=(),
    aspects=[
        Aspect("“The ball rolled until it stopped”", 1, [sentence("noun", "verb", "pronoun")]),
        Aspect(
            "other sentences",
            1,
            [
                sentence("verb", "pronoun", "noun"),
                sentence("other", "noun", "other", "pronoun", "verb"),
                sentence("verb", "noun", "pronoun", "verb", "other", "other"),
                sentence("noun", "pronoun"),
                sentence("other", "pronoun", "noun", "other", "other", "other"),
                sentence("verb", "noun", "verb", "pronoun", "verb", "verb"),
                sentence("noun", "other", "noun", "other"),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "too quiet",
            "Your words look the right way, but the lead is too small: softmax leaves the other "
            "words more than 0.05, and even more in longer sentences. Make one projection larger.",
            *quiet("loud = 8.0", "loud = {}"),
            {"loud = 8.0": "loud = 6.0"},
        ),
        Mistake(
            "the pronoun too quiet",
            "Your pronoun looks the right way, but its lead is too small: softmax leaves the other "
            "words more than 0.05. Make its query larger.",
            *quiet("[loud, 0.0]", "[{}, 0.0]"),
        ),
        Mistake(
            "the verb too quiet",
            "Your verb looks the right way, but its lead is too small: softmax leaves the other "
            "words more than 0.05. Make its query larger.",
            *quiet("[0.0, loud]", "[0.0, {}]"),
        ),
        Mistake(
            "the verb looks for nothing",
            "Your verb looks for nothing. It should find the pronoun: give its row of the query "
            "projection a number.",
            *aloud({"[0.0, loud]": "[0.0, 0.0]"}),
        ),
        Mistake(
            "the pronoun looks for nothing",
            "Your pronoun looks for nothing. It should find the noun: give its row of the query "
            "projection a number.",
            *aloud({"[loud, 0.0]": "[0.0, 0.0]"}),
        ),
        Mistake(
            "the pronoun finds itself",
            "Your pronoun looks at itself. It should look at the noun.",
            *aloud({"[loud, 0.0]": "[0.0, loud]"}),
        ),
        Mistake(
            "what verb and pronoun look for is swapped",
            "Your verb looks at the noun, and your pronoun at itself. It's the other way around: "
            "the verb looks for the pronoun, and the pronoun for the noun.",
            *aloud({"[0.0, loud], [loud, 0.0]": "[loud, 0.0], [0.0, loud]"}),
        ),
        Mistake(
            "both look for both",
            "Your verb and your pronoun look for noun and pronoun alike. Each should look for only "
            "one of them: keep the other number of its query at 0.",
            *aloud({"[0.0, loud], [loud, 0.0]": "[loud, loud], [loud, loud]"}),
        ),
        Mistake(
            "round words look too",
            "Words that are round look for something, too. Keep the fourth row of the query "
            "projection at zero.",
            *aloud(
                {"[loud, 0.0], [0.0, 0.0]]": "[loud, 0.0], [loud, 0.0]]"},
                {"[loud, 0.0], [0.0, 0.0]]": "[loud, 0.0], [0.0, loud]]"},
                {"[loud, 0.0], [0.0, 0.0]]": "[loud, 0.0], [loud, loud]]"},
            ),
        ),
        Mistake(
            "other words look at themselves",
            "Words that look for nothing look at themselves. They should spread their attention "
            "evenly: leave their scores at 0.",
            *aloud(
                {
                    "scores / 2**0.5": (
                        "scores / 2**0.5 + 10 * torch.eye(len(words)) "
                        "* (scores == 0).all(-1, keepdim=True)"
                    )
                }
            ),
        ),
        Mistake(
            "scores returned",
            "You returned the scores. Softmax turns them into weights.",
            *aloud({"torch.softmax(scores / 2**0.5, dim=-1)": "scores / 2**0.5"}),
        ),
        Mistake(
            "query and key exchanged",
            "The noun finds the pronoun instead of being found. The query says what a word looks "
            "for; the key says what it can be found by.",
            *aloud(
                {"(words @ w_query) @ (words @ w_key).T": "(words @ w_key) @ (words @ w_query).T"}
            ),
        ),
        Mistake(
            "the verb finds the noun",
            "Your verb looks at the noun. It should look at the pronoun: give the pronoun a "
            "feature of its own.",
            *aloud({"[0.0, loud]": "[loud, 0.0]"}),
        ),
        Mistake(
            "the noun looks too",
            "Your noun looks for something. Its row of the query projection should be all zeros.",
            *aloud(
                {"[[0.0, 0.0], [0.0, loud]": "[[loud, loud], [0.0, loud]"},
                {"[[0.0, 0.0], [0.0, loud]": "[[loud, 0.0], [0.0, loud]"},
                {"[[0.0, 0.0], [0.0, loud]": "[[0.0, loud], [0.0, loud]"},
            ),
        ),
        Mistake(
            "round things are found",
            "Your words look for what is round. A noun doesn't have to be: keep the fourth row at "
            "zero.",
            *aloud(
                {"[0.0, 1.0], [0.0, 0.0]]": "[0.0, 1.0], [1.0, 0.0]]"},
                {
                    "w_key = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])": (
                        "w_key = torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])"
                    )
                },
            ),
        ),
        Mistake(
            "by place",
            "This works on “ball, rolled, it”, but not when the words come in another order. Make "
            "the weights from `words`: words → queries and keys → scores.",
            "return torch.eye(len(words))[[0, 2, 0, *range(3, len(words))]]",
        ),
        Mistake(
            "columns instead of rows",
            "Your columns sum to 1. Each query shares out its attention over the keys: softmax "
            "along the last dimension.",
            *aloud({"dim=-1": "dim=0"}),
        ),
    ],
    alternatives=[
        Alternative(
            "louder keys",
            """
            w_query, w_key = words.new_zeros(4, 2), words.new_zeros(4, 2)
            w_query[2, 0] = w_query[1, 1] = 1.0
            w_key[0, 0] = w_key[2, 1] = 12.0
            return torch.softmax(words @ w_query @ w_key.T @ words.T / 2**0.5, dim=-1)
            """,
        ),
        Alternative(
            "the other way to number the features",
            """
            noun, verb, pronoun, _ = words.T
            query = torch.stack([9 * verb, 9 * pronoun], dim=1)
            key = torch.stack([pronoun, noun], dim=1)
            return (query @ key.T / 2**0.5).softmax(-1)
            """,
        ),
        Alternative(
            "opposites push away",
            """
            noun, verb, pronoun, _ = words.T
            query = torch.stack([verb + pronoun, pronoun - verb], dim=1)
            key = torch.stack([noun + pronoun, noun - pronoun], dim=1)
            return torch.softmax(7 * query @ key.T / 2**0.5, dim=-1)
            """,
        ),
    ],
    hints=[
        "Let the first feature be about nouns: a noun's key has a 1 there, and whoever looks for "
        "a noun has something there too. The second feature is about pronouns.",
        "Row 2 of the query projection is what a pronoun looks for, row 1 what a verb looks for. "
        "The rows of the key projection say who offers it: row 0 a noun, row 2 a pronoun.",
        "With a 1 in each place, the lead is too small. How loud must a query be for e^(score/√2) "
        "to be 19 times the sum of the others?",
    ],
)
