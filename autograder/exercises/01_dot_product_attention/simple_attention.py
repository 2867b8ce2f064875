"""Context vectors (row i: the context of word i) and attention weights (rows sum to 1)."""

from autograder.exercises.slips import RETURNED, WEIGHTS
from autograder.lessons.cases import drawn
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

EXERCISE = Exercise(
    "simple_attention",
    returns="context attn_weights",
    aspects=[
        Aspect(
            "the weights",
            2,
            outputs=("attn_weights",),
        ),
        Aspect(
            "the context vectors",
            2,
            outputs=("context",),
        ),
        Aspect(
            "scores above 100",
            1,
            [lambda draw: {"words": draw.normal("n d", 0.2) + 9}, drawn(scale=20)],
        ),
        connected(),
    ],
    slips=[*WEIGHTS, *RETURNED],
    mistakes=[
        Mistake(
            "softmax over queries",
            "Your columns sum to 1, but the rows don't: softmax ran over the queries, or a sum "
            "lost its dimension. Each query divides its weight among the keys, along the last "
            "dimension.",
            {"dim=-1": "dim=0"},
        ),
        Mistake(
            "one softmax for everything",
            "All your weights together sum to 1. Each row belongs to one query and should sum to "
            "1 on its own.",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "torch.softmax(attn_scores.flatten(), 0).view_as(attn_scores)"
                )
            },
        ),
        Mistake(
            "context_vector for one query",
            "`context_vector` takes the weights of one query, a row, and here they are a matrix. "
            "A matrix product makes all contexts at once: `attn_weights @ words`.",
            {"attn_weights @ words": "context_vector(attn_weights, words)"},
        ),
        Mistake(
            "weights on the wrong side",
            "`words @ attn_weights` doesn't fit: the weights come first. Row i of `attn_weights` "
            "times the words is the context of word i.",
            {"attn_weights @ words": "words @ attn_weights"},
        ),
        Mistake(
            "weights transposed in the sum",
            "The weights are right, but the sum used them transposed: each context took a column "
            "of the weights instead of a row.",
            {"attn_weights @ words": "attn_weights.T @ words"},
        ),
        Mistake(
            "residual connection",
            "You added the words to the context, a residual connection. The context is the "
            "weighted sum alone.",
            {"attn_weights @ words": "words + attn_weights @ words"},
        ),
        Mistake(
            "scaled already",
            "You divided the scores by the square root of the number of features. That comes in "
            "lesson 2.",
            {"words @ words.T": "words @ words.T / words.shape[-1] ** 0.5"},
        ),
        Mistake(
            "hard attention",
            "Each query gave all its weight to one word. Softmax gives every word a share.",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "(attn_scores == attn_scores.amax(-1, keepdim=True)).to(words.dtype)"
                )
            },
        ),
        Mistake(
            "context of the scores",
            "The weights are right, but the context was made from the scores before softmax.",
            {"attn_weights @ words": "attn_scores @ words"},
        ),
        Mistake(
            "words instead of the context",
            "The weights are right, but you returned the words themselves as the context.",
            {"attn_weights @ words": "words"},
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            attn_scores = torch.einsum("id,jd->ij", words, words)
            attn_weights = attn_scores.softmax(-1)
            return torch.einsum("ij,jd->id", attn_weights, words), attn_weights
            """,
            excuses={
                "another einsum: id,jd->ij → id,jd->ji": (
                    "the scores of words with themselves are symmetric"
                ),
            },
        ),
        Alternative(
            "one query at a time",
            """
            rows = [torch.softmax(words @ query, dim=0) for query in words]
            contexts = [(row[:, None] * words).sum(0) for row in rows]
            return torch.stack(contexts), torch.stack(rows)
            """,
            excuses={"another number: 0 → -1": "a row of scores has one dimension"},
        ),
        Alternative(
            "a softmax of one's own",
            """
            attn_scores = words @ words.T
            exps = (attn_scores - attn_scores.amax(-1, keepdim=True)).exp()
            attn_weights = exps / exps.sum(-1, keepdim=True)
            return attn_weights @ words, attn_weights
            """,
        ),
    ],
    hints=[
        "Three lines, one for each step: scores, weights, context.",
        "`torch.softmax(attn_scores, dim=…)`: along which dimension should the weights of one "
        "query sum to 1?",
        "Row i of the weights times all words is context i. One matrix product does all rows.",
    ],
    excuses={"softmax's dimension: torch.softmax($X, dim=1)": "of two dimensions, 1 is the last"},
)
