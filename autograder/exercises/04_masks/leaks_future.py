"""Whether some output of `attention` depends on a word that comes after it."""

from autograder.lessons.cases import SIZES
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Judged, Result

from .drawn_implementations import drawn
from .implementations import implementation
from .leaks_future_variants import ALTERNATIVES, MISTAKES


def telling_apart(
    name: str, points: int, shown: list[str], hidden: list[str], kinds: list[str]
) -> Aspect:
    """Sound and leaking implementations: some only for grading, and new ones of some kinds."""
    return Aspect(
        name,
        points,
        [*map(implementation, shown), *map(drawn, kinds)],
        hidden_cases=[implementation(one) for one in hidden],
    )


EXERCISE = Exercise(
    "leaks_future",
    returns="leaks",
    parts=[Result(plain=True), Judged(steady=True)],
    also=(*SIZES,),
    aspects=[
        telling_apart(
            "a mask that is missing, reversed or shifted",
            2,
            [
                "causal attention",
                "no mask",
                "the mask reversed",
                "one word too far",
                "attention to the words before, but not to the word itself",
                "attention to the last two words",
                "only the next word hidden",
            ],
            [
                "an additive mask",
                "the library's function, is_causal",
                "words in pairs that see each other",
            ],
            ["causal attention to the last few words", "the mask shifted"],
        ),
        telling_apart(
            "a mask in the wrong place",
            1,
            [
                "masked after softmax",
                "softmax over the queries",
                "hidden scores set to 0",
                "a softmax by hand",
                "attention between the sentences of the batch",
            ],
            [
                "hidden scores set to -1",
                "one word at a time, by a loop",
                "words minus the average of the batch, in reverse",
            ],
            ["causal attention with a softmax of its own", "hidden scores set to a number"],
        ),
        telling_apart(
            "heads and layers",
            1,
            [
                "heads split without a transpose",
                "one head without a mask",
                "two heads, split correctly",
                "two layers",
            ],
            ["heads merged without a transpose", "two layers, the first without a mask"],
            ["causal attention in heads", "one of the heads without a mask"],
        ),
        telling_apart(
            "leaks around the mask",
            1,
            [
                "weights masked, the average of the sentence in every value",
                "weights masked, a trace of the average in every value",
                "masked, a thousandth of the average added at the end",
                "words normalized, no mask",
                "features standardized over the sentence",
                "the average of the words so far",
                "the sum of the words before, without the word itself",
                "values centered over the words so far",
                "an output that is always the same",
                "words scaled to length 1, no mask",
                "sentences scaled to length 1",
                "whether the next word is larger, added at the end",
            ],
            [
                "weights masked, each value mixed with the next",
                "the next word added at the end",
                "no attention at all",
            ],
            [
                "averages of the past in the values",
                "averages of the sentence in the values",
            ],
        ),
        telling_apart(
            "a single leak, wherever it is",
            2,
            [
                "every word sees the last one",
                "the last word in every place, without a copy",
                "only the next-to-last word sees the last",
                "only the first word sees the second",
                "only the third word sees the fourth",
                "only the first word sees a thousandth of the second",
                "one feature is the average of the sentence",
                "the last feature of the next word, added to the last feature",
                "only the first sentence masked",
                "only the second sentence not masked",
                "only the third word of the second sentence sees the fourth",
                "attention to the first word only",
                "scores shifted by the largest in the row, hidden ones included",
                "large outputs",
            ],
            [
                "words reversed, masked the other way, reversed again",
                "each word sees the one three places later",
            ],
            ["attention to some of the words so far", "one word sees a later one, in one sentence"],
        ),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Make random words, `torch.randn(batch, n, d)` with several of each, and keep the "
        "outputs. Then change something in a copy, and compare. Only outputs before the change "
        "count.",
        "A leak can hide anywhere, so change each word in turn (or everything from each place "
        "on), in all sentences, in all features, and look at every output before it.",
        "Put in new random numbers: a reordered future has the same average. Compare with a small "
        "tolerance (`torch.allclose` with an `atol`), since large sums are rounded.",
    ],
    excuses={
        "arguments swapped: torch.randn(3, 6, 8)": "any size that is large enough will do",
        "another number: 3 →": "likewise",
        "another number: 6 →": "likewise",
        "another number: 8 →": "likewise",
        "argument dropped: range(1, words.shape[1])": (
            "with all words changed there is nothing before"
        ),
        "another number: 1 → 0": "likewise",
        "another number: 1 → 2 (2)": "at the end there is nothing left to change",
        "arguments swapped: torch.allclose(": "nearly the same either way",
        "keyword dropped: torch.allclose(": "a tolerance of 1e-8 is as good",
        "random start": "any random numbers will do",
        "seed changed": "it may draw from a seed of its own",
    },
)
