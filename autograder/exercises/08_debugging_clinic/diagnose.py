"""One of "dropout", "leak", "blind spot", "mixing", "wrong sum", "wrong scale", "sound"."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Result
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.models import (
    BLIND_SPOT,
    DROPOUT,
    LEAK,
    MIXING,
    SOUND,
    WRONG_SCALE,
    WRONG_SUM,
)

from .shared import ENOUGH, EVALUATED, RANDOM, telling_apart

DIAGNOSES = {
    DROPOUT: "With dropout, two calls with the same input differ. Here they don't.",
    LEAK: "No later word changes an earlier output of this module.",
    BLIND_SPOT: "Every word of this module sees itself and all words before it.",
    MIXING: "In this module, texts and heads stay apart.",
    WRONG_SUM: "The weights of this module sum to 1.",
    WRONG_SCALE: "The scores of this module are scaled by √d_head.",
    SOUND: "This module isn't sound: something is wrong with it.",
}

DRAWN = "x = torch.randn(1, 12, attention.query.in_features)"
TWICE = 'if not torch.equal(attention(x), attention(x)):\n        return "dropout"\n    '
LAST = 'return "wrong scale" if find_scale(attention)'

EXERCISE = Exercise(
    "diagnose",
    returns="disease",
    parts=[Result(choices=DIAGNOSES), Judged(steady=True)],
    also=(),
    seconds=30.0,
    builds_on=("find_leak", "find_blind_spot", "find_mixing", "find_scale"),
    aspects=[
        telling_apart(
            "what the ward has", 2, "ACDEHOK", "dropout in the last head", "weights by sigmoid"
        ),
        telling_apart(
            "others of the same kind",
            1,
            "BGPJLNQT",
            "dropout of one number in a hundred",
            hidden=("head by head", "softmax in double precision"),
        ),
    ],
    mistakes=[
        Mistake(
            "dropout too late, or not at all",
            "One of these modules drops weights even in evaluation mode, and your tests mistake "
            "that for something else. Before you run them, call the module twice with the same "
            "input, and leave the seed alone: after the same seed, the same weights get dropped.",
            {TWICE: ""},
            {
                f"{DRAWN}\n    {TWICE}": "",
                LAST: f"{DRAWN}\n    {TWICE}{LAST}",
            },
        ),
        Mistake(
            "always sound",
            "You call everything sound. Use your tests.",
            "return 'sound'",
        ),
        Mistake(
            "wrong sum forgotten",
            "You miss modules whose weights don't sum to 1. Call `find_wrong_sum`, too.",
            {'if find_wrong_sum(attention):\n        return "wrong sum"\n    ': ""},
        ),
        Mistake(
            "scale before blind spot",
            "In your answer, `find_scale` overrules `find_blind_spot`. It compares weights, and a "
            "hidden one looks like a wrong scale to it, so `find_blind_spot` should decide first.",
            {
                'if find_blind_spot(attention):\n        return "blind spot"': (
                    'if find_scale(attention):\n        return "wrong scale"\n    '
                    'if find_blind_spot(attention):\n        return "blind spot"'
                )
            },
        ),
        Mistake(
            "scale and sum exchanged",
            "You call a wrong scale a wrong sum, and vice versa.",
            {
                'return "wrong sum"': 'return "wrong scale"',
                LAST: 'return "wrong sum" if find_scale(attention)',
            },
        ),
        Mistake(
            "mixing forgotten",
            "You miss modules that mix texts or heads. Call `find_mixing`, too.",
            {'if find_mixing(attention):\n        return "mixing"\n    ': ""},
        ),
    ],
    alternatives=[
        Alternative(
            "by a table",
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "if not torch.equal(attention(x), attention(x)):\n    return 'dropout'\n"
            "tests = {'leak': find_leak, 'blind spot': find_blind_spot, 'mixing': find_mixing,\n"
            "         'wrong sum': find_wrong_sum, 'wrong scale': find_scale}\n"
            "return next((name for name, test in tests.items() if test(attention)), 'sound')",
        ),
        Alternative(
            "another order",
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "if (attention(x) != attention(x)).any():\n    return 'dropout'\n"
            "if find_mixing(attention):\n    return 'mixing'\n"
            "if find_blind_spot(attention):\n    return 'blind spot'\n"
            "if find_wrong_sum(attention):\n    return 'wrong sum'\n"
            "if find_leak(attention):\n    return 'leak'\n"
            "return 'wrong scale' if find_scale(attention) else 'sound'",
        ),
    ],
    hints=[
        "You have a test for every disease but dropout. What does a module with dropout do that no "
        "other does?",
        "Call the module twice with the same input, and compare, before anything else.",
        "Then run the tests one by one, `find_scale` last, and return the name of the disease as "
        "soon as one says True. If none does, the module is sound.",
    ],
    excuses={
        "seed changed": "the tests that it calls may draw from a seed of their own",
        "argument left in evaluation mode": EVALUATED,
        "another number: 12 →": ENOUGH,
        "another number: 1 → 2": ENOUGH,
        "arguments swapped: torch.randn": "twelve texts of one word will do as well",
        "random start": RANDOM,
    },
)
