"""The heads as if they were sentences: entry b * n_heads + h is head h of sentence b."""

from typing import Any

from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def fold_case(draw: Draw) -> dict[str, Any]:
    n_heads = draw.heads()["n_heads"]
    return {"x": draw.normal("n batch n_heads*d_head"), "n_heads": n_heads}


def one_sentence(draw: Draw) -> dict[str, Any]:
    draw.fix(batch=1)
    draw.label("one sentence")
    return fold_case(draw)


def many_sentences(draw: Draw) -> dict[str, Any]:
    draw.choose("n_heads", 5, 7).choose("d_head", 2, 3).choose("batch", 6, 8)
    return fold_case(draw)


TURN = ".transpose(0, 1)"

EXERCISE = Exercise(
    "fold_heads",
    returns="folded",
    aspects=[
        Aspect("one sentence", 1, [one_sentence]),
        Aspect("sentence by sentence, head by head", 2, [fold_case, fold_case]),
        Aspect("many sentences and heads", 1, [many_sentences]),
        Aspect("gradients flow through", 1, [fold_case], gradients=True),
    ],
    mistakes=[
        Mistake(
            "view straight to the shape",
            "The shape is right, but the numbers stayed in their order, so each of your rows "
            "holds pieces of several words and sentences. Words come first in `x`: move that "
            "dimension, don't just rename it.",
            """
            n, batch, d_model = x.shape
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "heads before sentences",
            "Your heads come first, then the sentences: entry h * batch + b. Keep the heads of "
            "one sentence together: b * n_heads + h.",
            """
            n, batch, d_model = x.shape
            return x.view(n, batch, n_heads, -1).permute(2, 1, 0, 3).reshape(batch * n_heads, n, -1)
            """,
        ),
        Mistake(
            "words left in front",
            "You cut `x` correctly, but the words are still in dimension 0. In the result the "
            "folded sentences come first, then the words.",
            {TURN: ""},
        ),
        Mistake(
            "batch taken to be first",
            "You read `x` as [batch, n, d_model], and so the heads got folded into the words. "
            "Here words come first, [n, batch, d_model], and the heads go with the batch.",
            """
            batch, n, d_model = x.shape
            x = x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "not folded",
            "The heads have an axis of their own. Fold them into the batch, so that three "
            "dimensions are left.",
            """
            n, batch, d_model = x.shape
            return x.reshape(n, batch, n_heads, d_model // n_heads).permute(1, 2, 0, 3)
            """,
        ),
        Mistake(
            "interleaved",
            "Your heads take turns, each with every n_heads-th feature. A head owns d_head "
            "features that are next to each other.",
            """
            n, batch, d_model = x.shape
            x = x.view(n, batch, d_model // n_heads, n_heads).permute(1, 3, 0, 2)
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "features before words",
            "Words and features of each head have traded places: you have [.., d_head, n], not "
            "[.., n, d_head].",
            {TURN: ".permute(1, 2, 0)"},
        ),
        Mistake(
            "cut in the wrong place",
            "Sentences are apart, but inside each one the numbers stayed in their order, so your "
            "rows are pieces of words. Cut the features while they are the last dimension, before "
            "you move the words.",
            """
            n, batch, d_model = x.shape
            x = x.transpose(0, 1).reshape(batch * n_heads, n, d_model // n_heads)
            return x
            """,
        ),
        Mistake(
            "first sentence only",
            "That is only the first sentence. Return the heads of all sentences, batch * n_heads "
            "of them.",
            """
            n, batch, d_model = x.shape
            folded = x.reshape(n, batch * n_heads, d_model // n_heads).transpose(0, 1)
            return folded[:n_heads]
            """,
        ),
        Mistake(
            "detached",
            "The numbers are right, but a `detach`, `.data`, or a new tensor cuts the graph: "
            "no gradient flows back to `x`.",
            {"return x.reshape": "return x.detach().reshape"},
        ),
    ],
    alternatives=[
        Alternative(
            "an axis for the heads first",
            """
            n, batch, d_model = x.shape
            heads = x.unflatten(-1, (n_heads, -1))
            return heads.permute(1, 2, 0, 3).flatten(0, 1)
            """,
        ),
        Alternative(
            "two loops",
            """
            n, batch, d_model = x.shape
            d_head = d_model // n_heads
            folded = []
            for b in range(batch):
                for h in range(n_heads):
                    folded.append(x[:, b, h * d_head : (h + 1) * d_head])
            return torch.stack(folded)
            """,
        ),
        Alternative(
            "as the library does",
            """
            n, batch, d_model = x.shape
            return x.contiguous().view(n, batch * n_heads, d_model // n_heads).transpose(0, 1)
            """,
            excuses={"call dropped: x.contiguous()": "every `x` is in order in memory"},
        ),
        Alternative(
            "einsum and a stack",
            """
            heads = torch.stack(x.chunk(n_heads, dim=-1))
            return torch.einsum("hnbd->bhnd", heads).flatten(0, 1)
            """,
        ),
    ],
    hints=[
        "For one word, [batch, d_model] holds head after head of sentence 0, then head after head "
        "of sentence 1. That is already the order b * n_heads + h.",
        "So one `reshape` of [n, batch, d_model] makes batch * n_heads little vectors out of "
        "every word. All that's left is to move the words behind them.",
        "`transpose` swaps two dimensions. Check yourself with one sentence: entry 0 should hold "
        "the first d_head features of each word, word after word.",
    ],
)
