"""Context vectors and attention weights, each query attending to the keys that `keep` allows."""

import torch

from autograder.exercises.slips import CONTEXT, FROM_THE_LEFT, KEYS, RETURNED, SCALE
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import (
    INFINITY,
    NOT_TURNED,
    STILL_E_TO_0,
    WITHOUT_MASK,
    all_hidden,
    as_many_sentences,
    empty_rows,
    one_key,
    one_query,
    padded_keep,
    square,
)


def one_sentence(draw: Draw) -> dict:
    return draw.arguments(keep=draw.keep("n_query n_key"))


def large(draw: Draw) -> dict:
    """Scores far below any number that is merely rather low."""
    return draw.arguments(scale=2000, keep=draw.keep("n_query n_key"))


def sentences(draw: Draw) -> dict:
    return draw.arguments("batch", keep=draw.keep("batch n_query n_key"))


def last_two_words(draw: Draw) -> dict:
    """As many queries as keys, and a mask that looks causal in its first row."""
    draw.label("each word sees itself and the one before")
    keep = torch.ones(5, 5, dtype=torch.bool).tril().triu(-1)
    words = {name: draw.normal_of((5, 4)) for name in ("query", "key", "value")}
    return words | {"keep": keep}


def words_of_as_many_sentences(draw: Draw) -> dict:
    keep = as_many_sentences(draw)["keep"]
    return {name: draw.normal_of((4, 4, 3)) for name in ("query", "key", "value")} | {"keep": keep}


def cross_attention(draw: Draw) -> dict:
    return draw.arguments("batch", keep=padded_keep(draw))


def heads_and_padding(draw: Draw) -> dict:
    return draw.arguments("batch n_heads", keep=padded_keep(draw)[:, None])


def masks_of_heads(draw: Draw) -> dict:
    return draw.arguments("batch n_heads", keep=draw.keep("batch n_heads n_query n_key"))


def three_in_front(draw: Draw) -> dict:
    return {name: x.unsqueeze(1) for name, x in heads_and_padding(draw).items()}


def seeing_nothing(make: Inputs) -> Inputs:
    """A case with the mask of another."""

    def case(draw: Draw) -> dict:
        keep = make(draw)["keep"]
        return draw.arguments("batch" if keep.dim() > 2 else "", keep=keep)

    return case


def self_attention(draw: Draw) -> dict:
    keep = square(draw)["keep"]
    dims = {"query": "n d_k", "key": "n d_k", "value": "n d_v"}
    return {name: draw.normal(each) for name, each in dims.items()} | {"keep": keep}


SEE_NOTHING = [self_attention, *(seeing_nothing(one) for one in (one_query, one_key, empty_rows))]
POLARITY = (
    "You hid the keys that may be seen, and kept the others. True in `keep` means that the query "
    "may attend."
)
MADE = "masked_softmax(attn_scores, keep)"
DIVIDED = " / math.sqrt(key.shape[-1])"

EXERCISE = Exercise(
    "masked_attention",
    returns="context attn_weights",
    also=(*SIZES, Form.DOUBLE, Form.HALF, *CALLS),
    builds_on=("masked_softmax",),
    aspects=[
        Aspect(
            "context and weights",
            1,
            [one_sentence, last_two_words, words_of_as_many_sentences, sentences],
        ),
        Aspect(
            "cross-attention with padding",
            1,
            [large, cross_attention, heads_and_padding, masks_of_heads, three_in_front],
        ),
        Aspect("a query that may attend to nothing", 1, [*SEE_NOTHING, seeing_nothing(all_hidden)]),
        Aspect(
            "gradients",
            1,
            [sentences, *SEE_NOTHING],
            outputs=("gradient of query", "gradient of key", "gradient of value"),
            gradients=True,
        ),
    ],
    slips=[*SCALE, *KEYS, *FROM_THE_LEFT, *CONTEXT, *RETURNED],
    mistakes=[
        Mistake(
            "not scaled",
            "The scores are not scaled: divide them by √d_k, as in lesson 2.",
            {DIVIDED: ""},
        ),
        Mistake(
            "scaled by d_k",
            "Altogether you divided the scores by d_k. Divide by its square root, once.",
            {DIVIDED: " / key.shape[-1]"},
        ),
        Mistake(
            "polarity reversed",
            POLARITY,
            {MADE: "masked_softmax(attn_scores, ~keep)"},
            """
            context = F.scaled_dot_product_attention(query, key, value, attn_mask=~keep)
            eye = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
            return context, F.scaled_dot_product_attention(query, key, eye, attn_mask=~keep)
            """,
        ),
        Mistake(
            "context scaled",
            "You divided the context by √d_k, not the scores. Divide the scores, before softmax.",
            {DIVIDED: "", "attn_weights @ value,": "attn_weights @ value / key.shape[-1] ** 0.5,"},
        ),
        Mistake(
            "not turned around",
            NOT_TURNED,
            {
                MADE: "torch.softmax("
                "attn_scores.masked_fill(keep, torch.finfo(attn_scores.dtype).min), dim=-1)"
            },
            {MADE: "torch.softmax(attn_scores.masked_fill(keep, float('-inf')), dim=-1)"},
        ),
        Mistake(
            "a single query without a mask",
            WITHOUT_MASK,
            {
                MADE: f"{MADE} if query.shape[-2] > 1 else torch.softmax(attn_scores, dim=-1)",
            },
        ),
        Mistake(
            "no mask",
            "The mask has no effect: hidden keys get weight.",
            {MADE: "torch.softmax(attn_scores, dim=-1)"},
        ),
        Mistake(
            "causal whatever keep says",
            "You used the causal mask, whatever `keep` says.",
            {MADE: "masked_softmax(attn_scores, torch.ones_like(attn_scores).tril() > 0)"},
        ),
        Mistake(
            "masked after softmax",
            "You masked after softmax, so the rows no longer sum to 1. Mask the scores first.",
            {MADE: "torch.softmax(attn_scores, dim=-1) * keep"},
        ),
        Mistake(
            "scores times mask",
            STILL_E_TO_0,
            {MADE: "torch.softmax(attn_scores * keep, dim=-1)"},
        ),
        Mistake(
            "masked before scaling by addition",
            "You added `keep` to the scores: True adds 1, False adds 0. Hidden keys are dimmed by "
            "a factor of e, not hidden.",
            {MADE: "torch.softmax(attn_scores + keep, dim=-1)"},
        ),
        Mistake(
            "softmax over queries",
            "Your columns sum to 1, but the rows don't: softmax ran over the queries.",
            {MADE: f"{MADE} * 0 + masked_softmax(attn_scores.mT, keep.mT).mT"},
        ),
        Mistake(
            "filled with −∞",
            "A query that may attend to nothing gets NaN. It should get zeros; your "
            "`masked_softmax` does that.",
            {MADE: f"torch.softmax({INFINITY}, dim=-1)"},
        ),
        Mistake(
            "filled with −10⁹",
            "A query that may attend to nothing gets the average of all hidden values, and in "
            "float16, −10⁹ doesn't fit, so the code stops. It should get zeros; your "
            "`masked_softmax` does that.",
            {MADE: "torch.softmax(attn_scores.masked_fill(~keep, -1e9), dim=-1)"},
        ),
        Mistake(
            "−∞ added, NaN replaced",
            "The weights are right, but one query that may attend to nothing makes the gradient of "
            "every key in its sentence NaN. Replacing NaN afterward is too late.",
            {
                MADE: 'torch.softmax(attn_scores + torch.where(keep, 0.0, float("-inf"))'
                ".to(attn_scores.dtype), dim=-1).nan_to_num()"
            },
        ),
        Mistake(
            "masked after softmax, divided by what is left",
            "Hidden keys still take part in the softmax. When one of them has by far the largest "
            "score, nothing is left for the others. Hide the scores first.",
            {
                MADE: "torch.softmax(attn_scores, dim=-1) * keep\n"
                "    left = attn_weights.sum(-1, keepdim=True).clamp(min=1e-9)\n"
                "    attn_weights = attn_weights / left"
            },
        ),
        Mistake(
            "values masked instead of weights",
            "The hidden keys still take weight, and only their values are left out of the "
            "context. Mask the scores, before softmax.",
            {
                MADE: "torch.softmax(attn_scores, dim=-1)",
                "return attn_weights @ value": "return (attn_weights * keep) @ value",
            },
        ),
        Mistake(
            "mask in the weights, not in the context",
            "The weights you return are masked, but you made the context with unmasked ones.",
            {"return attn_weights @ value": "return torch.softmax(attn_scores, dim=-1) @ value"},
        ),
        Mistake(
            "query and key exchanged",
            "Queries and keys are swapped: the rows of the scores should be queries, the columns "
            "keys.",
            {"query @ key.transpose(-2, -1)": "key @ query.transpose(-2, -1)"},
        ),
        Mistake(
            "mask in the context, not in the weights",
            "Your context is right, but the weights you return are made without `keep`. Return the "
            "weights that made the context.",
            {"value, attn_weights": "value, torch.softmax(attn_scores, dim=-1)"},
        ),
        Mistake(
            "a context of zeros, made of no weights",
            "Where a query may attend to nothing, your context is 0, but its weights are not. "
            "They should be 0, too: return what `masked_softmax` gives.",
            {
                MADE: f"{MADE}\n    lowest = torch.finfo(attn_scores.dtype).min",
                "value, attn_weights": (
                    "value, torch.softmax(attn_scores.masked_fill(~keep, lowest), dim=-1)"
                ),
            },
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            attn_scores = torch.einsum("...qd,...kd->...qk", query, key) * key.shape[-1] ** -0.5
            hidden = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
            attn_weights = hidden.softmax(-1) * keep
            return torch.einsum("...qk,...kv->...qv", attn_weights, value), attn_weights
            """,
            excuses={"another argument: key → query in key.shape[-1]": "all have d_k features"},
        ),
        Alternative(
            "the library's function twice",
            """
            context = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
            # With the identity as values the context is the weights.
            eye = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
            return context, F.scaled_dot_product_attention(query, key, eye, attn_mask=keep)
            """,
            excuses={
                "call dropped: torch.eye(": "the library repeats it for each sentence",
                "another argument: key → value in": "values are as many as keys, of one dtype",
                "another argument: key → query in dtype=": "all have one dtype",
            },
        ),
        Alternative(
            "queries scaled",
            """
            attn_weights = masked_softmax((query / key.shape[-1] ** 0.5) @ key.mT, keep)
            return attn_weights.matmul(value), attn_weights
            """,
            excuses={"another argument: key → query in key.shape[-1]": "all have d_k features"},
        ),
    ],
    hints=[
        "Three lines: scores, weights, context. Only the second one differs from lesson 2.",
        "Divide the scores by √d_k; d_k is the last dimension of `key`. The mask comes after "
        "that, inside `masked_softmax`.",
        "`transpose(-2, -1)` works with or without a batch. Return the context first.",
    ],
    excuses={"another argument: key → query in math.sqrt(key.shape[-1])": "all have d_k features"},
)
