"""Multi-head self-attention with rotary positions; d_model / n_heads is even."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.exercises.pieces import HEADS_NOT_PUT_BACK, NO_OUTPUT_PROJECTION
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, ModuleCase, in_train_mode
from autograder.lessons.draw import NO_SIZES, Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps, SecondCall
from autograder.lessons.variants import Alternative, Mistake

from .shared import scattered


def reading(
    keep: str = "",
    far: bool = False,
    nobody: bool = False,
    counted: bool = False,
    scale: float = 1.0,
    sizes: Mapping[str, int] = NO_SIZES,
    **build: Any,
) -> Callable[[Draw], ModuleCase]:
    """A few words.

    keep: the dimensions of a mask.
    far: whether the words are at random places, in any order.
    nobody: whether the first query may attend to nothing.
    counted: whether positions are None although there is a mask.
    """

    def case(draw: Draw) -> ModuleCase:
        own = keep
        draw.fix(**sizes).among("d_head", 6, 8).choose("n_heads", 2, 3)
        n_heads, d_model = draw.size("n_heads"), draw.size("n_heads*d_head")
        draw.fix(d_model=d_model)
        if draw.same > 1 and n_heads < draw.size("d_head"):
            draw.same, own = d_model, "n n" if keep else ""
        inputs: dict[str, Any] = {"x": draw.normal("batch n d_model", scale)}
        if far or own:
            places = scattered(draw, 20) if far else torch.arange(draw.size("n"))
            inputs["positions"] = None if counted else places
        if own:
            inputs["keep"] = draw.keep(own)
            if nobody:
                inputs["keep"][..., 0, :] = False
            draw.label(f"keep [{own.replace(' ', ', ')}]")
        build_with = {"d_model": d_model, "n_heads": n_heads} | build
        return ModuleCase(build_with, inputs)

    return case


def as_many_texts_as_heads(draw: Draw) -> ModuleCase:
    """A mask for each text, which fits the heads as well."""
    case = reading("n n")(draw)
    case.inputs["x"] = draw.normal("n_heads n d_model")
    case.inputs["keep"] = draw.keep("n_heads n n")
    draw.label("as many texts as heads, a mask for each text")
    return case


LONG = {"batch": 1, "n": 70, "n_heads": 2}
ALONE = {"n": 1}  # and it may attend to nothing
MASKED = [
    reading("n n"),
    reading("n n", sizes=LONG),
    as_many_texts_as_heads,
    reading("batch n n", far=True, nobody=True, sizes=ALONE),
    reading("batch n n", far=True, nobody=True),
]
UNPLACED = reading("n n", nobody=True, counted=True, scale=0.3)  # with the most arguments
TURN_QUERY = "rotate(self.heads_of(self.query(x)), positions, self.base)"
TURN_KEY = "rotate(self.heads_of(self.key(x)), positions, self.base)"
HEADS_OF_VALUE = "self.heads_of(self.value(x))"
CUT = "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"
INTERLEAVED = "x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"
MERGED = "context.transpose(1, 2).flatten(2)"
ATTEND = f"attend(query, key, {HEADS_OF_VALUE}, keep)"


def both(how: str) -> dict[str, str]:
    """Turn queries and keys in another way; in `how`, {layer} is the layer that makes them."""
    return {TURN_QUERY: how.format(layer="self.query"), TURN_KEY: how.format(layer="self.key")}


EXERCISE = Exercise(
    "RotarySelfAttention",
    returns="result",
    parts=[
        Keeps("attn_weights", detached=True),
        SecondCall(beside=UNPLACED, after=reading("n n", far=True, base=50.0)),
    ],
    builds_on=("rotate",),
    also=(*SIZES, Form.HALF, *CALLS),
    aspects=[
        Aspect(
            "words at 0, 1, 2, …",
            2,
            [in_train_mode(reading(sizes=LONG)), reading()],
            outputs=("result",),
        ),
        Aspect("words at other places", 1, [reading(far=True)], outputs=("result",)),
        Aspect("the weights of every head", 1, [reading()], outputs=("attn_weights",)),
        Aspect("another base", 1, [reading(base=50.0)]),
        Aspect("masks", 1, MASKED),
        Aspect(
            "gradients",
            1,
            [
                UNPLACED,
                in_train_mode(reading(scale=0.3)),
                reading(scale=0.3),
            ],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "keys not turned",
            "You turned the queries, but not the keys. Turn both: only then does the score depend "
            "on their distance.",
            {TURN_KEY: "self.heads_of(self.key(x))"},
        ),
        Mistake(
            "queries not turned",
            "You turned the keys, but not the queries. Turn both: only then does the score depend "
            "on their distance.",
            {TURN_QUERY: "self.heads_of(self.query(x))"},
        ),
        Mistake(
            "nothing turned",
            "Nothing is turned by its place in the text, so your attention doesn't see any order. "
            "Turn queries and keys, [batch, n_heads, n, d_head], with `rotate`.",
            both("self.heads_of({layer}(x))"),
        ),
        Mistake(
            "values turned, too",
            "You turned the values, too. They only get added up; leave them alone.",
            {HEADS_OF_VALUE: "rotate(self.heads_of(self.value(x)), positions, self.base)"},
        ),
        Mistake(
            "turned before the split",
            "You turned queries and keys before they were split into heads, so each head turns at "
            "different speeds. Split first: every head has all speeds.",
            both("self.heads_of(rotate({layer}(x), positions, self.base))"),
        ),
        Mistake(
            "words turned before the projection",
            "You turned the words, before they were projected. Turn queries and keys: a projection "
            "in between spoils the rotation.",
            both("self.heads_of({layer}(rotate(x, positions, self.base)))"),
        ),
        Mistake(
            "halves",
            "You turned with `rotate_halves`. This exercise uses `rotate`.",
            both("rotate_halves(self.heads_of({layer}(x)), positions, self.base)"),
        ),
        Mistake(
            "positions ignored",
            "You counted the places one by one although `positions` was given. They may have gaps, "
            "and come in any order.",
            {"if positions is None": "if True"},
        ),
        Mistake(
            "base ignored",
            "You turned with the usual base. Keep `base`, and pass it on.",
            both("rotate(self.heads_of({layer}(x)), positions)"),
        ),
        Mistake(
            "mask ignored",
            "You didn't use `keep`. Hand it to `attend`.",
            {ATTEND: ATTEND.replace(", keep", "")},
        ),
        Mistake(
            "mask the wrong way around",
            "Your mask is the wrong way around: `keep` is True where a query may attend.",
            {ATTEND: ATTEND.replace("keep", "None if keep is None else ~keep")},
        ),
        Mistake(
            "a query that may attend to nothing",
            "A query that may attend to nothing should get weights of 0 everywhere, as from "
            "`attend`. Softmax alone gives it NaN, or equal weights.",
            *(
                {
                    ATTEND: "None, query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5",
                    "        self.attn_weights =": (
                        "        if keep is not None:\n"
                        f"            attn_weights = attn_weights.masked_fill(~keep, {lowest})\n"
                        "        attn_weights = attn_weights.softmax(dim=-1)\n"
                        "        context = attn_weights @ self.heads_of(self.value(x))\n"
                        "        self.attn_weights ="
                    ),
                }
                for lowest in ("-math.inf", "-1e4")
            ),
        ),
        Mistake(
            "masks of sentences read as masks of heads",
            "A mask [batch, n, n] needs a dimension of size 1 for the heads: `keep[:, None]`. "
            "Without it, the batch lines up with the heads.",
            {"keep.dim() == 3": "False"},
        ),
        Mistake(
            "scaled by √d_model",
            "Your scores are divided by √d_model. Each head divides by the root of its own width, "
            "√d_head.",
            {ATTEND: ATTEND.replace("query", "query / self.n_heads**0.5")},
        ),
        Mistake(
            "not scaled",
            "You didn't divide the scores by √d_head.",
            {ATTEND: ATTEND.replace("query", "query * query.shape[-1] ** 0.5")},
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys: the words that ask are rows of the weights.",
            {ATTEND: ATTEND.replace("query, key", "key, query")},
        ),
        Mistake(
            "keys at 0, 1, 2, …",
            "You turned the keys as if they were at 0, 1, 2, …. They are at `positions`, as the "
            "queries are.",
            {TURN_KEY: TURN_KEY.replace("positions", "torch.arange(x.shape[1])")},
        ),
        Mistake(
            "turned before the transposition",
            "`rotate` takes words in the second to last dimension, [batch, n_heads, n, d_head]. "
            "Swap words and heads before you turn.",
            both(
                "rotate({layer}(x).unflatten(-1, (self.n_heads, -1)), positions, self.base)"
                ".transpose(1, 2)"
            ),
        ),
        Mistake(
            "one layer for two",
            "You used one layer for two things. `self.query` makes the queries, `self.key` the "
            "keys and `self.value` the values.",
            {TURN_KEY: TURN_KEY.replace("key", "query")},
            {TURN_QUERY: TURN_QUERY.replace("query", "key")},
            {HEADS_OF_VALUE: HEADS_OF_VALUE.replace("value", "key")},
            {HEADS_OF_VALUE: HEADS_OF_VALUE.replace("value", "query")},
        ),
        Mistake(
            "sizes of heads and features swapped",
            "You cut the features into d_head heads of n_heads features. `unflatten(-1, (n_heads, "
            "-1))` makes n_heads heads.",
            {"(self.n_heads, -1)": "(-1, self.n_heads)"},
        ),
        Mistake(
            "heads interleaved",
            "Your heads take turns: each gets every n_heads-th feature. A head owns features that "
            "follow each other: `unflatten(-1, (n_heads, -1))`.",
            {CUT: INTERLEAVED},
            {CUT: INTERLEAVED, MERGED: "context.permute(0, 2, 3, 1).flatten(2)"},
        ),
        NO_OUTPUT_PROJECTION,
        HEADS_NOT_PUT_BACK,
        Mistake(
            "heads by view",
            "Your split mixes words: `view` straight to [batch, n_heads, n, d_head] cuts the rows. "
            "Cut the features, then transpose.",
            {
                CUT: "x.reshape(len(x), self.n_heads, x.shape[1], -1)",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "places counted from 1",
            {"torch.arange(x.shape[1])": "torch.arange(1, x.shape[1] + 1)"},
        ),
        Alternative(
            "head by head",
            {
                "query = " + TURN_QUERY: (
                    "heads = zip(*(self.heads_of(layer(x)).unbind(1) for layer in (self.query, "
                    "self.key, self.value)))"
                ),
                "        key = " + TURN_KEY + "\n": "",
                f"context, attn_weights = {ATTEND}": (
                    "keep = keep[:, 0] if keep is not None and keep.dim() == 4 else keep\n"
                    "        done = [\n"
                    "            attend(rotate(q, positions, self.base), "
                    "rotate(k, positions, self.base), v, keep)\n"
                    "            for q, k, v in heads\n"
                    "        ]\n"
                    "        context = torch.stack([c for c, _ in done], dim=1)\n"
                    "        attn_weights = torch.stack([w for _, w in done], dim=1)"
                ),
            },
            excuses={"another number: 0 → -1": "the dimension has size 1"},
        ),
    ],
    hints=[
        "Project, split into heads, turn queries and keys with `rotate`, attend, put the heads "
        "back together, project.",
        "`rotate` takes any dimensions in front, so it turns [batch, n_heads, n, d_head] as it is.",
        "`x.unflatten(-1, (n_heads, -1)).transpose(1, 2)` splits, and `context.transpose(1, "
        "2).flatten(2)` puts back together.",
    ],
    excuses={
        "wrong at one size alone: d_model": "d_head is even",
        "result rounded to float32": "the angles are float32, whatever x is",
        "result squeezed at the end": "there are six features at least",
    },
)
