"""The keys and values of one layer, [batch, n_heads, n, d_head] each."""

from typing import Any

from autograder.exercises.pieces import in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import SAME_SIZES


def appended(*pieces: int, window: int | None = None, **sizes: int) -> Inputs:
    """Keys and values that come in pieces."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n=sum(pieces), **sizes).label(in_pieces(pieces, window))
        dims = "batch n_heads n d_head"
        pair = {"key": draw.normal(dims), "value": draw.normal(dims)}
        return pair | {"pieces": list(pieces), "window": window}

    return case


ALL_KEYS = "torch.cat([self.keys, key], dim=-2)"
ALL_VALUES = "torch.cat([self.values, value], dim=-2)"
COUNTED = "self.length += key.shape[-2]"
FIRST_KEPT = "max(0, key.shape[-2] - self.window + 1)"
STORED = "self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()"

JOINED = (
    "        if self.keys is not None:\n"
    f"            key = {ALL_KEYS}\n"
    f"            value = {ALL_VALUES}\n"
)

EXERCISE = Exercise(
    "KVCache",
    returns="keys values",
    parts=[Trial("append_in_pieces")],
    also=(*SIZES, Form.DOUBLE, Form.HALF, *CALLS),
    aspects=[
        Aspect(
            "all keys and values",
            1,
            [appended(290, 3, batch=2, n_heads=1), appended(2, 2), appended(3, 1, 2, 1)],
            outputs=("keys", "values"),
        ),
        connected(
            appended(2, 3, 1),
            appended(1, 2, 2, window=3),
            outputs=("keys", "values", "earlier"),
        ),
        Aspect(
            "the number of words",
            1,
            [appended(3, 1, 2), appended(5, 2, 2, window=3)],
            outputs=("length",),
        ),
        Aspect(
            "old words are forgotten",
            1,
            [
                appended(*[1] * 60, window=4),
                appended(17, 4, 1, window=13),
                appended(40, window=3),
                appended(41, window=3, batch=1, n_heads=1),
            ],
            outputs=("keys", "values", "forgets"),
        ),
        Aspect(
            "a window",
            1,
            [
                appended(1, 1, 1, 1, 1, window=3),
                appended(6, window=3),
                appended(3, 2, window=1),
                appended(1, 2, 1, window=9),
                appended(2, 3, 2, window=2),
            ],
            outputs=("keys", "values"),
        ),
    ],
    mistakes=[
        Mistake(
            "only the new words",
            "`append` returned the new words alone. They attend to the earlier ones, too: put "
            "those in front.",
            {ALL_KEYS: "key", ALL_VALUES: "value"},
        ),
        Mistake(
            "new words first",
            "You put the new words in front. They come last, after all the others.",
            {
                ALL_KEYS: "torch.cat([key, self.keys], dim=-2)",
                ALL_VALUES: "torch.cat([value, self.values], dim=-2)",
            },
        ),
        Mistake(
            "along another dimension",
            "You joined the pieces along the wrong dimension. Words are the second to last, "
            "`dim=-2`: [batch, n_heads, n, d_head].",
            {ALL_KEYS: ALL_KEYS.replace("-2", "1"), ALL_VALUES: ALL_VALUES.replace("-2", "1")},
            {ALL_KEYS: ALL_KEYS.replace("-2", "0"), ALL_VALUES: ALL_VALUES.replace("-2", "0")},
            {ALL_KEYS: ALL_KEYS.replace("-2", "-1"), ALL_VALUES: ALL_VALUES.replace("-2", "-1")},
        ),
        Mistake(
            "keys for values",
            "Your values are keys. Keep both, each with its own kind.",
            {ALL_VALUES: "key"},
            {"return key, value": "return key, key"},
        ),
        Mistake(
            "values first",
            "You returned the values first. The order is keys, values.",
            {"return key, value": "return value, key"},
        ),
        Mistake(
            "only the last piece is kept",
            "You keep only the last piece, and lose what came before it.",
            {
                "        if self.keys is not None:": (
                    "        new = key, value\n        if self.keys is not None:"
                ),
                STORED: "self.keys, self.values = (x[..., max(0, first - key.shape[-2] + "
                "x.shape[-2]) :, :] for x in new)",
            },
        ),
        Mistake(
            "the window is cut too early",
            "You cut to the window before the new words have seen it. The first of several new "
            "words still attends to the w − 1 words before *it*: return those, too.",
            {
                FIRST_KEPT: "max(0, key.shape[-2] - self.window)",
                "return key, value": "return self.keys, self.values",
            },
            {"return key, value": "return self.keys, self.values"},
            {
                "        if self.keys is not None:\n": (
                    "        if self.keys is not None:\n"
                    "            if self.window is not None:\n"
                    "                n_old = max(0, self.window - key.shape[-2])\n"
                    "                start = max(0, self.keys.shape[-2] - n_old)\n"
                    "                self.keys = self.keys[..., start:, :]\n"
                    "                self.values = self.values[..., start:, :]\n"
                )
            },
        ),
        Mistake(
            "a view is kept",
            "The window is right, but more stays in memory than its words. Keep only the last "
            "w − 1 words for the next call, and as a copy, by `clone()`: a slice is a view, which "
            "keeps the whole tensor.",
            {STORED: STORED.replace(".clone()", "")},
        ),
        Mistake(
            "minus zero",
            "With a window of 1, your slice starts at −(w − 1), which is 0, and `x[0:]` is "
            "everything. Count the start from the front.",
            {FIRST_KEPT: "-(self.window - 1)"},
        ),
        Mistake(
            "a negative start",
            "If there are fewer words than the window, your start is negative, and a negative "
            "start counts from the end. Use `max(0, …)`.",
            {FIRST_KEPT: "key.shape[-2] - self.window + 1"},
        ),
        Mistake(
            "one word too many",
            "Your window is one word too long. A word sees itself and w − 1 others, so keep only "
            "w − 1 words for the next ones.",
            {FIRST_KEPT: "max(0, key.shape[-2] - self.window)"},
        ),
        Mistake(
            "one word too few",
            "Your window is one word too short: keep w − 1 words for the next ones.",
            {FIRST_KEPT: "max(0, key.shape[-2] - self.window + 2)"},
        ),
        Mistake(
            "window ignored",
            "You returned all words although there is a window.",
            {f"0 if self.window is None else {FIRST_KEPT}": "0"},
        ),
        Mistake(
            "the first piece is not cut",
            "You cut what you keep to the window only from the second piece on. Cut it after the "
            "first one, too, to the last w − 1 words.",
            {
                f"0 if self.window is None else {FIRST_KEPT}": (
                    f"0 if self.window is None or self.keys is None else {FIRST_KEPT}"
                )
            },
        ),
        Mistake(
            "the first words are kept",
            "With a window, you keep the oldest words. Keep the newest.",
            {
                STORED: (
                    "self.keys = key[..., : key.shape[-2] - first, :]\n"
                    "        self.values = value[..., : key.shape[-2] - first, :]"
                )
            },
            {
                STORED: (
                    "last = None if self.window is None else self.window - 1\n"
                    "        self.keys = key[..., :last, :].clone()\n"
                    "        self.values = value[..., :last, :].clone()"
                )
            },
        ),
        Mistake(
            "nothing is forgotten",
            "The window is right, but the cache still holds every word. Keep only those that will "
            "be asked for again, or the memory keeps growing.",
            {
                STORED: "self.keys, self.values = key, value",
                "return key, value": (
                    "if self.window is not None:\n"
                    "            first = max(0, self.length - new - self.window + 1)\n"
                    "            return key[..., first:, :], value[..., first:, :]\n"
                    "        return key, value"
                ),
                COUNTED: f"new = key.shape[-2]\n        {COUNTED}",
            },
        ),
        Mistake(
            "the past detached",
            "Your cache cuts the path of the gradient: nothing flows back to earlier words. Keep "
            "keys and values as they are, without `detach()`, `no_grad` or NumPy.",
            {STORED: f"{STORED}\n        self.keys = self.keys.detach()"},
            {STORED: f"{STORED}\n        self.values = self.values.detach()"},
            {STORED: STORED.replace(".clone()", ".detach().clone()")},
        ),
        Mistake(
            "kept in half precision",
            "You keep the words in half precision, which rounds them. Keep them in the dtype that "
            "they come in.",
            {STORED: STORED.replace(".clone()", ".half().to(key.dtype)")},
            {STORED: STORED.replace(".clone()", ".half().to(key.dtype)", 1)},
        ),
        Mistake(
            "kept in float32",
            "What you return is float32, whatever the words are: the tensors that you start from "
            "are. Start from None, or make them with `key.new_zeros`.",
            {
                "        if self.keys is not None:\n": (
                    "        if self.keys is None:\n"
                    "            self.keys = torch.zeros(*key.shape[:2], 0, key.shape[3])\n"
                    "            self.values = self.keys\n"
                    "        if self.keys is not None:\n"
                )
            },
        ),
        Mistake(
            "length of what is kept",
            "`length` should be the number of all words so far. Yours is the number of words that "
            "the cache holds, which a window keeps small.",
            {
                COUNTED: "pass",
                "return key, value": "self.length = key.shape[-2]\n        return key, value",
            },
        ),
        Mistake(
            "pieces counted",
            "`length` counts words, and yours counts the calls of `append`.",
            {COUNTED: "self.length += 1"},
        ),
        Mistake(
            "length stays 0",
            "`length` is still 0. Add the number of new words in each call.",
            {COUNTED: "pass"},
        ),
        Mistake(
            "only the last piece is counted",
            "`length` is the number of words in the last piece. Add it to those before.",
            {COUNTED: "self.length = key.shape[-2]"},
        ),
        Mistake(
            "words counted twice",
            "You counted the earlier words again with each piece. Add only the new ones.",
            {
                f"        {COUNTED}\n": "",
                f"        {STORED}": f"        {STORED}\n        {COUNTED}",
            },
        ),
        Mistake(
            "features counted",
            "`length` counts words: `shape[-2]`.",
            {COUNTED: "self.length += key.shape[-1]"},
            {COUNTED: "self.length += key.shape[1]"},
            {COUNTED: "self.length += len(key)"},
        ),
    ],
    alternatives=[
        Alternative(
            "a list of pieces",
            {
                "self.keys = self.values = None": "self.pieces = []",
                JOINED: (
                    "        self.pieces.append((key, value))\n"
                    "        both = zip(*self.pieces)\n"
                    "        key, value = (torch.cat(parts, dim=2) for parts in both)\n"
                ),
                f"        {STORED}\n": (
                    "        if first:\n"
                    "            kept = key[:, :, first:].clone(), value[:, :, first:].clone()\n"
                    "            self.pieces = [kept]\n"
                ),
            },
            excuses={"condition fixed: if first": "from word 0 on is everything"},
        ),
        Alternative(
            "empty tensors first",
            {
                "= self.values = None": "= self.values = torch.zeros(1, 1, 0, 1)",
                JOINED: (
                    "        sizes = len(key), key.shape[1], -1, key.shape[3]\n"
                    "        old = self.keys.expand(sizes), self.values.expand(sizes)\n"
                    "        key = torch.cat([old[0].to(key.dtype), key], dim=2)\n"
                    "        value = torch.cat([old[1].to(key.dtype), value], dim=2)\n"
                ),
            },
            excuses={
                "another argument: key → value": SAME_SIZES,
                "argument dropped: torch.zeros(1, 1, 0, 1)": "it is expanded",
            },
        ),
    ],
    hints=[
        "In `__init__`, set `length` to 0, and the keys and values to None. In `append`, join old "
        "and new with `torch.cat(…, dim=-2)`.",
        "Return what you joined. Keep the same for the next call, or with a window only its last "
        "w − 1 words.",
        "`keys[..., first:, :]` is everything from word `first` on. With n words and a window of "
        "w, the first to keep is n − (w − 1), or 0 if that is negative.",
    ],
    excuses={
        "another argument: key → value": SAME_SIZES,
        "another attribute: self.keys → self.values": "both are there, or neither is",
        "arguments swapped: max": "the order does not matter",
    },
)
