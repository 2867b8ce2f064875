"""Causal self-attention with rotary positions and grouped heads, in one go or in pieces."""

from autograder.exercises.pieces import HEADS_NOT_PUT_BACK, NO_OUTPUT_PROJECTION, in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Loaded, Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import grouped_heads


def reading(
    *pieces: int,
    n: int = 0,
    scale: float = 1.0,
    group: int = 2,
    base: float | None = None,
) -> Inputs:
    """A text in pieces or, with n, in one go."""

    def case(draw: Draw) -> ModuleCase:
        read = [draw.same] * 2 if draw.same > 1 and pieces else list(pieces)
        draw.fix(n=sum(read) or draw.same or n).label(in_pieces(read))
        build = grouped_heads(draw, group).named("d_model n_heads n_kv_heads")
        build |= {"base": base} if base else {}
        x = draw.normal("batch n d_model", scale)
        return ModuleCase(build, {"x": x, "pieces": read, "window": None})

    return case


PARTS = "parts = self.query(x), self.key(x), self.value(x)"
SPLIT = "(p.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for p in parts)"
FIRST = "first = 0 if cache is None else cache.length"
PLACES = "places = torch.arange(first, first + x.shape[1])"
TURNED = "query, key = rotate(query, places, self.base), rotate(key, places, self.base)"
APPEND = "key, value = cache.append(key, value)"
IF_CACHE = f"        if cache is not None:\n            {APPEND}\n"
DIFFERENCES = dict.fromkeys(
    ("another number: 0 → 1", "another number: 0 → -1"), "only differences of places count"
)
ATTENDED = "attend(query, key, value)"
LAYERS = {
    "query": "self.query = nn.Linear(d_model, d_model, bias=False)",
    "key": "self.key = nn.Linear(d_model, d_kv, bias=False)",
    "value": "self.value = nn.Linear(d_model, d_kv, bias=False)",
    "output": "self.output = nn.Linear(d_model, d_model, bias=False)",
}
WITH_BIAS = {layer: layer.replace(", bias=False", "") for layer in LAYERS.values()}

EXERCISE = Exercise(
    "RotaryGroupedAttention",
    returns="result",
    parts=[Loaded(from_file=True), Trial("read_by_name")],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "a text in one go",
            3,
            [reading(n=7), reading(n=43, group=3), reading(n=11, base=100.0)],
            outputs=("result",),
        ),
        Aspect(
            "a text in pieces",
            3,
            [
                reading(70, 3),
                reading(4, 1, 2),
                in_train_mode(reading(1, 1, 1, 1, 1, base=50.0)),
                reading(2, 3, 3, group=3),
            ],
            outputs=("result", "afterwards"),
        ),
        Aspect(
            "keys turned once, and cached once",
            1,
            [reading(2, 3)],
            outputs=("cached_heads", "turned_once", "by_name"),
        ),
        Aspect(
            "gradients",
            1,
            [reading(n=5, scale=0.5), reading(1, 3, 1, scale=0.5)],
            outputs=("result",),
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "no rotation",
            "Queries and keys aren't turned, so nothing says where a token is.",
            {f"{TURNED}\n": "pass\n"},
        ),
        Mistake(
            "only the queries turned",
            "You turned the queries, but not the keys.",
            {TURNED: "query = rotate(query, places, self.base)"},
        ),
        Mistake(
            "only the keys turned",
            "You turned the keys, but not the queries.",
            {TURNED: "key = rotate(key, places, self.base)"},
        ),
        Mistake(
            "values turned, too",
            "You turned the values, too. Only queries and keys are turned.",
            {TURNED: f"{TURNED}\n        value = rotate(value, places, self.base)"},
        ),
        Mistake(
            "the words turned",
            "You turned something before it was split into heads. Each head has pairs of its own: "
            "split first.",
            {
                PARTS: f"{FIRST}\n        {PLACES}\n"
                "        parts = [rotate(self.query(x), places, self.base), rotate(self.key(x), "
                "places, self.base), self.value(x)]",
                f"        {FIRST}\n        {PLACES}\n        {TURNED}\n": "",
            },
        ),
        Mistake(
            "places start at 0",
            "Your places start at 0 in each piece. They go on where the last piece ended, at "
            "`cache.length`.",
            {FIRST: "first = 0"},
        ),
        Mistake(
            "the length after the new tokens",
            "You read `cache.length` after you appended, so it counts the new tokens, too.",
            {
                f"        {FIRST}\n        {PLACES}\n        {TURNED}\n{IF_CACHE}": IF_CACHE
                + f"        {FIRST}\n        {PLACES}\n"
                "        query = rotate(query, places, self.base)\n"
                "        key = rotate(key, torch.arange(key.shape[2]), self.base)\n"
            },
            {FIRST: "first = 0 if cache is None else cache.length + x.shape[1]"},
        ),
        Mistake(
            "places start one too late",
            "Your places are off by one after the first piece, which has ended at "
            "`cache.length` − 1.",
            {FIRST: "first = 0 if cache is None or not cache.length else cache.length + 1"},
            {FIRST: "first = 0 if cache is None or not cache.length else cache.length - 1"},
        ),
        Mistake(
            "a counter of its own",
            "Your module counts the tokens itself, and goes on counting when another text begins. "
            "The cache knows how many tokens of this text have been read.",
            {
                FIRST: "first = getattr(self, 'n_read', 0)\n"
                "        self.n_read = 0 if cache is None else first + x.shape[1]"
            },
        ),
        Mistake(
            "keys turned again",
            "You turned what the cache returned, though the earlier keys in it had been turned "
            "before. Turn the new keys once, before you append them.",
            {
                IF_CACHE: f"{IF_CACHE}"
                "            key = torch.cat([rotate(key[:, :, :first], torch.arange(first), "
                "self.base), key[:, :, first:]], dim=2)\n"
            },
            {
                TURNED: "query = rotate(query, places, self.base)",
                IF_CACHE: "        if cache is None:\n"
                "            key = rotate(key, places, self.base)\n"
                "        else:\n"
                f"            {APPEND}\n"
                "            key = rotate(key, torch.arange(key.shape[2]), self.base)\n"
                "            for kept in [cache.pieces.pop()]:\n"
                "                cache.pieces.append((key[:, :, first:], kept[1]))\n",
            },
        ),
        Mistake(
            "the base ignored",
            "You turned by the usual base. Use the one that was given.",
            {TURNED: TURNED.replace("self.base", "10000.0")},
        ),
        Mistake(
            "places of queries from 0",
            "Your keys are at their places, but your queries start at 0 in each piece.",
            {
                TURNED: "query = rotate(query, torch.arange(x.shape[1]), self.base)\n"
                "        key = rotate(key, places, self.base)"
            },
        ),
        Mistake(
            "turned the other way",
            "Queries and keys turn in opposite directions, so scores depend on the sum of two "
            "places, not on their distance.",
            {TURNED: TURNED.replace("rotate(key, places", "rotate(key, -places")},
        ),
        Mistake(
            "only the new tokens",
            "You attend to the new tokens alone. Hand them to `cache.append`, and attend to what "
            "it returns.",
            {APPEND: "cache.append(key, value)"},
            {APPEND: "pass"},
        ),
        Mistake(
            "keys and values swapped",
            "You swapped the cache's keys and values. It returns the keys first.",
            {APPEND: "value, key = cache.append(key, value)"},
        ),
        Mistake(
            "copies of heads in the cache",
            "You gave the cache a copy of each key head for every query head. `attend` shares "
            "them without copies: hand over n_kv_heads heads.",
            {
                IF_CACHE: "        group = query.shape[1] // key.shape[1]\n"
                "        key = key.repeat_interleave(group, dim=1)\n"
                "        value = value.repeat_interleave(group, dim=1)\n"
                f"{IF_CACHE}"
            },
        ),
        Mistake(
            "heads repeated in turns",
            "Your copies of the key heads take turns: 0, 1, 0, 1. Neighbors share one, 0, 0, 1, 1, "
            "and `attend` sees to that without copies.",
            {
                ATTENDED: "attend(query, *(kept.repeat(1, query.shape[1] // key.shape[1], 1, 1) "
                "for kept in (key, value)))"
            },
        ),
        Mistake(
            "the corner at the top left",
            "Your mask's corner is at the top left, as with `is_causal=True`, so later pieces "
            "don't see all that came before. Call `attend`.",
            {
                ATTENDED: "F.scaled_dot_product_attention(query, key, value, is_causal=True, "
                "enable_gqa=True)"
            },
            {
                ATTENDED: "F.scaled_dot_product_attention(query, key, value, "
                "is_causal=x.shape[1] > 1, enable_gqa=True)"
            },
        ),
        Mistake(
            "unturned keys in the cache",
            "You put the keys into the cache as they are, and turn all of them at each call. Turn "
            "each key once, before it goes into the cache.",
            {
                TURNED: "query = rotate(query, places, self.base)",
                ATTENDED: "attend(query, rotate(key, torch.arange(key.shape[2]), self.base), "
                "value)",
            },
        ),
        Mistake(
            "a copy of attend",
            "Your module doesn't call `attend` by its name. Call it in `forward`: later on, "
            "another function takes its place.",
            {
                ATTENDED: "(causal_softmax(query.unflatten(1, (key.shape[1], -1)) @ key[:, :, "
                "None].mT / self.d_head**0.5) @ value[:, :, None]).flatten(1, 2)"
            },
        ),
        Mistake(
            "values by the key layer",
            "You made the values with the layer `key`. They have a layer of their own.",
            {PARTS: "parts = self.query(x), self.key(x), self.key(x)"},
        ),
        Mistake(
            "keys and values by each other's layer",
            "You made the keys with the layer `value`, and the values with `key`.",
            {PARTS: "parts = self.query(x), self.value(x), self.key(x)"},
        ),
        Mistake(
            "scaled twice",
            "You scaled once more: `attend` divides by √d_head already.",
            {ATTENDED: "attend(query / self.d_head**0.5, key, value)"},
        ),
        Mistake(
            "heads take turns",
            "Your heads take turns among the features: feature 0 goes to head 0, feature 1 to "
            "head 1. Each head owns a stretch of features that lie side by side: split them into "
            "(n_heads, d_head), in this order.",
            {SPLIT: "(p.unflatten(-1, (self.d_head, -1)).movedim(-1, 1) for p in parts)"},
        ),
        Mistake(
            "heads by view",
            "Your split mixes tokens: `view` straight to [batch, n_heads, n, d_head] cuts the "
            "rows. Cut the features, then transpose.",
            {
                SPLIT: "(p.reshape(len(p), p.shape[-1] // self.d_head, p.shape[1], self.d_head) "
                "for p in parts)"
            },
        ),
        HEADS_NOT_PUT_BACK,
        NO_OUTPUT_PROJECTION,
        Mistake(
            "biases",
            "Your layers have biases. These four have none: `bias=False`.",
            WITH_BIAS,
            *({layer: biased} for layer, biased in WITH_BIAS.items()),
        ),
        Mistake(
            "as many key heads as query heads",
            "`key` and `value` are as wide as `query`. They have n_kv_heads · d_head features, and "
            "d_head is d_model / n_heads.",
            {"d_kv = n_kv_heads *": "d_kv = n_heads *"},
        ),
        Mistake(
            "only the queries by view",
            "Your queries mix tokens: `view` straight to [batch, n_heads, n, d_head] cuts the "
            "rows. Cut the features, then transpose.",
            {
                TURNED: "query = self.query(x).view(len(x), -1, x.shape[1], self.d_head)\n"
                f"        {TURNED}"
            },
        ),
    ],
    alternatives=[
        Alternative(
            "two ways",
            {
                f"        {FIRST}\n        {PLACES}\n        {TURNED}\n{IF_CACHE}": (
                    "        n_past = cache.length if cache else 0\n"
                    "        places = n_past + torch.arange(x.shape[1])\n"
                    "        query = rotate(query, places, self.base)\n"
                    "        key = rotate(key, places, base=self.base)\n"
                    "        if cache:\n"
                    "            key, value = cache.append(key, value)\n"
                )
            },
            excuses=DIFFERENCES,
        ),
        Alternative(
            "counted from 1",
            {PLACES: "places = torch.arange(1 + first, 1 + first + x.shape[1])"},
        ),
    ],
    hints=[
        "Project, split into heads, turn queries and keys, hand keys and values to the cache, "
        "attend, put the heads back together, project.",
        "`torch.arange(first, first + n)` are the places of n tokens, where `first` is 0 or "
        "`cache.length`.",
        "d_head is the same for all: `unflatten(-1, (-1, d_head))` finds the number of heads by "
        "itself. Then `transpose(1, 2)`.",
    ],
    excuses=DIFFERENCES
    | {
        "wrong at equal sizes: batch = d_model": "d_model is n_heads · d_head",
        "wrong at one size alone: d_model": "a pair has two features",
        "result squeezed at the end": "likewise",
    },
)
