"""Whether an output depends on a word that comes later, in texts of 12 words."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Result
from autograder.lessons.variants import Alternative, Mistake

from .shared import ENOUGH, EVALUATED, NEARLY, RANDOM, telling_apart

EARLIER = "attention(changed)[:, :place], before[:, :place]"

EXERCISE = Exercise(
    "find_leak",
    returns="leaks",
    parts=[Result(plain=True), Judged(steady=True)],
    also=(),
    aspects=[
        telling_apart(
            "a mask that is missing or too short",
            1,
            "AJQEG",
            "the first of several texts without a mask",
            "the last of several texts without a mask",
            "the second of several texts without a mask",
            "the next to last of several texts without a mask",
        ),
        telling_apart(
            "leaks between a few words",
            1,
            "BN",
            "the third word sees the fourth",
            "a mask for eight words only",
            "one head without a mask",
            "the first word sees the second",
            "the second word sees the third",
            "the first word sees the last of twelve",
            "a trace of the word after the next",
            "one feature sees the next word",
            "a trace that only lowers what came before",
            "a trace of how the next word differs from other texts",
            "the next-to-last of twelve sees the last",
            hidden=("softmax in double precision", "later scores made smaller, not hidden"),
        ),
        telling_apart(
            "leaks through the sum of the weights",
            1,
            "FSIKO",
            "keys measured from the mean of all",
            "head by head",
        ),
    ],
    mistakes=[
        Mistake(
            "never",
            "Your test finds no leak anywhere. Do you change a copy of the text, and by enough? "
            "And is your tolerance small? Rounding moves outputs by less than 1e-5.",
            {"atol=1e-5": "atol=50.0"},
            {"before = attention(x)\n    ": "", "x.clone()": "x", "before": "attention(x)"},
            "return False",
        ),
        Mistake(
            "always",
            "Your test says that every module leaks. Do you compare the output of the changed word "
            "itself? It may move: compare only the outputs before it. And does every change begin "
            "with a fresh copy of the text?",
            {EARLIER: "attention(changed)[:, : place + 1], before[:, : place + 1]"},
            {EARLIER: "attention(changed), before"},
            {"changed = x.clone()": "changed = x"},
            "return True",
        ),
        Mistake(
            "the last word only",
            "Your test changes only the last word, so it misses leaks elsewhere. Try every place.",
            {"range(1, 12)": "range(11, 12)"},
        ),
        Mistake(
            "the first place only",
            "Your test finds leaks into the first word only. Try every place, and compare all "
            "outputs before it. (Or does your loop return too early?)",
            {"    return True\n    return False": "    return True\n        return False"},
        ),
        Mistake(
            "a short text",
            "Your text is too short, or you don't change every place in it. A mask that was made "
            "for eight words lets everything through after that. Use 12 words, and all places but "
            "the first.",
            {"randn(4, 12,": "randn(4, 6,", "range(1, 12)": "range(1, 6)"},
            {"randn(4, 12,": "randn(4, 8,", "range(1, 12)": "range(1, 8)"},
        ),
        Mistake(
            "one text",
            "Your test calls the module with one text at a time. Some masks go wrong only when a "
            "batch has several.",
            {"randn(4, 12,": "randn(1, 12,"},
        ),
        Mistake(
            "some texts only",
            "You don't change and compare all texts of the batch. A mask may go wrong in any one "
            "of them.",
            {EARLIER: "attention(changed)[0, :place], before[0, :place]"},
            {EARLIER: "attention(changed)[-1, :place], before[-1, :place]"},
            {EARLIER: "attention(changed)[[0, -1], :place], before[[0, -1], :place]"},
        ),
        Mistake(
            "equal texts",
            "All your texts are the same, which hides what depends on how they differ. Draw each "
            "of them at random.",
            *(
                {
                    "torch.randn(4, 12, attention.query.in_features)": (
                        "torch.randn(12, attention.query.in_features).repeat(4, 1, 1)"
                    ),
                    "torch.randn_like(x[:, place:])": after,
                }
                for after in ("torch.randn_like(x[0, place:])", "x[:, place:] + 1")
            ),
        ),
        Mistake(
            "one feature only",
            "You don't compare all features. A leak may touch just one of them.",
            {EARLIER: "attention(changed)[:, :place, 0], before[:, :place, 0]"},
            {EARLIER: "attention(changed)[:, :place, -1], before[:, :place, -1]"},
        ),
        Mistake(
            "no room for rounding",
            "Your test mistakes a rounding error for a leak. Sound code may round differently when "
            "a later word changes: allow each number 1e-5.",
            {
                "not torch.allclose(attention(changed)[:, :place], before[:, :place], atol=1e-5)": (
                    "(attention(changed) - before)[:, :place].abs().sum() > 1e-5"
                )
            },
            {
                "not torch.allclose(attention(changed)[:, :place], before[:, :place], atol=1e-5)": (
                    "not torch.equal(attention(changed)[:, :place], before[:, :place])"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "cut off",
            {
                "changed = x.clone()\n        "
                "changed[:, place:] = torch.randn_like(x[:, place:])\n        ": "",
                "attention(changed)[:, :place], before": "attention(x[:, :place]), before",
            },
            excuses={"arguments swapped": NEARLY},
        ),
        Alternative(
            "by gradients",
            "x = torch.randn(4, 12, attention.query.in_features, requires_grad=True)\n"
            "for place in range(11):\n"
            "    [slope] = torch.autograd.grad(attention(x)[:, place].sum(), x)\n"
            "    if (slope[:, place + 1 :].abs() > 1e-5).any():\n"
            "        return True\n"
            "return False",
            excuses={
                "another number": ENOUGH,
                "another comparison": "no slope is as small as the limit, except for 0",
                "random start": RANDOM,
            },
        ),
    ],
    hints=[
        "Draw a batch of a few texts, and call the module once. Then change words, call it again, "
        "and compare.",
        "For each place from 1 to 11: copy the batch, change all words from there on, and compare "
        "the outputs before that place.",
        "`torch.allclose(a, b, atol=1e-5)` compares. Return True as soon as a place shows a leak, "
        "and False only after the loop.",
    ],
    excuses={
        "seed changed": "it may draw from a seed of its own",
        "argument left in evaluation mode": EVALUATED,
        "argument dropped: range(1, 12)": "at place 0 there is nothing to compare",
        "another number: 1 → 0": "likewise",
        "another number: 4 →": "two texts or more will do",
        "another number: 12 →": ENOUGH,
        "arguments swapped": NEARLY,
        "random start": RANDOM,
    },
)
