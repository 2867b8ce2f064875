"""Whether a word fails to see itself or an earlier word, in a text of 12 words."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Result
from autograder.lessons.variants import Alternative, Mistake

from .shared import A_TENSOR, ENOUGH, EVALUATED, RANDOM, telling_apart

EXERCISE = Exercise(
    "find_blind_spot",
    returns="is_blind",
    parts=[Result(plain=True), Judged(steady=True)],
    also=(),
    aspects=[
        telling_apart("words that are hidden by a cache", 1, "EBGA"),
        telling_apart(
            "words that don't see themselves",
            1,
            "TKQ",
            "one head that is blind to the word itself",
            "the sixth word doesn't see itself",
        ),
        telling_apart(
            "any place, any head",
            1,
            "NPLC",
            "the third word doesn't see the first",
            "the first head hides the fourth word from the sixth",
            "the second head hides the ninth word from the tenth",
            "scores four times as large",
            "nobody sees the first word",
            "the ninth word doesn't see the fourth",
            "the last of twelve doesn't see the first",
            hidden=("keys measured from the mean of all", "a mask for eight words only"),
        ),
    ],
    mistakes=[
        Mistake(
            "never",
            "Your test finds no blind spot anywhere. Do you ask whether `any` weight is 0? One is "
            "enough.",
            "return False",
        ),
        Mistake(
            "always",
            "Your test finds a blind spot in every module. Do you count the weights of later "
            "words? Those are supposed to be 0 (and `tril` makes them 0). Or do you count small "
            "weights? Only a weight of exactly 0 is a blind spot.",
            "return True",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "return bool((weights.tril() == 0).any())",
        ),
        Mistake(
            "not the word itself",
            "Your test misses words that don't see themselves. If you look at weights, include the "
            "diagonal. If you change a word and watch its own output, the word's query moves it "
            "anyway.",
            {"[:, place, : place + 1]": "[:, place, :place]"},
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "before = attention(x)\n"
            "for place in range(12):\n"
            "    changed = x.clone()\n"
            "    changed[:, place] += 1\n"
            "    moved = (attention(changed) - before)[0, place:].abs().amax(dim=-1)\n"
            "    if moved.min() < 1e-6:\n"
            "        return True\n"
            "return False",
        ),
        Mistake(
            "zeros after the word",
            "You include the weights of later words, which are supposed to be 0.",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "return bool((weights == 0).any())",
        ),
        Mistake(
            "a short text",
            "Your text is too short, or you don't look at every word in it: a cache that is cut "
            "off at nine words shows only in longer ones. Use 12 words.",
            {"randn(1, 12,": "randn(1, 6,", "range(12)": "range(6)"},
        ),
        Mistake(
            "the last word only",
            "You look at what the last word sees. Others may be blind.",
            {"in range(12)": "in range(11, 12)"},
        ),
        Mistake(
            "the first head only",
            "Your test misses a blind spot in a single head. Look at every head by itself.",
            {"[:, place, : place + 1]": "[0, place, : place + 1]"},
            {"[:, place, : place + 1]": "[-1, place, : place + 1]"},
            {"[:, place, : place + 1]": "[[0, -1], place, : place + 1]"},
            {
                "attention_weights[:, place, : place + 1]": (
                    "attention_weights.mean(dim=0)[place, : place + 1]"
                )
            },
        ),
        Mistake(
            "small weights",
            "A small weight isn't a blind spot: softmax gives some words very little. The weight "
            "of a hidden word is exactly 0.",
            {"== 0)": "< 0.01)"},
            {"== 0)": "< 1e-3)"},
            {"== 0)": "< 1e-4)"},
            {"== 0)": "< 1e-6)"},
            {"== 0)": "< 1e-9)"},
        ),
    ],
    alternatives=[
        Alternative(
            "by index",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "rows, columns = torch.tril_indices(12, 12)\n"
            "return bool((weights[:, rows, columns] == 0).any())",
            excuses={
                "another number": ENOUGH,
                "call dropped: bool": A_TENSOR,
                "random start": RANDOM,
            },
        ),
        Alternative(
            "one word after the other",
            "attention = opened(attention)\n"
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "for place in range(12):\n"
            "    x[..., 0] = 0\n"
            "    x[:, place, 0] = 1\n"
            "    if (attention(x)[0, place:] == 0).any():\n"
            "        return True\n"
            "return False",
            excuses={
                "another number": ENOUGH,
                "elements swapped": "the scores may be all the same",
                "random start": RANDOM,
            },
        ),
    ],
    hints=[
        "Changing a word and watching isn't enough. `weights_of` shows who sees whom.",
        "`weights_of(attention, x)` is [n_heads, n, n]: query by key. For which pairs would a "
        "weight of 0 be wrong?",
        "For each place, look at all heads, at the row of that place, and at the columns up to the "
        "place itself.",
    ],
    excuses={
        "seed changed": "it may draw from a seed of its own",
        "argument left in evaluation mode": EVALUATED,
        "another number: 1 → 2": "any number of texts will do",
        "another number: 12 →": ENOUGH,
        "random start": RANDOM,
    },
)
