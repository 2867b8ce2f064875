"""Causal rotary attention of n new words to themselves and to n_past words before them."""

from typing import Any

import torch

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Repair
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.models import rotate_pairs

from .shared import STILL_ILL


def in_pieces(n_past: int, leading: str = "", **sizes: int) -> Inputs:
    """A few new words after n_past others."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes).among("d_head", 6, 8).choose("n_past", n_past).choose("n", 3, 4)
        return draw.arguments(leading)

    return case


def first_call(draw: Draw) -> dict[str, Any]:
    """The first words of a text; each word's score with itself is far below −100."""
    draw.among("d_head", 6, 8)
    query, value = draw.normal("n d_head", 20.0), draw.normal("n d_v")
    past = {"past_key": query[:0], "past_value": value[:0]}
    return {"query": query, "key": -query, "value": value} | past


def in_half_precision(draw: Draw) -> dict[str, Any]:
    """One word again and again, at last at places too large for half precision."""
    draw.fix(n=5, n_past=2101).among("d_head", 6, 8).choose("d_v", 3, 4).label("float16")
    word = draw.normal("d_head", 0.5)
    word[0] += 3.0  # in the pair that turns fastest
    query, value = word.repeat(5, 1), draw.normal("n d_v")
    past_key = rotate_pairs(word.repeat(2101, 1), torch.arange(2101))
    past = {"past_key": past_key, "past_value": past_key[:, : draw.size("d_v")]}
    given = {"query": query, "key": query, "value": value} | past
    return {name: tensor.half() for name, tensor in given.items()}


PLACE = "place = torch.arange(n_past, n_past + n)"
KEYS = "query, key = rotate_pairs(query, place), rotate_pairs(key, place)"

EXERCISE = Exercise(
    "repair_4",
    returns="context",
    also=(*SIZES, Form.DOUBLE, *CALLS),
    parts=[Repair("as it came in")],
    aspects=[
        Aspect("after other words", 2, [in_pieces(5), in_pieces(2, "batch")]),
        Aspect(
            "the first words, and long texts",
            1,
            [first_call, in_pieces(61, n=1), in_half_precision, in_pieces(2, d_v=1)],
        ),
        connected(in_pieces(2, "batch")),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Where in the text are the new words, if there are others before them?",
            {PLACE: "place = torch.arange(n)"},
        ),
        Mistake(
            "off by one",
            "Your places are off by one: the earlier words have the places 0 to n_past − 1.",
            {PLACE: "place = torch.arange(n_past, n_past + n) - 1"},
            {PLACE: "place = torch.arange(n_past, n_past + n) + 1"},
        ),
        Mistake(
            "places that end at n",
            "Your places end at n. The second number of `arange` is where it ends, not how many "
            "places there are.",
            {PLACE: "place = torch.arange(n_past, n)"},
        ),
        Mistake(
            "all at one place",
            "You put all new words at the same place. They follow each other.",
            {PLACE: "place = torch.full((n,), n_past)"},
        ),
        Mistake(
            "only the queries",
            "You moved the queries to their places, but not their keys.",
            {KEYS: "query, key = rotate_pairs(query, place), rotate_pairs(key, place - n_past)"},
        ),
        Mistake(
            "only the keys",
            "You moved the new keys to their places, but not their queries.",
            {KEYS: "query, key = rotate_pairs(query, place - n_past), rotate_pairs(key, place)"},
        ),
        Mistake(
            "keys turned twice",
            "The earlier keys have been turned already, and you turn them again.",
            {
                KEYS: "query = rotate_pairs(query, place)",
                "keep = torch": (
                    "key = rotate_pairs(key, torch.arange(n_past + n))\n    keep = torch"
                ),
            },
        ),
        Mistake(
            "the mask at the top left",
            "The places were wrong, but the mask was right. Now yours hides earlier words.",
            {".tril(n_past)": ".tril()"},
        ),
        Mistake(
            "a mask of one more",
            "The places were wrong, but the mask was right. Now yours lets each new word see the "
            "next one.",
            {".tril(n_past)": ".tril(n_past + 1)"},
        ),
        Mistake(
            "values turned, too",
            "You turned the values, too. Turn queries and keys, and leave the values alone.",
            {KEYS: f"{KEYS}\n    value = rotate_pairs(value, place)"},
        ),
        Mistake(
            "the earlier words last",
            "You put the earlier words after the new ones. They come first, as the mask expects.",
            {
                "[past_key, key]": "[key, past_key]",
                "[past_value, value]": "[value, past_value]",
            },
        ),
        Mistake(
            "new words not turned",
            "You don't turn the new words at all. The earlier keys are turned by their places, so "
            "turn the new queries and keys by theirs.",
            {f"    {KEYS}\n": ""},
        ),
        Mistake(
            "places in half precision",
            "You gave the places the dtype of the words. Half precision can't tell place 3000 from "
            "place 3001: keep them whole numbers.",
            {PLACE: f"{PLACE}.to(query.dtype)"},
        ),
        Mistake(
            "the number of earlier words from another dimension",
            "You took the number of earlier words from another dimension. Words are the last but "
            "one: `past_key.shape[-2]`.",
            {PLACE: "place = torch.arange(past_key.shape[0], past_key.shape[0] + n)"},
        ),
        Mistake(
            "places from the number of new words",
            "Your places begin at the number of new words. They go on after the earlier ones, at "
            "n_past.",
            {PLACE: "place = torch.arange(n, n + n)"},
        ),
    ],
    alternatives=[
        Alternative(
            "counted from the end",
            {PLACE: "place = torch.arange(n_past + n)[n_past:]"},
        ),
        Alternative(
            "hidden by places",
            {
                "keep = torch.ones(n, n_past + n, dtype=torch.bool).tril(n_past)": (
                    "keep = place[:, None] >= torch.arange(n_past + n)"
                )
            },
        ),
    ],
    hints=[
        "Take two earlier words and one new word. At which place is the new one?",
        "The mask knows how many words came before. Does everything else?",
        "The new words' places begin after the n_past earlier ones, not at 0.",
    ],
    excuses={
        "another fill: $X.masked_fill($M, -1e": "each query has a key to see",
        "another argument: query → key in": "there are as many queries as keys, of one size",
        "another argument: query → value in": "there are as many values as queries",
        "another argument: query → past_key in": "all have d_head features",
        "another argument: past_key → past_value in": "there are as many values as keys",
        "in place: key.transpose": "this is the only use of the keys",
        "wrong at one size alone: d_head": "d_head is even",
        "by shape": "a single new word sees all others",
    },
)
