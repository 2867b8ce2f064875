"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "at_the_floor",
        right="minus the sign",
        choices={
            "minus the corner": "It copies the noise of one corner, and misses that of another.",
            "minus the sign": "It copies no noise. It only misses the noise of what it aims at.",
            "both": "One of them copies the noise of a corner, so it pays twice.",
        },
    ),
    Prediction(
        "does_corner_3_move",
        right="it shouldn't, and it does",
        choices={
            "it shouldn't, and it doesn't": "If the call gave the mask to the target, it wouldn't.",
            "it shouldn't, and it does": "The mask went to the source. Nothing masks the target.",
            "it should": "Then a corner would depend on one that is written after it.",
        },
    ),
    Prediction(
        "second_gradient",
        right=12,
        because="`backward` adds: 6 that were there, and 6 more.",
    ),
    Prediction(
        "below_the_floor",
        right="only the training loss",
        choices={
            "both": "Nothing it reads gives away the noise of squares it hasn't seen.",
            "only the training loss": "What was drawn for the training squares can be memorized.",
            "neither": "The noise of the training squares can be memorized, like anything else.",
        },
    ),
    Prediction(
        "tested_on",
        right="the training squares",
        choices={
            "new squares": "They are drawn, as `test_points`, and then nobody uses them.",
            "the training squares": "The last line takes `points`, not `test_points`.",
            "half of each": "The last line takes `points` alone.",
        },
    ),
    Prediction(
        "left_at_the_end",
        right="next to nothing of either",
        choices={
            "half of both": "Every part lets a fraction through, and the fractions multiply.",
            "the places, not the squares": "The places fare worse: they average the same values.",
            "next to nothing of either": "Every part lets a fraction through; fractions multiply.",
        },
    ),
    Prediction(
        "louder_numbers",
        right="it helps, but not enough",
        choices={
            "yes": "The squares stay apart, but the places are still averaged.",
            "it helps, but not enough": "The squares stay apart. The places are still averaged.",
            "not at all": "With these seeds it helps a little, since the squares stay apart.",
        },
    ),
    Prediction(
        "norm_of_two",
        right="which one is larger",
        choices={
            "how far they differ": "Divided by the spread, they differ by 2, unless they're nearly "
            "equal.",
            "their ratio": "The mean is subtracted first, so the ratio is lost.",
            "which one is larger": "With mean 0 and variance 1, one is 1, and the other −1.",
        },
    ),
    Prediction(
        "most_missed",
        right="width",
        choices={
            "residual connections": "Without them it's a lottery, but one seed wins it.",
            "positions": "Corner 2 tells the decoder enough.",
            "width": "Through a norm of two features, hardly any gradient gets back.",
            "layer norm": "Without it, all seeds still end near the floor.",
        },
    ),
    Prediction(
        "root_forgotten",
        right="not at all",
        choices={
            "not at all": "It's a factor in the query projection, and training chooses that.",
            "the error doubles": "Training is free to choose smaller queries instead.",
            "it learns nothing": "With 512 features softmax might saturate; 16 are few.",
        },
    ),
    Prediction(
        "copied_corner",
        right="below the floor; high when it predicts",
        choices={
            "at the floor, both times": "It copies the true corner, noise and all.",
            "below the floor, both times": "When it predicts, there is no true corner to copy.",
            "below the floor; high when it predicts": (
                "It copies the true corner, noise and all. When it predicts, there is none."
            ),
        },
    ),
    Prediction(
        "opposite_corner",
        right="corner 4 nearly always, corner 3 less often",
        choices={
            "both always": "Corner 3 comes out right even where a head looks elsewhere.",
            "corner 4 nearly always, corner 3 less often": (
                "The decoder reads corner 2 itself, too."
            ),
            "both in about half": "For corner 4, it is nearly every square.",
        },
    ),
    Prediction(
        "moved_by_padding",
        right="only without the mask",
        choices={
            "not at all": "Without a mask, attention mixes the nonsense in.",
            "only without the mask": "Hidden places get a weight of exactly 0.",
            "in both cases": "With the mask, hidden places get a weight of exactly 0.",
        },
    ),
    Prediction(
        "numbers_of_a_layer",
        right=30,
        because="10 · 2 weights and 10 biases. The layer back has 2 · 10 and 2: that is 22.",
    ),
]
