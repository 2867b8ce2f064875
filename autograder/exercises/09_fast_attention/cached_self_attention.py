"""Causal self-attention with grouped queries, in one go or in pieces with a cache."""

from autograder.exercises.pieces import HEADS_NOT_PUT_BACK, NO_OUTPUT_PROJECTION, in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake


def reading(
    *pieces: int,
    n: int = 0,
    window: int | None = None,
    scale: float = 1.0,
    group: int = 1,
) -> Inputs:
    """A text in pieces or, with n, in one go."""

    def case(draw: Draw) -> ModuleCase:
        read = [draw.same] * 2 if draw.same > 1 else list(pieces)
        draw.fix(n=n or sum(read)).label(in_pieces(read, window))
        if group == 1 or draw.same > 1:
            draw.choose("n_heads", 2, 3)
        else:
            draw.fix(n_heads=group * draw.choose("n_kv_heads", 2, 3).size("n_kv_heads"))
        draw.fix(d_model=draw.size("n_heads") * draw.size("d_head"))
        build = draw.named("d_model n_heads" + " n_kv_heads" * ("n_kv_heads" in draw.sizes))
        x = draw.normal("batch n d_model", scale)
        inputs = {"x": x, "pieces": read, "window": window}
        return ModuleCase(build, inputs)

    return case


KEEP = "torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"
WINDOW = "keep.triu(n_key - n_query - cache.window + 1)"
APPEND = "key, value = cache.append(key, value)"
QUERY_SPLIT = "query = self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"
KEY_SPLIT = "key = self.key(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)"
VALUE_SPLIT = "value = self.value(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)"
ATTENDED = "grouped_query_attention(query, key, value, keep)"


def in_turns(split: str) -> str:
    """Return a line that splits features into (d_head, n_heads)."""
    heads_last = split.replace("(self.n", "(-1, self.n").replace("heads, -1)", "heads)")
    return heads_last.replace("transpose(1, 2)", "movedim(-1, 1)")


EXERCISE = Exercise(
    "CachedSelfAttention",
    returns="result",
    parts=[Trial("read_in_pieces")],
    builds_on=("grouped_query_attention",),
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect("a text in one go", 2, [reading(n=43), reading(n=7), reading(n=9)]),
        Aspect("several query heads share a key head", 1, [reading(n=7, group=2)]),
        Aspect("word by word", 1, [in_train_mode(reading(1, 1, 1, 1)), reading(4, 1, 1)]),
        Aspect("pieces of several words", 1, [reading(2, 2, 3), reading(2, 3, 3, group=3)]),
        Aspect(
            "a window",
            1,
            [
                reading(2, 4, 1, 3, window=3),
                reading(*[1] * 7, window=2),
                reading(4, 3, window=3),
                reading(14, 3, window=12),
            ],
        ),
        Aspect(
            "gradients",
            1,
            [reading(1, 1, 1, 1, 1, scale=0.3), reading(1, 1, 1, 1, group=3, scale=0.3)],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "no mask",
            "Nothing is masked, so words attend to what comes after them.",
            {KEEP: "None", f"keep = {WINDOW}": "pass"},
        ),
        Mistake(
            "no mask with a cache",
            "With a cache, nothing is masked. New words that come together still have to be hidden "
            "from each other. (Is your diagonal `cache.length`? After `append`, that counts the "
            "new words, too, and hides nothing. It is n_key − n_query.)",
            {
                f"keep = {KEEP}": f"keep = {KEEP}\n"
                "        if cache is not None:\n"
                "            keep = torch.ones_like(keep)"
            },
            {".tril(n_key - n_query)": ".tril(cache.length if cache is not None else 0)"},
            {
                f"context = {ATTENDED}": (
                    "if cache is not None and cache.window is None:\n"
                    f"            keep = None\n        context = {ATTENDED}"
                )
            },
            {
                f"context = {ATTENDED}": (
                    f"keep = keep if cache is None else None\n        context = {ATTENDED}"
                )
            },
        ),
        Mistake(
            "a mask for the first piece only",
            "You mask the first piece only. The words of a later piece come together, too, so "
            "they have to be hidden from each other as well.",
            {
                f"keep = {KEEP}": f"keep = {KEEP}\n"
                "        if n_key > n_query:\n"
                "            keep = torch.ones_like(keep)"
            },
            {
                f"context = {ATTENDED}": (
                    "if n_key > n_query and cache.window is None:\n"
                    f"            keep = None\n        context = {ATTENDED}"
                )
            },
            {
                f"context = {ATTENDED}": (
                    f"if n_key > n_query:\n            keep = None\n        context = {ATTENDED}"
                )
            },
        ),
        Mistake(
            "no mask without a cache",
            "Without a cache, nothing is masked. A text in one go needs its mask, too: words must "
            "not attend to what comes after them.",
            {
                f"keep = {KEEP}": f"keep = {KEEP}\n"
                "        if cache is None:\n"
                "            keep = torch.ones_like(keep)"
            },
        ),
        Mistake(
            "the mask's corner at the top left",
            "Your mask starts at the top left, as if the first query were the first word. The "
            "queries are the last words: query 0 is at place n_key − n_query, so `tril(n_key - "
            "n_query)`.",
            {".tril(n_key - n_query)": ".tril()"},
        ),
        Mistake(
            "PyTorch's causal mask",
            "Your mask starts at the top left, as `is_causal=True` makes it, and leaves out the "
            "window. Here, the queries are the last words: make the mask yourself, with its "
            "corner at the lower right.",
            *(
                {
                    f"context = {ATTENDED}": (
                        "context = F.scaled_dot_product_attention(\n"
                        f"            query, key, value, is_causal={causal}, enable_gqa=True\n"
                        "        )"
                    )
                }
                for causal in ("True", "n_query > 1")
            ),
        ),
        Mistake(
            "the mask one word too short",
            "Your words don't see themselves.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query - 1)"},
        ),
        Mistake(
            "the mask one word too long",
            "Each of your words sees one word that comes after it.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query + 1)"},
        ),
        Mistake(
            "the mask upside down",
            "Your mask lets words see only themselves and what comes after them. `triu` keeps the "
            "upper right; you need the lower left.",
            {".tril(n_key - n_query)": ".triu(n_key - n_query)"},
        ),
        Mistake(
            "only the new words",
            "You attend to the new words alone. Hand them to `cache.append`, and attend to what it "
            "returns.",
            {APPEND: "cache.append(key, value)"},
            {APPEND: "pass"},
        ),
        Mistake(
            "appended twice",
            "You appended the new words twice, so the cache holds each of them twice. Call "
            "`append` once, and keep both things that it returns.",
            {APPEND: f"cache.append(key, value)\n            {APPEND}"},
            {APPEND: "key, value = cache.append(key, value)[0], cache.append(key, value)[1]"},
        ),
        Mistake(
            "keys and values swapped",
            "You took the keys that the cache returns for values. It returns the keys first.",
            {APPEND: "value, key = cache.append(key, value)"},
        ),
        Mistake(
            "values by the key layer",
            "You made the values with the layer `key`. They have a layer of their own.",
            {"value = self.value(x)": "value = self.key(x)"},
        ),
        Mistake(
            "copies of heads in the cache",
            "You gave the cache a copy of each key head for every query head, so it is as large as "
            "without groups. Hand it n_kv_heads heads, and copy later, if at all.",
            {
                APPEND: "group = self.n_heads // self.n_kv_heads\n"
                "            key = key.repeat_interleave(group, dim=1)\n"
                "            value = value.repeat_interleave(group, dim=1)\n"
                f"            {APPEND}"
            },
        ),
        Mistake(
            "the length for the mask",
            "Your mask is moved by `cache.length`, which also counts the words that a window has "
            "dropped. Move it by n_key − n_query.",
            {
                APPEND: f"before = cache.length\n            {APPEND}",
                ".tril(n_key - n_query)": ".tril(before if cache is not None else 0)",
            },
            {
                APPEND: f"before = cache.length\n            {APPEND}",
                ".tril(n_key - n_query)": ".tril(before if cache is not None else 0)",
                WINDOW: "keep.triu(before - cache.window + 1)",
            },
        ),
        Mistake(
            "the length after the new words",
            "Your mask puts the queries too far right, by the number of new words or more: "
            "`append` adds these to `cache.length`. Query 0 is at place n_key − n_query.",
            {
                ".tril(n_key - n_query)": ".tril(cache.length if cache is not None else 0)",
                WINDOW: "keep.triu(cache.length - cache.window + 1)",
            },
            {
                ".tril(n_key - n_query)": ".tril(0 if cache is None else n_key)",
                WINDOW: "keep.triu(n_key - cache.window + 1)",
            },
        ),
        Mistake(
            "a mask for the new words alone",
            "Your mask has a column for each new word. It needs one for each key that the cache "
            "returned: n_query rows and n_key columns.",
            {KEEP: "torch.ones(n_query, n_query, dtype=torch.bool).tril()"},
        ),
        Mistake(
            "the window's corner at the top left",
            "Your window starts at the top left. Its corner is at the lower right, like the "
            "mask's: add n_key − n_query.",
            {WINDOW: "keep.triu(1 - cache.window)"},
        ),
        Mistake(
            "scaled twice",
            "You scaled twice: `attend` divides by √d_head already.",
            {ATTENDED: ATTENDED.replace("(query", "(query / query.shape[-1] ** 0.5")},
        ),
        Mistake(
            "window ignored",
            "You let words see everything, though the cache has a `window`. What it returns is for "
            "all new words; each of them still sees only the last `window` words.",
            {f"keep = {WINDOW}": "pass"},
        ),
        Mistake(
            "a window at the start only",
            "Your window is there only while nothing has been read before. Later pieces of several "
            "words need it, too.",
            {"cache.window is not None": "cache.window is not None and n_query == n_key"},
        ),
        Mistake(
            "window one word too long",
            "Your window is one word too long. Each word attends to itself and to the `window` − 1 "
            "words before it.",
            {"cache.window + 1": "cache.window"},
        ),
        Mistake(
            "window one word too short",
            "Your window is one word too short. Each word attends to itself and to the "
            "`window` − 1 words before it.",
            {"cache.window + 1": "cache.window + 2"},
        ),
        Mistake(
            "as many key heads as query heads",
            "`key` and `value` are as wide as `query`. With n_kv_heads, they have n_kv_heads · "
            "d_head features.",
            {"d_kv = self.n_kv_heads *": "self.n_kv_heads = n_heads\n        d_kv = n_heads *"},
        ),
        Mistake(
            "key heads split like query heads",
            "You split keys or values into n_heads heads, and they have only n_kv_heads.",
            {KEY_SPLIT: KEY_SPLIT.replace("n_kv_heads", "n_heads")},
            {VALUE_SPLIT: VALUE_SPLIT.replace("n_kv_heads", "n_heads")},
            {
                KEY_SPLIT: KEY_SPLIT.replace("n_kv_heads", "n_heads"),
                VALUE_SPLIT: VALUE_SPLIT.replace("n_kv_heads", "n_heads"),
            },
        ),
        Mistake(
            "heads take turns",
            "Your heads take turns among the features: feature 0 goes to head 0, feature 1 to "
            "head 1. Each head owns a stretch of features that lie side by side: split them into "
            "(n_heads, d_head), in this order.",
            {split: in_turns(split) for split in (QUERY_SPLIT, KEY_SPLIT, VALUE_SPLIT)},
            *({split: in_turns(split)} for split in (QUERY_SPLIT, KEY_SPLIT, VALUE_SPLIT)),
        ),
        Mistake(
            "heads by view",
            "Your split mixes words: `view` straight to [batch, n_heads, n, d_head] cuts the rows. "
            "Cut the features, then transpose.",
            {
                "self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": (
                    "self.query(x).reshape(len(x), self.n_heads, x.shape[1], -1)"
                )
            },
            {
                split: split.split(".unflatten")[0] + f".reshape(len(x), {heads}, x.shape[1], -1)"
                for split, heads in (
                    (QUERY_SPLIT, "self.n_heads"),
                    (KEY_SPLIT, "self.n_kv_heads"),
                    (VALUE_SPLIT, "self.n_kv_heads"),
                )
            },
        ),
        HEADS_NOT_PUT_BACK,
        NO_OUTPUT_PROJECTION,
        Mistake(
            "without biases",
            "Your layers have no biases. Leave `bias` as `nn.Linear` has it.",
            {
                "nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)": (
                    "nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model)"
                )
            },
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys.",
            {
                "query = self.query(x)": "query = self.key(x)",
                "key = self.key(x)": "key = self.query(x)",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "by distances",
            {
                f"keep = {KEEP}": (
                    "place = torch.arange(n_key)\n"
                    "        distance = place[n_key - n_query :, None] - place\n"
                    "        keep = distance >= 0"
                ),
                f"keep = {WINDOW}": "keep = keep & (distance < cache.window)",
            },
            excuses={"operands swapped: keep &": "the order does not matter"},
        ),
        Alternative(
            "one mask for all",
            {
                "        if cache is not None and cache.window is not None:\n"
                f"            keep = {WINDOW}\n": (
                    "        window = getattr(cache, 'window', None) or n_key\n"
                    "        keep = keep.triu(n_key - n_query - window + 1)\n"
                )
            },
        ),
    ],
    hints=[
        "Project, split into heads, hand the new keys and values to the cache, attend to what it "
        "returns, put the heads back together, project.",
        "`torch.ones(n_query, n_key, dtype=torch.bool).tril(k)` keeps everything up to the k-th "
        "diagonal above the main one. Which k puts the corner at the lower right?",
        "With a window, cut off the lower left as well: `keep.triu(k)` keeps everything from the "
        "k-th diagonal on.",
    ],
)
