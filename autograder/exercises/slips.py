"""Slips that attention invites in many exercises: what to say, the right code, the wrong code."""

from collections.abc import Iterable
from dataclasses import replace

from autograder.errors import AuthoringError
from autograder.lessons.variants import Slip


def without(slips: Iterable[Slip], *names: str) -> list[Slip]:
    """Leave out slips that are right in an exercise, or that the exercise names differently."""
    slips = list(slips)
    if unknown := set(names) - {slip.name for slip in slips}:
        raise AuthoringError(f"there is no slip {', '.join(sorted(unknown))} to leave out")
    return [slip for slip in slips if slip.name not in names]


def renamed(slips: Iterable[Slip], old: str, new: str) -> list[Slip]:
    """Adapt the words to an exercise that says d_head where others say d_k."""
    return [replace(s, name=s.name.replace(old, new), say=s.say.replace(old, new)) for s in slips]


ROOT = "$X / $D ** 0.5"
FEATURES = "$K.shape[-1]"
TURNED = "$K.transpose(-2, -1)"
SCORES = "$Q @ $K.transpose(-2, -1)"
SOFTMAX = "torch.softmax($X, dim=-1)"
SUM = "attn_weights @ value"
KEPT = "self.attn_weights = $W.detach()"

HALF_OF_D_K = (
    "You divided by d_k / 2, not √d_k, which is `d_k ** 0.5`. Python reads `d_k ** 1/2` as "
    "(d_k ** 1) / 2."
)
TWICE_D_K = (
    "You divided by 2 · d_k, not √d_k, which is `d_k ** 0.5`. Python reads `x / d_k ** 1 / 2` as "
    "(x / d_k) / 2."
)
ROUNDED_DOWN = (
    "You rounded √d_k down to a whole number, as `int(…)` and `math.isqrt` do. Keep its decimals: "
    "`d_k ** 0.5`."
)

SCALE = (
    Slip("not scaled", "The scores are not scaled: divide them by √d_k.", ROOT, "$X"),
    Slip(
        "divided by d_k",
        "Altogether you divided by d_k. Divide by its square root, once.",
        ROOT,
        "$X / $D",
    ),
    Slip(
        "times √d_k",
        "You multiplied the scores by √d_k. Divide: they are too large, not too small.",
        ROOT,
        "$X * $D ** 0.5",
    ),
    Slip("half of d_k", HALF_OF_D_K, ROOT, "$X / ($D ** 1 / 2)"),
    Slip("√d_k rounded down", ROUNDED_DOWN, ROOT, "$X / int($D ** 0.5)"),
    Slip("divided by d_k, and by 2", TWICE_D_K, ROOT, "$X / $D ** 1 / 2"),
    Slip(
        "divided by √2",
        "You divided by √2, whatever the size. Take d_k from the keys: `shape[-1]`.",
        FEATURES,
        "2",
    ),
    Slip(
        "divided by √n_key",
        "You divided by the square root of the number of words. d_k is the number of features, "
        "the last dimension.",
        FEATURES,
        "$K.shape[-2]",
    ),
    Slip(
        "divided by √d_v",
        "You divided by √d_v. Each score is a sum of d_k products, so use the number of features "
        "of the keys.",
        FEATURES,
        "value.shape[-1]",
    ),
    Slip(
        "divided by √d_in",
        "You divided by √d_in. Each score is a sum of d_k products, so use the number of features "
        "of the keys, not of the words.",
        FEATURES,
        "words.shape[-1]",
    ),
)

KEYS = (
    Slip(
        "no transpose",
        "The shapes of query and key don't match: both have the features last. Transpose the "
        "keys, so that features meet features.",
        TURNED,
        "$K",
    ),
    Slip(
        "transpose on the wrong side",
        "You transposed the queries, so their rows are now features. Transpose the keys instead.",
        SCORES,
        "$Q.transpose(-2, -1) @ $K",
    ),
    Slip(
        "reshaped instead of transposed",
        "`reshape` and `view` keep the numbers in reading order; they don't turn rows into "
        "columns. Transpose the keys: `transpose(-2, -1)`.",
        TURNED,
        "$K.reshape(*$K.shape[:-2], $K.shape[-1], $K.shape[-2])",
    ),
)

# For inputs with leading dimensions, such as a batch or heads.
FROM_THE_LEFT = (
    Slip(
        "shape[1]",
        "`shape[1]` is d_k for one sentence, but not in a batch, where another dimension comes "
        "second. `shape[-1]` is right for both.",
        FEATURES,
        "$K.shape[1]",
    ),
    Slip(
        "shape[0]",
        "`shape[0]` is the number of words, or in a batch the number of sentences. d_k is the "
        "number of features: `shape[-1]`.",
        FEATURES,
        "$K.shape[0]",
    ),
    Slip(
        "transpose(0, 1)",
        "`transpose(0, 1)` swaps the first two dimensions, and in a batch the first is the batch. "
        "Swap the last two: `transpose(-2, -1)`.",
        TURNED,
        "$K.transpose(0, 1)",
    ),
    Slip(
        "transpose(1, 2)",
        "A dimension is counted from the left, as in `transpose(1, 2)` or `dim=2`: that works "
        "only for a batch. Counted from the end, −2 and −1, it always works.",
        TURNED,
        "$K.transpose(1, 2)",
    ),
    Slip(
        ".T",
        "`.T` reverses all dimensions, including the batch. Swap only the last two: "
        "`transpose(-2, -1)`.",
        TURNED,
        "$K.T",
    ),
    Slip(
        "softmax over dim 1",
        "`dim=1` is the keys for one sentence; in a batch it is the queries. `dim=-1` is right for "
        "both.",
        SOFTMAX,
        "torch.softmax($X, dim=1)",
    ),
    Slip(
        "softmax over dim 0",
        "Softmax ran over the first dimension: the queries, or in a batch the sentences. It "
        "should run over the keys, the last dimension.",
        SOFTMAX,
        "torch.softmax($X, dim=0)",
    ),
)

WEIGHTS = (
    Slip(
        "softmax over queries",
        "Your columns sum to 1, but the rows don't: softmax ran over the queries. Each query "
        "divides its weight among the keys, the last dimension.",
        SOFTMAX,
        "torch.softmax($X, dim=-2)",
    ),
    Slip(
        "one softmax for everything",
        "All your weights together sum to 1. Each query's row should sum to 1 on its own.",
        SOFTMAX,
        "$X.flatten().softmax(0).view_as($X)",
    ),
    Slip(
        "no softmax",
        "You used the scores as they are. Turn them into weights with softmax.",
        SOFTMAX,
        "$X",
    ),
    Slip(
        "divided by the sum",
        "You divided the scores by their sum. With negative scores that gives negative weights; "
        "use softmax.",
        SOFTMAX,
        "$X / $X.sum(-1, keepdim=True)",
    ),
    Slip(
        "not stable",
        "Large scores break it: their exponentials overflow, and infinity / infinity is NaN. Use "
        "the stable softmax.",
        SOFTMAX,
        "$X.exp() / $X.exp().sum(-1, keepdim=True)",
    ),
    Slip(
        "hard attention",
        "Each query gave all its weight to one key. Softmax gives every key a share.",
        SOFTMAX,
        "($X == $X.amax(-1, keepdim=True)).to($X.dtype)",
    ),
)

CONTEXT = (
    Slip(
        "key as value",
        "The weights are right, but you added up the keys. Keys are there to be found; add up the "
        "values instead.",
        SUM,
        "attn_weights @ key",
    ),
    Slip(
        "words as values",
        "The weights are right, but you added up the words themselves. Project them to values "
        "first.",
        SUM,
        "attn_weights @ words",
    ),
    Slip(
        "weights times values",
        "`*` multiplies element by element. The weighted sum of the values is a matrix product.",
        SUM,
        "attn_weights * value",
    ),
    Slip(
        "weights transposed in the sum",
        "The weights are right, but the sum used them transposed.",
        SUM,
        "attn_weights.transpose(-2, -1) @ value",
    ),
    Slip(
        "context of the scores",
        "The weights are right, but the context was made from the scores before softmax.",
        SUM,
        "attn_scores @ value",
    ),
)

KEEPING = (
    Slip(
        "scores kept",
        "You kept the scores before softmax as `attn_weights`. Keep the weights.",
        KEPT,
        "self.attn_weights = attn_scores.detach()",
    ),
)

RETURNED = (
    Slip(
        "scores returned",
        "The context is right, but the second tensor you returned is the scores before softmax. "
        "Return the weights.",
        "return $C, attn_weights",
        "return $C, attn_scores",
    ),
    Slip(
        "order exchanged",
        "Both results are right, but in the wrong order: first the context, then the weights.",
        "return $C, attn_weights",
        "return attn_weights, $C",
    ),
    Slip(
        "context only",
        "You returned one tensor. Return two things: the context and the weights.",
        "return $C, attn_weights",
        "return $C",
    ),
    Slip(
        "weights only",
        "You returned one tensor. Return two things: the context and the weights.",
        "return $C, attn_weights",
        "return attn_weights",
    ),
)
