"""Attention without softmax and without scaling, all words at once."""

from typing import Any

from autograder.exercises.slips import FROM_THE_LEFT, KEYS
from autograder.lessons.cases import drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

SCORES = "query @ key.transpose(-2, -1)"
MASKED = "scores.tril()"
SAME_SIZE = {
    f"another argument: query → {name} in n =": "all have n words" for name in ("key", "value")
}


def square(draw: Draw) -> dict[str, Any]:
    """As many words as features, so that a shape doesn't tell which dimension is which."""
    words = {name: draw.normal("batch n n") for name in ("query", "key")}
    return draw.arguments("batch") | words


def large_at_the_end(draw: Draw) -> dict[str, Any]:
    """A very large value in the last word, whose own query asks for nothing."""
    draw.label("a very large value at the end")
    made = draw.arguments("batch")
    made["value"][..., -1, :] *= 1e10
    made["query"][..., -1, :] = 0
    return made


def long(draw: Draw) -> dict[str, Any]:
    return draw.fix(n=150).arguments()


EXERCISE = Exercise(
    "linear_attention",
    returns="context",
    aspects=[
        Aspect(
            "each word sees those before it, and itself",
            2,
            [
                drawn(),
                drawn("batch n_heads"),
                square,
                long,
                large_at_the_end,
                drawn("batch", scale=30.0),
            ],
        ),
        Aspect(
            "not causal",
            1,
            [
                drawn("batch", causal=False),
                drawn("batch n_heads", causal=False),
            ],
        ),
        connected(drawn("batch"), drawn("batch", causal=False)),
    ],
    slips=[
        *KEYS,
        *(slip for slip in FROM_THE_LEFT if slip.old == KEYS[0].old),
    ],
    mistakes=[
        Mistake(
            "softmax left in",
            "You took a softmax of the scores. Here the scores themselves are the weights.",
            {f"scores = {SCORES}": f"scores = ({SCORES}).softmax(dim=-1)"},
            {"return scores @": "return scores.softmax(dim=-1) @"},
            {
                MASKED: "scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf)",
                "return scores @": "return scores.softmax(dim=-1) @",
            },
        ),
        Mistake(
            "scaled",
            "You divided the scores by √d_k. This attention doesn't scale.",
            {f"scores = {SCORES}": f"scores = {SCORES} / key.shape[-1] ** 0.5"},
        ),
        Mistake(
            "divided by the sum",
            "You divided by the sum of the scores. This version doesn't, because the sum may be "
            "near 0.",
            {"return scores @": "return scores / scores.sum(dim=-1, keepdim=True) @"},
        ),
        Mistake(
            "−∞ for a masked score",
            "You set masked scores to −∞. Without softmax, a score is a weight, so a masked word's "
            "score must be 0.",
            {MASKED: "scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf)"},
        ),
        Mistake(
            "a large negative number for a masked score",
            "You set masked scores to a large negative number. Without softmax, a score is a "
            "weight, "
            "so a masked word's score must be 0.",
            {MASKED: "scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -1e9)"},
        ),
        Mistake(
            "almost 0 for a masked score",
            "You set masked scores to a small number. Where a later value is very large, that "
            "still counts. A masked word has the weight 0.",
            {MASKED: "scores.masked_fill(torch.ones_like(scores).triu(1) == 1, 1e-9)"},
            {MASKED: "scores.masked_fill(torch.ones_like(scores).triu(1) == 1, 1e-6)"},
        ),
        Mistake(
            "negative scores left out",
            "You set negative scores to 0. Leave them: without softmax, a weight may be negative.",
            {"return scores @": "return scores.clamp(min=0) @"},
        ),
        Mistake(
            "a feature map",
            "You passed queries and keys through a function first, as Katharopoulos et al. do. "
            "Here they stay as they are.",
            {SCORES: "F.elu(query).add(1) @ F.elu(key).add(1).transpose(-2, -1)"},
            {SCORES: "query.relu() @ key.relu().transpose(-2, -1)"},
            {SCORES: "query.exp() @ key.exp().transpose(-2, -1)"},
        ),
        Mistake(
            "a mean",
            "You divided by the number of words. Add up, without dividing.",
            {"return scores @ value": "return scores @ value / query.shape[-2]"},
            {
                "return scores @ value": (
                    "seen = torch.arange(1, query.shape[-2] + 1, dtype=value.dtype)[:, None]\n"
                    "    seen = seen if causal else torch.full_like(seen, query.shape[-2])\n"
                    "    return scores @ value / seen"
                )
            },
        ),
        Mistake(
            "the future left in",
            "Your words see later words. Mask those if `causal`, which is True by default; `tril` "
            "keeps the rest.",
            {"if causal": "if False"},
        ),
        Mistake(
            "always causal",
            "You masked the later words though `causal` is False.",
            {"if causal": "if True"},
        ),
        Mistake(
            "causal the wrong way around",
            "You mask the later words if `causal` is False, and not if it is True.",
            {"if causal": "if not causal"},
        ),
        Mistake(
            "a word doesn't see itself",
            "Your words don't see themselves. Keep the diagonal.",
            {MASKED: "scores.tril(-1)"},
        ),
        Mistake(
            "one word of the future",
            "Your words see the one after them.",
            {MASKED: "scores.tril(1)"},
        ),
        Mistake(
            "the past masked",
            "Your words see themselves and later words. Keep the earlier ones: `tril`.",
            {MASKED: "scores.triu()"},
        ),
        Mistake(
            "the sum over another dimension",
            "Your sum of key times value runs along the first dimension. With a batch, that isn't "
            "the words. They are third from the end there: `dim=-3`.",
            """
            products = key[..., :, None] * value[..., None, :]
            state = products.cumsum(dim=0) if causal else products.sum(dim=0, keepdim=True)
            return (query[..., None, :] @ state).squeeze(-2)
            """,
        ),
        Mistake(
            "the keys as values",
            "You added up the keys. Add up the values.",
            {"return scores @ value": "return scores @ key"},
        ),
        Mistake(
            "queries and keys exchanged",
            "You swapped queries and keys, so each row belongs to a key.",
            {SCORES: "key @ query.transpose(-2, -1)"},
        ),
    ],
    alternatives=[
        Alternative(
            "a sum of products so far",
            """
            products = key[..., :, None] * value[..., None, :]
            state = products.cumsum(dim=-3) if causal else products.sum(dim=-3, keepdim=True)
            return (query[..., None, :] @ state).squeeze(-2)
            """,
        ),
        Alternative(
            "by einsum, with a mask",
            """
            scores = torch.einsum("...qd,...kd->...qk", query, key)
            if causal:
                n = query.shape[-2]
                scores = scores * torch.ones(n, n, dtype=scores.dtype).tril()
            return torch.einsum("...qk,...kv->...qv", scores, value)
            """,
            excuses=SAME_SIZE
            | {"keyword dropped: torch.ones": "the product takes the dtype of the scores"},
        ),
        Alternative(
            "the state first",
            """
            if not causal:
                return query @ (key.transpose(-2, -1) @ value)
            n = query.shape[-2]
            later = torch.ones(n, n, dtype=torch.bool).triu(1)
            return (query @ key.transpose(-2, -1)).masked_fill(later, 0) @ value
            """,
            excuses=SAME_SIZE | {"another fill": "that is 0, too"},
        ),
    ],
    hints=[
        "The scores are all dot products of a query and a key, as in lesson 2.",
        "If `causal`, a score above the diagonal becomes 0. `tril` keeps what is on the diagonal "
        "and below it.",
        "The contexts are the product of the scores and the values.",
    ],
)
