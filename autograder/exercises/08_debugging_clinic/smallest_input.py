"""An input for which the two differ by more than 1e-4, with as few words as possible."""

from typing import Any

from autograder.lessons.cases import CALLS, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Judged
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.models import HEALTHY

from .shared import ENOUGH, EVALUATED, NEARLY, RANDOM, described, module_named, modules


def two(name: str) -> Inputs:
    """A healthy module and an ill one with the same weights."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(described(name))
        healthy, ill = modules(draw, HEALTHY, module_named(name))
        return {"healthy": healthy, "ill": ill}

    return case


SOME = "too much where a query begins below 0.3"
FOURTEEN = "a mask for fourteen words only"
SEARCH = "for batch in range(1, words + 1):"
FOUND = "                        return x"
DIFFERENCE = "(healthy(x) - ill(x)).abs().max() > 1e-4"

EXERCISE = Exercise(
    "smallest_input",
    returns="x",
    seconds=30.0,
    parts=[Judged(by="tell apart", steady=True)],
    also=(*CALLS,),
    aspects=[
        Aspect(
            "defects of a word or two",
            1,
            [
                *map(two, "CDQ"),
                two("one feature a little too large"),
                two("one feature a little too small"),
                two(SOME),
                two("a trace of the next text"),
                two("a trace of the text after the next"),
            ],
        ),
        Aspect(
            "several defects at once",
            1,
            [
                two("a trace of the next text, and the third word blind"),
                two("a trace of the text after the next, and a leak"),
                two("a trace of the next text's sixth word, and a mask for eight words only"),
            ],
        ),
        Aspect(
            "defects that need more",
            1,
            [
                *map(two, "EJT"),
                two("the last of several texts without a mask"),
                two("a trace of the word after the next"),
            ],
            hidden_cases=[two("S")],
        ),
        Aspect(
            "defects that depend on a limit",
            1,
            [two("N"), two("a mask for eight words only"), two(SOME), two(FOURTEEN), two("I")],
        ),
    ],
    mistakes=[
        Mistake(
            "a large one",
            "Your input tells the two apart, but it's larger than it has to be. Start with one "
            "word, and go up.",
            "return torch.randn(1, 16, healthy.query.in_features)",
            {"range(1, 17)": "range(16, 0, -1)"},
        ),
        Mistake(
            "a single word",
            "For some of these modules, your input doesn't tell them apart. Compare the outputs "
            "before you return it.",
            "return torch.randn(1, 1, healthy.query.in_features)",
        ),
        Mistake(
            "two words",
            "Your input always has two words. Some defects show with one; others need more.",
            "return torch.randn(1, 2, healthy.query.in_features)",
        ),
        Mistake(
            "too few words tried",
            "You stop too early: a defect that depends on a limit shows only beyond it. Try up to "
            "16 words.",
            {"range(1, 17)": "range(1, 9)"},
            {"range(1, 17)": "range(1, 11)"},
            {"range(1, 17)": "range(1, 16)"},
            {"range(1, 17)": "range(1, 9)", FOUND: f"{FOUND}\n    return x"},
        ),
        Mistake(
            "one text only",
            "You try only single texts. To catch numbers that get from one text into another, you "
            "need two texts, with a word in each.",
            {SEARCH: "for batch in range(1, 2):"},
            {SEARCH: "for batch in range(1, 2):", FOUND: f"{FOUND}\n    return x"},
        ),
        Mistake(
            "two texts at most",
            "You try two texts at most. Numbers may get into the text after the next, which takes "
            "three of a word each.",
            {SEARCH: "for batch in range(1, 3):"},
        ),
        Mistake(
            "one input of each size",
            "You draw too few texts of each size. Some defects show in one text and not in "
            "another.",
            {"range(10)": "range(1)"},
        ),
        Mistake(
            "texts before words",
            "You try all lengths of a single text first, and then two texts. But two texts of one "
            "word are smaller than a text of three.",
            "d_model = healthy.query.in_features\n"
            "for batch in range(1, 17):\n"
            "    for n in range(2, 17):\n"
            "        x = torch.randn(batch, n, d_model)\n"
            "        if (healthy(x) - ill(x)).abs().max() > 1e-4:\n"
            "            return x",
        ),
        Mistake(
            "a tolerance that is too large",
            "For some of these modules, you found no input, or one that is too large: their defect "
            "is a small one. Outputs differ if some number is off by more than 1e-4.",
            {"> 1e-4": "> 0.1"},
        ),
        Mistake(
            "small differences missed",
            "Your comparison misses small differences. A single number that is off by more than "
            "1e-4 is enough: don't ask for more, and don't average it away.",
            {DIFFERENCE: "(healthy(x) - ill(x)).sum().abs() / x.numel() > 1e-4"},
            {DIFFERENCE: "(healthy(x) - ill(x)).sum() / x.numel() > 1e-4"},
            {DIFFERENCE: "(healthy(x) - ill(x)).abs().mean() > 1e-4"},
            {"> 1e-4": "> 1e-3"},
        ),
        Mistake(
            "one sign only",
            "You miss differences below 0. Take the absolute value before you compare.",
            {DIFFERENCE: "(healthy(x) - ill(x)).max() > 1e-4"},
            {DIFFERENCE: "(ill(x) - healthy(x)).max() > 1e-4"},
        ),
        Mistake(
            "no dimension for the texts",
            "Your input has no dimension for the texts. It should be [batch, n, d_model].",
            {"return x": "return x[0]"},
        ),
    ],
    alternatives=[
        Alternative(
            "sorted by size",
            "shapes = [(b, n) for b in range(1, 5) for n in range(1, 17)]\n"
            "for batch, n in sorted(10 * shapes, key=lambda shape: shape[0] * shape[1]):\n"
            "    x = torch.randn(batch, n, healthy.query.in_features)\n"
            "    if not torch.allclose(healthy(x), ill(x), rtol=0, atol=1e-4):\n"
            "        return x",
            excuses={
                "another number": ENOUGH,
                "another argument: healthy → ill": "both have the same sizes",
                "arguments swapped": NEARLY,
                "random start": RANDOM,
                "keyword dropped": NEARLY,
            },
        ),
        Alternative(
            "divided with a rest",
            "d_model = healthy.query.in_features\n"
            "for words in range(1, 17):\n"
            "    for batch in range(1, words + 1):\n"
            "        n, rest = divmod(words, batch)\n"
            "        for _ in range(0 if rest else 12):\n"
            "            x = torch.randn(batch, n, d_model)\n"
            "            if (healthy(x) - ill(x)).abs().max() > 1e-4:\n"
            "                return x",
            excuses={
                "operands swapped": "the size of a difference has no sign",
                "another comparison": NEARLY,
                "condition fixed: 0 if rest": "what is rounded down was tried before",
                "another number: 0 →": "likewise",
                "another number: 12 →": "eleven texts of each size are enough for these modules",
                "arguments swapped": NEARLY,
                "random start": RANDOM,
            },
        ),
    ],
    hints=[
        "Try sizes from 1 word up, and stop at the first that shows a difference.",
        "For each size, draw random words, [batch, n, d_model], and compare what the two modules "
        "answer.",
        "Six words, say, may be one text of six, two of three, three of two or six of one: try "
        "each number of texts that divides the number of words. d_model is "
        "`healthy.query.in_features`.",
    ],
    excuses={
        "random start": RANDOM,
        "another number: 17 → 18": "16 words are always enough",
        "another number: 1 → 0": "no words tell nothing apart",
        "another number: 1 → 2 (3)": "likewise",
        "argument dropped: range(1, 17)": "likewise",
        "condition fixed: if words % batch": "what is rounded down was tried before",
        "another argument: healthy → ill": "both have the same sizes",
        "another number: 10 →": "nine texts of each size are enough for these modules",
        "argument left in evaluation mode": EVALUATED,
        "operands swapped: healthy(x) - ill(x)": "the size of a difference has no sign",
        "another comparison: (healthy(x)": NEARLY,
        "arguments swapped: torch.randn(batch": "all numbers of texts are tried",
    },
)
