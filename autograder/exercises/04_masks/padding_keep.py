"""Mask in which every query may attend to the words of its sentence, not to its padding."""

import torch

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def padded(draw: Draw) -> dict:
    return {"lengths": draw.lengths("batch", "n"), "n": draw.size("n")}


def empty_sentence(draw: Draw) -> dict:
    """One sentence has no words, and no sentence fills all places."""
    lengths = draw.lengths("batch", "longest")
    lengths[-1] = 0
    # Above all other sizes, which are drawn from 3 to 7.
    return {"lengths": lengths, "n": draw.fix(n=draw.size("longest") + 6).size("n")}


def no_padding(draw: Draw) -> dict:
    draw.label("no padding")
    n = draw.size("n")
    return {"lengths": torch.full((draw.size("batch"),), n), "n": n}


def no_words(draw: Draw) -> dict:
    draw.label("no words at all")
    return {"lengths": torch.zeros(draw.size("batch"), dtype=torch.int64), "n": draw.size("n")}


def among_places(n: int) -> Inputs:
    def case(draw: Draw) -> dict:
        draw.label(f"2, 0 and 4 words in {n} places")
        return {"lengths": torch.tensor([2, 0, 4]), "n": n}

    return case


EXERCISE = Exercise(
    "padding_keep",
    returns="keep",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("the first words of each sentence", 2, [padded, padded]),
        Aspect(
            "empty sentences, and places that no sentence fills",
            1,
            [empty_sentence, no_padding, no_words, among_places(5), among_places(8)],
        ),
    ],
    mistakes=[
        Mistake(
            "one too many",
            "Each sentence keeps one position of padding. With `length` words, the last one is at "
            "position length − 1.",
            {"position < lengths": "position <= lengths"},
        ),
        Mistake(
            "what to hide",
            "Your True entries are the padding. In `keep`, True means that the query may "
            "attend to the key.",
            {"position < lengths": "position >= lengths"},
        ),
        Mistake(
            "shape [batch, n]",
            "The shape is (batch, n). Against scores of shape (batch, n_query, n_key) that is "
            "read as (n_query, n_key): each query would get the mask of a sentence. Put a "
            "dimension of size 1 in the middle.",
            {"[:, None, :]": ""},
        ),
        Mistake(
            "masks queries",
            "The shape is (batch, n, 1): that hides whole queries and leaves the padding "
            "visible as keys. The 1 belongs where the queries are, in the middle.",
            {"[:, None, :]": "[:, :, None]"},
        ),
        Mistake(
            "batch in the middle",
            "The shape is (1, batch, n), so the sentences are where the queries should be. The 1 "
            "belongs in the middle: (batch, 1, n).",
            {"[:, None, :]": "[None]"},
        ),
        Mistake(
            "repeated for every query",
            "The values are right, but repeated for n queries. Cross-attention may have any "
            "number of queries: return (batch, 1, n), and let broadcasting repeat it.",
            {"[:, None, :]": "[:, None, :].expand(-1, n, -1)"},
        ),
        Mistake(
            "as long as the longest",
            "Your mask is only as wide as the longest sentence. The batch may be padded further: "
            "make it `n` wide.",
            {"torch.arange(n)": "torch.arange(int(lengths.max()))"},
        ),
        Mistake(
            "padding in front",
            "You kept the last places of each sentence. Here the words come first, then the "
            "padding.",
            {"position < lengths[:, None]": "position >= n - lengths[:, None]"},
        ),
        Mistake(
            "the first sentence's length for all",
            "Every sentence got the mask of the first. Each has a length of its own.",
            {"lengths[:, None]": "lengths[0].expand(len(lengths), 1)"},
        ),
        Mistake(
            "only the last word",
            "You kept only the last word of each sentence. All words up to it may be seen.",
            {"position < lengths[:, None]": "position == lengths[:, None] - 1"},
        ),
        Mistake(
            "numbers",
            "These are floats, 0.0 and 1.0, in the right places. Return booleans.",
            {"(position < lengths[:, None])": "(position < lengths[:, None]).float()"},
        ),
        Mistake(
            "counted from one",
            "The last word of each sentence is hidden: positions count from 0, so position p "
            "holds a word when p < length.",
            {"torch.arange(n)": "torch.arange(1, n + 1)"},
        ),
        Mistake(
            "padding as query as well",
            "You hid the queries of padding too. That makes rows with nothing to attend to, "
            "and it fixes n_query. Hide keys only: (batch, 1, n).",
            {"[:, None, :]": "[:, None, :] & (position < lengths[:, None])[:, :, None]"},
        ),
        Mistake(
            "flipped comparison of shapes",
            "Sentences and positions are swapped: rows should be sentences, columns positions.",
            {"position < lengths[:, None]": "position[:, None] < lengths"},
        ),
        Mistake(
            "slice from -0",
            "A sentence without padding is hidden entirely: a slice from -0 covers all of it.",
            """
            keep = torch.ones(len(lengths), 1, n, dtype=torch.bool)
            for i, length in enumerate(lengths.tolist()):
                keep[i, :, -(n - length) :] = False
            return keep
            """,
        ),
        Mistake(
            "lengths sorted",
            "You sorted the lengths, so rows belong to other sentences. Leave the lengths in their "
            "order.",
            {"position < lengths[:, None]": "position < lengths.sort(descending=True)[0][:, None]"},
            {"position < lengths[:, None]": "position < lengths.sort()[0][:, None]"},
        ),
    ],
    alternatives=[
        Alternative(
            "a column of lengths", "return torch.arange(n)[None, None, :] < lengths[:, None, None]"
        ),
        Alternative(
            "sentence by sentence",
            """
            keep = torch.zeros(len(lengths), 1, n, dtype=torch.bool)
            for sentence, length in enumerate(lengths):
                keep[sentence, 0, :length] = True
            return keep
            """,
            excuses={"another number: 0 → -1": "lengths have one dimension"},
        ),
        Alternative(
            "rows of the causal mask",
            """
            prefixes = torch.ones(n + 1, n, dtype=torch.bool).tril(-1)
            return prefixes[lengths].unsqueeze(1)
            """,
            excuses={"another number: 1 → 2": "one row more than needed changes nothing"},
        ),
    ],
    hints=[
        "Position p of a sentence holds a word if p is less than the sentence's length. Positions "
        "make a row, lengths a column.",
        "`torch.arange(n)` gives the positions, and `lengths[:, None]` is a column. Comparing "
        "them gives (batch, n).",
        "Indexing with `None` adds a dimension of size 1 wherever you put it. It belongs between "
        "batch and n.",
    ],
)
