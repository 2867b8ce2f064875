"""Whether a query other than the first of 12 has scores that aren't query · key / √d_head."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Result
from autograder.lessons.variants import Alternative, Mistake

from .shared import A_TENSOR, ALWAYS, ENOUGH, EVALUATED, NEARLY, silent, telling_apart

SAID = "return not torch.allclose(difference, torch.ones_like(difference), atol=1e-3)"

EXERCISE = Exercise(
    "find_scale",
    returns="is_off",
    parts=[Result(plain=True), Judged(steady=True)],
    also=(),
    aspects=[
        telling_apart(
            "a scale that is too small",
            2,
            "DLAKG",
            "scores that are 5% too large",
            "no scale in the first head",
            "no scale in the second word",
        ),
        telling_apart(
            "scores that aren't scaled",
            2,
            "PB",
            "no scale",
            "no scale in the last head",
            "no scale in the first four words",
            "no scale from the ninth word on",
            "no scale in the seventh word",
            "no scale in the second head",
            "divided by d_head",
            "scores with the wrong sign",
            "one head scaled by 1.2, the next by 0.8",
            "the third word scaled by 1.2, the fourth by 0.8",
            hidden=("keys measured from the mean of all", "head by head"),
        ),
        telling_apart("other diseases", 1, "LOQ", "weights by sigmoid", silent),
    ],
    mistakes=[
        Mistake("never", ALWAYS, "return False"),
        Mistake(
            "always",
            "Your test returns True for every module, even sound ones. For `HEALTHY.make()`, the "
            "logarithm of the ratio should be s₁ for each query but the first: print it, and see "
            "how far off it is.",
            {
                "attention(second)[0, 1:] / attention(first)[0, 1:]": (
                    "attention(first)[0, 1:] / attention(second)[0, 1:]"
                )
            },
            {
                "        layer.weight[:] = 0\n": "",
                "x = torch.zeros(1, 12, d_model)": (
                    "x = torch.randn(1, 12, d_model)\n    x[..., :2] = 0"
                ),
            },
            {"[0, 1:] / attention(first)[0, 1:]": "[0] / attention(first)[0]"},
            {"attention(first)[0, 1:]).log()": "attention(first)[0, 1:])"},
            {"first[0, 0, 0] = second": "first[0, 0, 0] = second[0, 0, 0] = second"},
            "return True",
        ),
        Mistake(
            "too large only",
            "You notice scores that are too large, but not those that are too small. Is your "
            "tolerance too large?",
            {SAID: "return bool(difference.mean() > 1.001)"},
            {"atol=1e-3": "atol=0.95"},
        ),
        Mistake(
            "too small only",
            "You notice scores that are too small, but not those that are too large.",
            {SAID: "return bool(difference.mean() < 0.999)"},
        ),
        Mistake(
            "the mean of all",
            "You average over heads or queries, so one that is too large makes up for one that is "
            "too small. Compare each by itself.",
            {SAID: "return bool((difference.mean() - 1).abs() > 1e-3)"},
        ),
        Mistake(
            "all instead of any",
            "You ask whether all scores are off. One head or one query is enough: use `any`.",
            {SAID: "return bool(((difference - 1).abs() > 1e-3).all())"},
        ),
        Mistake(
            "false alarms",
            "Your test finds a wrong scale in sound modules. Do you allow for rounding? (1e-3 will "
            "do.) And is `d_head` the module's own?",
            {"= d_head**-0.25": "= 5**-0.25"},
            {SAID: "return bool((difference != 1).any())"},
            {SAID: "return not torch.allclose(difference, torch.ones_like(difference), rtol=1e-7)"},
        ),
        Mistake(
            "sign ignored",
            "You ignore the sign of the difference. Scores of −1 instead of 1 are wrong, too.",
            {"attention(first)[0, 1:]).log()": "attention(first)[0, 1:]).log().abs()"},
        ),
        Mistake(
            "d_model for d_head",
            "You use √d_model as the scale. Each head divides by the root of its own width.",
            {"= d_head**-0.25": "= (d_model**0.5 / d_head) ** 0.5"},
        ),
        Mistake(
            "no scale expected",
            "You expect unscaled scores, but a sound module uses query · key / √d_head.",
            {"d_head**-0.25": "d_head**-0.5"},
        ),
        Mistake(
            "a short text",
            "Your text is too short, or you don't look at every query in it. A scale that is wrong "
            "from the ninth word on shows only in later ones. Use 12 words, and all queries but "
            "the first.",
            {"zeros(1, 12,": "zeros(1, 2,"},
            {"[0, 1:] / attention(first)[0, 1:]": "[0, 1] / attention(first)[0, 1]"},
        ),
        Mistake(
            "the last query only",
            "You look at the last query only. The scale may be wrong for the words before it.",
            {"[0, 1:] / attention(first)[0, 1:]": "[0, -1] / attention(first)[0, -1]"},
        ),
        Mistake(
            "some queries only",
            "You don't look at all queries but the first. The scale may be wrong for some of them.",
            {"[0, 1:] / attention(first)[0, 1:]": "[0, [1, -1]] / attention(first)[0, [1, -1]]"},
            {"[0, 1:] / attention(first)[0, 1:]": "[0, 2:] / attention(first)[0, 2:]"},
        ),
        Mistake(
            "one product instead of d_head",
            "You expect the score of a single product. With features of 1, query · key sums d_head "
            "of them, and the scale is √d_head.",
            {"= d_head**-0.25": "= 1.0"},
        ),
        Mistake(
            "the weight, not the ratio",
            "You look at one weight, which can't tell a wrong scale from a wrong sum. Use the "
            "ratio of both.",
            {
                "difference = (attention(second)[0, 1:] / attention(first)[0, 1:]).log()": (
                    "weight = attention(second)[0, 1]"
                ),
                SAID: "return not torch.allclose(weight, torch.tensor(1.0).sigmoid(), atol=1e-3)",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "another difference",
            {
                "= d_head**-0.25": "= (0.5 / d_head**0.5) ** 0.5",
                "torch.ones_like(difference)": "torch.full_like(difference, 0.5)",
            },
            excuses={
                "another number: 0 → -1": "there is one text, so −1 is the first",
                "arguments swapped": NEARLY,
                "keyword dropped": "a stricter tolerance will do",
            },
        ),
        Alternative(
            "weights_of",
            "attention = copy.deepcopy(attention)\n"
            "for layer in (attention.query, attention.key):\n"
            "    layer.weight[:] = 0\n"
            "    layer.weight[:, 1] = 1\n"
            "x = torch.zeros(1, 12, attention.query.in_features)\n"
            "x[0, 1:, 1] = attention.d_head**-0.25\n"
            "first, second = weights_of(attention, x)[:, 1:, :2].unbind(dim=-1)\n"
            "return bool(((second / first).log() - 1).abs().max() > 1e-3)",
            excuses={
                "operands swapped": "the size of a difference has no sign",
                "another comparison": NEARLY,
                "call dropped: bool": A_TENSOR,
                "another number": "there is one text, so −1 is the first",
            },
        ),
    ],
    hints=[
        "Begin with a text of 12 words, all zeros. What must feature 1 be in all but the first so "
        "that their scores with the first word and with the second differ by 1?",
        "If feature 1 is 0 in the first word and b in all others, their scores are 0 with the "
        "first word and d_head · b² / √d_head with any other. Choose b so that this is 1.",
        "One call with feature 0 set to 1 in the first word gives that word's weights; another "
        "call, with the second word, gives the others. The logarithm of their ratio should be 1 in "
        "every row but the first.",
    ],
    excuses={
        "seed changed": "it may draw from a seed of its own",
        "argument left in evaluation mode": EVALUATED,
        "another number: 12 →": ENOUGH,
        "call dropped: x.clone()": "one of the two may be x itself",
        "another number: 1 → 2": "any feature will do but 0",
        "another number: 0 → -1": "there is one text, so −1 is the first",
        "arguments swapped": NEARLY,
        "elements swapped: (attention.query": "the order does not matter",
        "keyword dropped": "a stricter tolerance will do",
        "statement dropped: layer.weight[:] = 0": "all other features are 0",
    },
)
