"""Lesson 4: masks, and a test that finds what they let through."""

import torch
from torch import Tensor

from autograder.asking.arguments import Code
from autograder.exercises.slips import CONTEXT, FROM_THE_LEFT, KEYS, RETURNED, SCALE, WEIGHTS
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    HALF,
    ONES,
    Aspect,
    Exercise,
    Inputs,
)
from autograder.lessons.variants import Alternative, Mistake

# ---------------------------------------------------------------- causal_keep

causal_keep = Exercise(
    "causal_keep",
    returns="keep",
    also=(ONES, AGAIN),
    aspects=[
        Aspect("the word itself and those before it", 1, [lambda draw: {"n": draw.size("n")}]),
        Aspect(
            "sentences of any length",
            1,
            [
                lambda draw: {"n": 1},
                lambda draw: {"n": 2},
                lambda draw: {"n": draw.fix(n=10 + draw.size("more")).size("n")},
                lambda draw: {"n": 70},
                lambda draw: {"n": 130},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "reversed",
            "Your words see themselves and the words after them. Row i is the query: it should "
            "be True for keys 0 to i.",
            {">=": "<="},
        ),
        Mistake(
            "what to hide",
            "Your True entries are the keys to hide. In `keep`, True means that the query may "
            "attend to the key.",
            {">=": "<"},
            {"position[:, None] >= position": "(position[:, None] > position).T"},
        ),
        Mistake(
            "itself hidden",
            "The diagonal is False: no word may see itself, and the first sees nothing at all. "
            "A word may attend to itself.",
            {">=": ">"},
        ),
        Mistake(
            "one word too far",
            "Each word sees one word of the future, the very one a language model has to guess. "
            "The last True in row i belongs in column i.",
            {"[:, None] >=": "[:, None] + 1 >="},
        ),
        Mistake(
            "everything",
            "Everything is True: every word sees the whole sentence, its future too.",
            "return torch.ones(n, n, dtype=torch.bool)",
        ),
        Mistake(
            "only itself",
            "Only the diagonal is True: each word sees itself and none of the words before it.",
            "return torch.eye(n, dtype=torch.bool)",
        ),
        Mistake(
            "from the wrong corner",
            "Your mask opens from the wrong corner. Row 0, the first word, should see one key: "
            "the first.",
            {"return position[:, None] >=": "return n - 1 - position[:, None] <="},
        ),
        Mistake(
            "numbers",
            "These are floats, 0.0 and 1.0, in the right places. Return booleans: a float mask "
            "means something else, as this lesson will show. `.bool()` converts them.",
            "return torch.ones(n, n).tril()",
        ),
        Mistake(
            "whole numbers",
            "These are integers, 0 and 1, in the right places. Return booleans: `~` of an integer "
            "is not its opposite. `.bool()` converts them.",
            "return torch.ones(n, n, dtype=torch.int64).tril()",
        ),
        Mistake(
            "additive mask",
            "That is an additive mask, zeros and −∞. It comes later in this lesson; here "
            "`keep` is a boolean, True where the query may attend.",
            'return torch.full((n, n), float("-inf")).triu(1)',
        ),
        Mistake(
            "a batch of one",
            "You have one dimension too many: the shape should be (n, n), without a batch.",
            {
                "return position[:, None] >= position": (
                    "return (position[:, None] >= position)[None]"
                )
            },
        ),
        Mistake(
            "fixed size",
            "The size is fixed at 6 words. Use `n`.",
            {"torch.arange(n)": "torch.arange(6)"},
        ),
    ],
    alternatives=[
        Alternative("lower triangle", "return torch.ones(n, n, dtype=torch.bool).tril()"),
        Alternative("tril of floats, made boolean", "return torch.tril(torch.ones(n, n)) == 1"),
        Alternative(
            "not the upper triangle",
            "return ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)",
        ),
        Alternative(
            "two loops",
            "return torch.tensor([[key <= query for key in range(n)] for query in range(n)])",
        ),
    ],
    hints=[
        "Query i may attend to key j if j is not larger than i. Compare `torch.arange(n)` with "
        "itself, after turning one of the two into a column.",
        "`x[:, None]` turns a row into a column. Which one is the query: the column or the row?",
        "There is a shortcut as well: `tril` keeps the lower triangle of a matrix, diagonal "
        "included. Make the matrix boolean first.",
    ],
)

# ---------------------------------------------------------------- padding_keep


def padded(draw: Draw) -> dict:
    return {"lengths": draw.lengths("batch", "n"), "n": draw.size("n")}


def empty_sentence(draw: Draw) -> dict:
    """One sentence has no words, and no sentence fills all places."""
    lengths = draw.lengths("batch", "longest")
    lengths[-1] = 0
    # Above all other sizes, which are drawn from 3 to 7.
    return {"lengths": lengths, "n": draw.fix(n=draw.size("longest") + 6).size("n")}


padding_keep = Exercise(
    "padding_keep",
    returns="keep",
    also=(ONES, AGAIN),
    aspects=[
        Aspect("the first words of each sentence", 2, [padded, padded]),
        Aspect("empty sentences, and places that no sentence fills", 1, [empty_sentence]),
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
        ),
        Alternative(
            "rows of the causal mask",
            """
            prefixes = torch.ones(n + 1, n, dtype=torch.bool).tril(-1)
            return prefixes[lengths].unsqueeze(1)
            """,
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
    excuses={
        "sentence by sentence / another number: 0 → -1": "lengths have one dimension",
        "rows of the causal mask / another number: 1 → 2": (
            "one row more than needed changes nothing"
        ),
    },
)

# ---------------------------------------------------------------- masked_softmax


def masked_rows(scores: str, keep: str, offset: float = 0.0, rows: float = 0.0) -> Inputs:
    """Scores of shape `scores`, all moved by `offset` and each row by `rows` times a number."""

    def inputs(draw: Draw) -> dict:
        attn_scores = draw.normal(scores) + offset
        leading = scores.rpartition(" ")[0]
        attn_scores = attn_scores + draw.normal(leading, rows)[..., None]
        return {"attn_scores": attn_scores, "keep": draw.keep(keep)}

    return inputs


def largest_hidden(draw: Draw) -> dict:
    """Each hidden key has a far larger score than every visible one."""
    scores, keep = draw.normal("n_query n_key"), draw.keep("n_query n_key")
    return {"attn_scores": scores + 200 * ~keep, "keep": keep}


def padded_keep(draw: Draw, n_key: str = "n_key") -> Tensor:
    """A mask of padding, [batch, 1, n_key]."""
    lengths = draw.lengths("batch", n_key)
    return (torch.arange(draw.size(n_key)) < lengths[:, None])[:, None]


def padded_rows(draw: Draw) -> dict:
    return draw.arguments("batch", keep=padded_keep(draw))


def padded_heads(draw: Draw) -> dict:
    scores = draw.normal("batch n_heads n_query n_key")
    return {"attn_scores": scores, "keep": padded_keep(draw)[:, None]}


def empty_row(draw: Draw) -> dict:
    keep = draw.keep("n_query n_key")
    keep[1] = False
    return {"attn_scores": draw.normal("n_query n_key"), "keep": keep}


def empty_rows(draw: Draw) -> dict:
    """One row of the first sentence, and the whole of the second, may attend to nothing."""
    keep = draw.keep("batch n_query n_key")
    keep[0, -1], keep[1] = False, False
    return {"attn_scores": draw.normal("batch n_query n_key"), "keep": keep}


NO_EFFECT = (
    "Hidden keys get weight as if there were no mask. Did you use the result of `masked_fill`? It "
    "returns a new tensor and leaves its input as it is."
)
STILL_E_TO_0 = (
    "You set the hidden scores to 0, but softmax turns a score of 0 into e⁰ = 1. To get a weight "
    "of 0, a score has to be very negative."
)
EMPTY_ROW_NAN = (
    "A row with nothing to attend to gives NaN, from −∞ − (−∞), 0/0 or ∞ · 0. It should give zeros."
)
EMPTY_ROW_EVEN = (
    "In a row with nothing to attend to, the weight is spread evenly over the hidden keys: all "
    "scores there are equally low. Set the weights of hidden keys to 0 after softmax as well."
)
NAN_GRADIENT = (
    "The weights are right, but the gradient of a row with nothing to attend to is NaN. Replacing "
    "NaN afterward is too late: the backward pass of softmax, or of your division, still meets "
    "it. Don't let NaN arise at all."
)
WRITES = (
    "Your code writes into the caller's scores (`masked_fill_`, or `attn_scores[~keep] = …`). "
    "`masked_fill`, without the underscore, returns a new tensor."
)
TO_HIDDEN = "The largest number draws all the weight to hidden keys; you want `.min`."
EMPTIED = (
    "Every row with a hidden key became zeros. Either your fill draws all the weight to hidden "
    "keys (you want `.min`, not `.max`), or you emptied more than the rows in which all keys "
    "are hidden (`any` asks whether one may be seen)."
)
FILL = "attn_scores.masked_fill(~keep, lowest)"
INFINITY = 'attn_scores.masked_fill(~keep, float("-inf"))'

masked_softmax = Exercise(
    "masked_softmax",
    returns="attn_weights",
    also=(ONES, DOUBLE, HALF, GRADIENTS, AGAIN),
    aspects=[
        Aspect(
            "hidden keys get nothing, the others share 1",
            2,
            [
                masked_rows("n_query n_key", "n_query n_key"),
                masked_rows("batch n_query n_key", "batch n_query n_key"),
            ],
        ),
        Aspect(
            "one mask for many rows",
            1,
            [
                padded_rows,
                padded_heads,
                masked_rows("batch n_heads n_query n_key", "n_query n_key"),
            ],
        ),
        Aspect(
            "scores far from 0",
            1,
            [
                masked_rows("n_query n_key", "n_query n_key", offset=150),
                masked_rows("n_query n_key", "n_query n_key", offset=-150),
                masked_rows("n_query n_key", "n_query n_key", offset=-20_000),
                masked_rows("n_query n_key", "n_query n_key", rows=300),
                largest_hidden,
            ],
        ),
        Aspect("a row with nothing to attend to", 1, [empty_row, empty_rows]),
        Aspect(
            "clean gradients",
            2,
            [masked_rows("n_query n_key", "n_query n_key"), empty_row, empty_rows],
            outputs=("gradient of attn_scores",),
            gradients=True,
        ),
    ],
    slips=WEIGHTS,
    mistakes=[
        Mistake(
            "renormalized after softmax",
            "Hidden keys still take part in the softmax. When one of them has by far the largest "
            "score, nothing is left for the others. Hide the scores first, and wholly.",
            """
            attn_weights = torch.softmax(attn_scores, dim=-1) * keep
            total = attn_weights.sum(dim=-1, keepdim=True)
            return attn_weights / torch.where(total > 0, total, torch.ones_like(total))
            """,
            """
            attn_weights = torch.softmax(attn_scores, dim=-1) * keep
            return attn_weights / (attn_weights.sum(dim=-1, keepdim=True) + 1e-9)
            """,
        ),
        Mistake(
            "reversed",
            "You hid the keys that may be seen, and kept the others. `masked_fill` fills where "
            "its mask is True, so it needs `~keep`.",
            {
                FILL: "attn_scores.masked_fill(keep, lowest)",
                "attn_weights.masked_fill(~keep, 0.0)": "attn_weights.masked_fill(keep, 0.0)",
            },
        ),
        Mistake(
            "filled where True",
            "Nearly all weights are 0: the fill hid the keys that may be seen (`masked_fill` "
            "fills where its mask is True), and the last line hid the others.",
            {FILL: "attn_scores.masked_fill(keep, lowest)"},
        ),
        Mistake(
            "mask without effect",
            NO_EFFECT,
            """
            attn_scores.masked_fill(~keep, float("-inf"))
            return torch.softmax(attn_scores, dim=-1)
            """,
        ),
        Mistake(
            "scores times mask",
            STILL_E_TO_0,
            "return torch.softmax(attn_scores * keep, dim=-1)",
            "return torch.softmax(attn_scores.masked_fill(~keep, 0.0), dim=-1)",
            """
            tiny = torch.finfo(attn_scores.dtype).tiny
            return torch.softmax(attn_scores.masked_fill(~keep, tiny), dim=-1)
            """,
        ),
        Mistake(
            "filled with 0, weights set to 0",
            "The hidden scores were about 0, so each one added e⁰ = 1 to the sum. To add nothing, "
            "a score has to be very negative.",
            {FILL: "attn_scores.masked_fill(~keep, 0.0)"},
        ),
        Mistake(
            "filled with the largest number",
            EMPTIED,
            {"(attn_scores.dtype).min": "(attn_scores.dtype).max"},
            {
                "attn_weights.masked_fill(~keep, 0.0)": (
                    "attn_weights.masked_fill(~keep.all(-1, keepdim=True), 0.0)"
                )
            },
        ),
        Mistake(
            "filled with the largest number, nothing after",
            TO_HIDDEN,
            {"(attn_scores.dtype).min": "(attn_scores.dtype).max", ".masked_fill(~keep, 0.0)": ""},
        ),
        Mistake(
            "filled with −1",
            "You set the hidden scores to −1, and softmax turns that into e⁻¹ ≈ 0.37: dimmed, not "
            "hidden.",
            "return torch.softmax(attn_scores.masked_fill(~keep, -1.0), dim=-1)",
        ),
        Mistake(
            "filled with −100",
            "A score of −100 hides a key only while the others are far above. With scores near "
            "−150, the hidden ones are the largest. Use the dtype's lowest number.",
            {"torch.finfo(attn_scores.dtype).min": "-100.0"},
        ),
        Mistake(
            "filled with −10⁴",
            "A score of −10⁴ hides a key only while the others are far above. With scores near "
            "−20000, the hidden ones are the largest. Use the dtype's lowest number.",
            {"torch.finfo(attn_scores.dtype).min": "-1e4"},
        ),
        Mistake(
            "filled with +∞",
            "You set the hidden scores to +∞, the most attractive score there is, and ∞ − ∞ is "
            "NaN. The sign is wrong.",
            'return torch.softmax(attn_scores.masked_fill(~keep, float("inf")), dim=-1)',
        ),
        Mistake(
            "mask added to the scores",
            "You added `keep` to the scores: True adds 1, False adds 0. Hidden keys are dimmed by "
            "a factor of e, not hidden.",
            "return torch.softmax(attn_scores + keep, dim=-1)",
        ),
        Mistake(
            "zero times infinity",
            "Everything is NaN: where a key may be seen, (1 − 1) · (−∞) is 0 · ∞, which is NaN. "
            "Use `masked_fill` or `torch.where`, which don't multiply.",
            """
            hidden = 1 - keep.to(attn_scores.dtype)
            return torch.softmax(attn_scores + hidden * float("-inf"), dim=-1)
            """,
        ),
        Mistake(
            "masked after softmax",
            "You masked after softmax: the rows no longer sum to 1, and the hidden scores are "
            "still in the sum that the others were divided by. Mask the scores first, and keep "
            "what `masked_fill` returns: it leaves its tensor as it is.",
            "return torch.softmax(attn_scores, dim=-1) * keep",
        ),
        Mistake(
            "normalized over everything",
            "All your weights together sum to 1. Each row needs its own sum.",
            """
            exps = torch.softmax(attn_scores, dim=-1) * keep
            return exps / exps.sum()
            """,
        ),
        Mistake(
            "softmax over dimension 1",
            "This is right only without a batch, where dimension 1 is the keys. In a batch it is "
            "the queries. Count from the end: −1.",
            {"dim=-1": "dim=1"},
        ),
        Mistake(
            "mask turned round",
            "You transposed the mask. Its rows are queries and its columns keys, as in the scores.",
            {"lowest = ": "keep = keep.transpose(-2, -1)\n    lowest = "},
        ),
        Mistake(
            "whole queries hidden",
            "You hid whole queries. `keep` says for each query which keys it may see.",
            """
            seen = keep.any(-1, keepdim=True)
            return torch.softmax(attn_scores, dim=-1).masked_fill(~seen, 0.0)
            """,
        ),
        Mistake(
            "only the first mask of the batch",
            "Every sentence got the mask of the first. `keep` may have a batch of its own.",
            {"lowest = ": "keep = keep.reshape(-1, *keep.shape[-2:])[0]\n    lowest = "},
        ),
        Mistake(
            "causal whatever keep says",
            "You hid the future and ignored `keep`. Use the mask you are given.",
            {"lowest = ": "keep = torch.ones_like(attn_scores).tril().bool()\n    lowest = "},
        ),
        Mistake(
            "filled with −∞",
            EMPTY_ROW_NAN,
            f"return torch.softmax({INFINITY}, dim=-1)",
        ),
        Mistake(
            "renormalized after softmax, by 0",
            "You masked after softmax and divided by what was left. But hidden keys took part in "
            "the softmax: where one of them has by far the largest score, nothing is left, and 0/0 "
            "is NaN. Hide the scores first.",
            """
            attn_weights = torch.softmax(attn_scores, dim=-1) * keep
            return attn_weights / attn_weights.sum(-1, keepdim=True)
            """,
        ),
        Mistake(
            "filled with −10⁹",
            EMPTY_ROW_EVEN,
            "return torch.softmax(attn_scores.masked_fill(~keep, -1e9), dim=-1)",
            {".masked_fill(~keep, 0.0)": ""},
        ),
        Mistake(
            "everything when there is nothing",
            "A row with nothing to attend to got the weights it would have without a mask. It "
            "should get zeros.",
            {"lowest = ": "keep = keep | ~keep.any(-1, keepdim=True)\n    lowest = "},
        ),
        Mistake(
            "−∞ added, NaN replaced",
            NAN_GRADIENT,
            """
            additive = torch.zeros(keep.shape, dtype=attn_scores.dtype)
            additive = additive.masked_fill(~keep, float("-inf"))
            return torch.softmax(attn_scores + additive, dim=-1).nan_to_num()
            """,
            """
            additive = torch.zeros(keep.shape, dtype=attn_scores.dtype)
            additive = additive.masked_fill(~keep, float("-inf"))
            attn_weights = torch.softmax(attn_scores + additive, dim=-1)
            return torch.where(keep, attn_weights, torch.zeros_like(attn_weights))
            """,
        ),
        Mistake(
            "filled with −∞, NaN replaced",
            "The weights are right, and so is the gradient, but only because `masked_fill` wipes "
            "out the NaN that softmax passes back for a row with nothing to attend to. Don't let "
            "NaN arise at all: one other step in between, and it spreads.",
            f"return torch.softmax({INFINITY}, dim=-1).nan_to_num()",
            f"return torch.where(keep, torch.softmax({INFINITY}, dim=-1), 0.0)",
        ),
        Mistake(
            "detached",
            "The weights are right, but cut off from the scores, so no gradient flows back: is "
            "there a `detach`, a `no_grad` or a `.data`?",
            {"attn_weights.masked_fill(": "attn_weights.detach().masked_fill("},
        ),
        Mistake(
            "scores changed",
            WRITES,
            {"attn_scores.masked_fill(": "attn_scores.masked_fill_("},
            {
                FILL: "attn_scores",
                "attn_weights = ": (
                    "attn_scores[~keep.expand(attn_scores.shape)] = lowest\n    attn_weights = "
                ),
            },
        ),
        Mistake(
            "not stable",
            "Scores far from 0 break it: their exponentials overflow, or all become 0. Use "
            "`torch.softmax`, or subtract the largest score of the row first.",
            """
            exps = attn_scores.exp() * keep
            return exps / exps.sum(-1, keepdim=True).clamp(min=1e-30)
            """,
        ),
        Mistake(
            "logarithm of the weights",
            "You took the logarithm of the weights (log-softmax).",
            {"torch.softmax(": "torch.log_softmax("},
        ),
    ],
    alternatives=[
        Alternative(
            "a softmax by hand",
            """
            lowest = torch.finfo(attn_scores.dtype).min
            top = attn_scores.masked_fill(~keep, lowest).amax(-1, keepdim=True)
            gaps = (attn_scores - top).masked_fill(~keep, 0.0)
            exps = gaps.exp() * keep
            return exps / exps.sum(-1, keepdim=True).clamp(min=1e-30)
            """,
        ),
        Alternative(
            "powers of two and a logarithm",
            """
            lowest = torch.finfo(attn_scores.dtype).min
            bits = (attn_scores / math.log(2)).masked_fill(~keep, lowest)
            powers = torch.exp2(bits - bits.amax(-1, keepdim=True)) * keep
            return powers / (powers.sum(-1, keepdim=True) + ~keep.any(-1, keepdim=True))
            """,
        ),
        Alternative(
            "−10⁹ added, hidden weights times 0",
            """
            shifted = attn_scores + (~keep).to(attn_scores.dtype) * -1e9
            return torch.softmax(shifted, dim=-1) * keep
            """,
        ),
        Alternative(
            "empty rows opened for softmax and closed after it",
            """
            seen = keep.any(dim=-1, keepdim=True)
            scores = attn_scores.masked_fill(~keep & seen, float("-inf"))
            return torch.softmax(scores, dim=-1) * seen
            """,
        ),
        Alternative(
            "row by row",
            """
            scores, allowed = torch.broadcast_tensors(attn_scores, keep)
            n_key = scores.shape[-1]
            weights = []
            for row, may in zip(scores.reshape(-1, n_key), allowed.reshape(-1, n_key)):
                total = torch.zeros(n_key, dtype=scores.dtype)
                if may.any():
                    total = total.masked_scatter(may, torch.softmax(row[may], dim=0))
                weights.append(total)
            return torch.stack(weights).view(scores.shape)
            """,
        ),
        Alternative(
            "einsum for the sums",
            """
            lowest = torch.finfo(attn_scores.dtype).min
            hidden = attn_scores.masked_fill(~keep, lowest)
            exps = (hidden - hidden.amax(-1, keepdim=True)).exp() * keep
            sums = torch.einsum("...k->...", exps)[..., None]
            return exps / sums.clamp(min=1e-30)
            """,
        ),
    ],
    hints=[
        "Three steps: make the hidden scores very low, take the softmax of each row, set the "
        "weights of hidden keys to 0.",
        "`masked_fill(mask, number)` returns a tensor with the number wherever the mask is True. "
        "`keep` is True where nothing should be filled in.",
        "`torch.finfo(dtype).min` is the lowest number of a dtype. It is finite, so even a row "
        "full of it gives no NaN; the last step removes what such a row does give.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "another fill: $X * ~$M (3)": "times `keep` hides them as well",
        "a softmax by hand / another number: 0.0": "whatever fills these gaps is multiplied by 0",
        "a softmax by hand / another fill: $X.masked_fill($M, -1e4) (3)": ("likewise"),
        "a softmax by hand / another fill: $X.masked_fill($M, -100.0) (3)": ("likewise"),
        "a softmax by hand / another fill: $X * ~$M (3)": "likewise",
        "a softmax by hand / another number: 1e-30 → 1.0": (
            "a row with a key sums to 1 or more: the largest is exp(0)"
        ),
        "einsum for the sums / another number: 1e-30 → 1.0": "likewise",
        "powers of two and a logarithm / call dropped: keep.any": "adds 1 only to what divides 0",
        "−10⁹ added, hidden weights times 0 / another number: 1000000000.0": (
            "any number that large will do"
        ),
        "empty rows opened for softmax and closed after it / operands swapped": (
            "`&` is the same either way"
        ),
        "row by row / condition fixed": "a softmax over nothing is nothing",
        "row by row / another number: 0 → -1": "a row has one dimension",
    },
)

# ---------------------------------------------------------------- masked_attention


def one_sentence(draw: Draw) -> dict:
    return draw.arguments(keep=draw.keep("n_query n_key"))


def large(draw: Draw) -> dict:
    """Scores far below any number that is only fairly low."""
    return draw.arguments(scale=2000, keep=draw.keep("n_query n_key"))


def sentences(draw: Draw) -> dict:
    return draw.arguments("batch", keep=draw.keep("batch n_query n_key"))


def last_two_words(draw: Draw) -> dict:
    """As many queries as keys, and a mask that looks causal in its first row."""
    draw.label("each word sees itself and the one before")
    keep = torch.ones(5, 5, dtype=torch.bool).tril().triu(-1)
    words = {name: draw.normal_of((5, 4)) for name in ("query", "key", "value")}
    return words | {"keep": keep}


def cross_attention(draw: Draw) -> dict:
    return draw.arguments("batch", keep=padded_keep(draw))


def heads_and_padding(draw: Draw) -> dict:
    return draw.arguments("batch n_heads", keep=padded_keep(draw)[:, None])


def sees_nothing(draw: Draw) -> dict:
    return draw.arguments("batch", keep=empty_rows(draw)["keep"])


POLARITY = (
    "You hid the keys that may be seen, and kept the others. True in `keep` means that the query "
    "may attend."
)
MADE = "masked_softmax(attn_scores, keep)"
DIVIDED = " / math.sqrt(key.shape[-1])"

masked_attention = Exercise(
    "masked_attention",
    returns="context attn_weights",
    also=(ONES, DOUBLE, HALF, GRADIENTS, AGAIN),
    builds_on=("masked_softmax",),
    aspects=[
        Aspect("context and weights", 2, [one_sentence, last_two_words, sentences]),
        Aspect("cross-attention with padding", 1, [large, cross_attention, heads_and_padding]),
        Aspect("a query that may attend to nothing", 1, [sees_nothing]),
        Aspect(
            "gradients",
            1,
            [sentences, sees_nothing],
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
            "You divided the scores by d_k. Divide by its square root.",
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
            "A query that may attend to nothing gets the average of all hidden values. It "
            "should get zeros; your `masked_softmax` does that.",
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
        ),
        Alternative(
            "the library's function twice",
            """
            context = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
            # With the identity as values the context is the weights.
            eye = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
            return context, F.scaled_dot_product_attention(query, key, eye, attn_mask=keep)
            """,
        ),
        Alternative(
            "queries scaled",
            """
            attn_weights = masked_softmax((query / key.shape[-1] ** 0.5) @ key.mT, keep)
            return attn_weights.matmul(value), attn_weights
            """,
        ),
    ],
    hints=[
        "Three lines: scores, weights, context. Only the second one differs from lesson 2.",
        "Divide the scores by √d_k; d_k is the last dimension of `key`. The mask comes after "
        "that, inside `masked_softmax`.",
        "`transpose(-2, -1)` works with or without a batch. Return the context first.",
    ],
    excuses={
        "another argument: key → query in math.sqrt(key.shape[-1])": "all have d_k features",
        "einsum / another argument: key → query in key.shape[-1]": "all have d_k features",
        "queries scaled / another argument: key → query in key.shape[-1]": "all have d_k features",
        "the library's function twice / call dropped: torch.eye(": (
            "the library repeats it for each sentence"
        ),
        "the library's function twice / another argument: key → value in": (
            "values are as many as keys, of one dtype"
        ),
        "the library's function twice / another argument: key → query in dtype=": (
            "all have one dtype"
        ),
    },
)

# ---------------------------------------------------------------- to_torch_mha_mask

to_torch_mha_mask = Exercise(
    "to_torch_mha_mask",
    returns="hidden",
    also=(ONES, AGAIN),
    aspects=[
        Aspect(
            "True where a key is hidden",
            1,
            [
                lambda draw: {"keep": draw.keep("n_query n_key")},
                lambda draw: {"keep": draw.keep("batch n_query n_key")},
                lambda draw: {"keep": padded_keep(draw)},
            ],
        )
    ],
    mistakes=[
        Mistake(
            "keep as it is",
            "That is `keep` as it was. `nn.MultiheadAttention` hides what is True, so True and "
            "False have to trade places.",
            "return keep",
        ),
        Mistake(
            "bits turned round",
            "Everything is True: `~` of an integer flips its bits, ~1 = −2 and ~0 = −1, and "
            "both count as True. Use `~` on the boolean itself.",
            "return (~keep.int()).bool()",
        ),
        Mistake(
            "a mask of floats",
            "These are floats, in the right places, but `nn.MultiheadAttention` adds a float "
            "mask to the scores: hidden keys would gain 1. Return booleans.",
            "return (~keep).float()",
        ),
        Mistake(
            "a mask of integers",
            "These are integers, in the right places, but `nn.MultiheadAttention` doesn't accept "
            "them as a mask. Return booleans.",
            "return (~keep).int()",
        ),
        Mistake(
            "additive mask",
            "That is an additive mask, which comes in the next exercise. Return booleans here.",
            'return torch.zeros(keep.shape).masked_fill(~keep, float("-inf"))',
        ),
        Mistake(
            "transposed",
            "You transposed the mask. Rows and columns mean the same to `nn.MultiheadAttention`; "
            "True and False do not.",
            "return keep.transpose(-2, -1)",
        ),
        Mistake(
            "opposite and transposed",
            "True and False are right, but you transposed the mask as well. Rows are queries and "
            "columns keys in `nn.MultiheadAttention`, too.",
            "return ~keep.transpose(-2, -1)",
        ),
        Mistake(
            "minus keep",
            "Booleans can't be negated with a minus sign. The opposite is `~keep`, or "
            "`torch.logical_not(keep)`.",
            "return -keep",
        ),
        Mistake(
            "Python's not",
            "`not` asks whether the whole tensor is true, which has no answer. To flip each "
            "element, use `~` or `torch.logical_not`.",
            "return not keep",
        ),
        Mistake(
            "one minus keep",
            "PyTorch doesn't subtract booleans. The opposite of a boolean is `~keep`, or "
            "`torch.logical_not(keep)`.",
            "return 1 - keep",
        ),
        Mistake(
            "causal whatever keep says",
            "You returned the causal mask, whatever `keep` says.",
            "return torch.ones_like(keep).triu(1)",
        ),
    ],
    alternatives=[
        Alternative("logical not", "return torch.logical_not(keep)"),
        Alternative("compared with False", "return keep == False"),
        Alternative("unlike True", "return keep ^ True"),
        Alternative("through floats", "return (1 - keep.float()).bool()"),
    ],
    hints=[
        "The shape stays the same. Only the meaning of True changes.",
        "For every entry: True becomes False, and False becomes True.",
        "Python's operator for the opposite of a boolean tensor is the tilde.",
    ],
    excuses={
        "unlike True / operands swapped": "`^` is the same either way",
        "through floats / operands swapped": "whatever is not 0 is True",
    },
)

# ---------------------------------------------------------------- to_additive


def additive_in(dtype: torch.dtype, dims: str = "n_query n_key") -> Inputs:
    return lambda draw: {"keep": draw.keep(dims), "dtype": dtype}


to_additive = Exercise(
    "to_additive",
    returns="additive",
    also=(ONES, AGAIN),
    aspects=[
        Aspect(
            "0 to keep, −∞ to hide",
            2,
            [additive_in(torch.float32), additive_in(torch.float32, "batch n_query n_key")],
        ),
        Aspect(
            "in the dtype of the scores",
            1,
            [additive_in(torch.float16), additive_in(torch.bfloat16)],
        ),
    ],
    mistakes=[
        Mistake(
            "polarity reversed",
            "You put −∞ where the key may be seen. Adding 0 keeps a score as it is; adding −∞ "
            "hides it.",
            {"~keep": "keep"},
        ),
        Mistake(
            "zero times infinity",
            "There is NaN where a key may be seen: 0 · (−∞) is not 0. Fill in the two numbers "
            "without multiplying: `masked_fill` or `torch.where`.",
            "return (1 - keep.to(dtype)) * -math.inf",
        ),
        Mistake(
            "floats of keep",
            "These are the booleans as floats, 1 and 0. Added to scores they hide nothing.",
            "return keep.to(dtype)",
        ),
        Mistake(
            "floats of the opposite",
            "These are 0 to keep and 1 to hide. Added to scores, the 1 makes the hidden keys "
            "more attractive.",
            "return (~keep).to(dtype)",
        ),
        Mistake(
            "hidden by −1",
            "−1 only dims a key, by a factor of e. −∞ hides it.",
            {"-math.inf": "-1.0"},
        ),
        Mistake(
            "hidden by −10⁹",
            "−10⁹ works in most rows, but in a row with nothing to attend to it spreads the "
            "weight over hidden keys, and it doesn't fit into half precision. Use −∞.",
            {"-math.inf": "-1e9"},
        ),
        Mistake(
            "hidden by the lowest number",
            "The dtype's lowest number works in most rows, but in a row with nothing to attend "
            "to, the library can't tell it from a score and spreads the weight over hidden keys. "
            "Use −∞.",
            {"-math.inf": "torch.finfo(dtype).min"},
        ),
        Mistake(
            "hidden by +∞",
            "+∞ is the most attractive score there is. The sign is wrong.",
            {"-math.inf": "math.inf"},
        ),
        Mistake(
            "multiplicative",
            "Your mask adds 1 to the scores of keys that may be seen. That does softmax no harm, "
            "since it sees only differences, but these scores shouldn't change: use 0.",
            {"torch.zeros": "torch.ones"},
        ),
        Mistake(
            "dtype ignored",
            "The values are right, but always float32. Use the `dtype` you are given: "
            "When it returns weights, `nn.MultiheadAttention` refuses a mask of another dtype.",
            {", dtype=dtype": ""},
        ),
        Mistake(
            "transposed",
            "The mask is transposed. Rows are queries and columns keys, as in `keep`.",
            {".masked_fill(~keep, -math.inf)": ".masked_fill(~keep, -math.inf).mT"},
        ),
        Mistake(
            "fill without effect",
            "All zeros: nothing was written into the mask. `masked_fill` returns a new tensor, "
            "which you have to keep; `==` only compares.",
            """
            additive = torch.zeros(keep.shape, dtype=dtype)
            additive.masked_fill(~keep, -math.inf)
            return additive
            """,
        ),
    ],
    alternatives=[
        Alternative("where", "return torch.where(keep, 0.0, -math.inf).to(dtype)"),
        Alternative("logarithm of 1 and 0", "return keep.to(dtype).log()"),
        Alternative(
            "filled in place",
            """
            additive = torch.full(keep.shape, -math.inf).to(dtype)
            additive[keep] = 0
            return additive
            """,
        ),
    ],
    hints=[
        "Start from zeros in the shape of `keep`, in the given dtype.",
        "`masked_fill` writes a number wherever a mask is True; `torch.where(condition, a, b)` "
        "chooses between two numbers. Neither multiplies, so no 0 · ∞ can arise.",
        "`-math.inf` is minus infinity, and it fits into float16, bfloat16 and float32 alike.",
    ],
    excuses={
        "result rounded": "0 and −∞ have no digits to lose",
    },
)

# ---------------------------------------------------------------- leaks_future

SOUND = """
def attention(words):
    n, d = words.shape[-2:]
    query, key, value = words.roll(1, -1), words, words.flip(-1)
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    scores = query @ key.transpose(-2, -1) / math.sqrt(d)
    weights = scores.masked_fill(~keep, -math.inf).softmax(-1)
    return weights @ value
"""
IN_HEADS = """
def attention(words):
    batch, n, d = words.shape
    n_heads = 2 if d % 2 == 0 else d
    heads = words.view(batch, n, n_heads, -1).transpose(1, 2)
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    scores = heads.roll(1, -1) @ heads.transpose(-2, -1) / math.sqrt(heads.shape[-1])
    weights = scores.masked_fill(~keep, -math.inf).softmax(-1)
    return (weights @ heads).transpose(1, 2).reshape(batch, n, d)
"""
TWO_LAYERS = """
def layer(words, keep):
    scores = words @ words.transpose(-2, -1) / math.sqrt(words.shape[-1])
    return words + scores.masked_fill(~keep, -math.inf).softmax(-1) @ words.roll(1, -1)

def attention(words):
    keep = torch.ones(words.shape[1], words.shape[1], dtype=torch.bool).tril()
    return layer(layer(words, keep), keep)
"""
KEEP = "torch.ones(n, n, dtype=torch.bool).tril()"


def edited(source: str, *edits: tuple[str, str]) -> str:
    """The source with each edit made; its left side must occur exactly once."""
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} occurs {source.count(old)} times in an implementation")
        source = source.replace(old, new)
    return source


def with_keep(keep: str) -> str:
    return edited(SOUND, (KEEP, keep))


# What each is called in a card → its source. A test takes the Jacobian of every one to make sure
# that it is where it belongs.
SOUND_ONES = {
    "causal attention": SOUND,
    "attention to the words before, but not to the word itself": edited(
        with_keep("torch.ones(n, n, dtype=torch.bool).tril(-1)"),
        ("-math.inf).softmax(-1)", "-1e9).softmax(-1) * keep"),
    ),
    "attention to the last two words": with_keep(f"{KEEP}.triu(-1)"),
    "attention to the first word only": with_keep("(torch.arange(n) == 0).expand(n, n)"),
    "a softmax by hand": edited(
        SOUND,
        (
            "scores.masked_fill(~keep, -math.inf).softmax(-1)",
            "scores.masked_fill(~keep, -math.inf)\n"
            "    weights = (weights - weights.amax(-1, keepdim=True)).exp()\n"
            "    weights = weights / weights.sum(-1, keepdim=True)",
        ),
    ),
    "an additive mask": edited(
        SOUND,
        (
            "scores.masked_fill(~keep, -math.inf)",
            "(scores + torch.full((n, n), -math.inf).triu(1))",
        ),
    ),
    "the library's function, is_causal": """
def attention(words):
    return F.scaled_dot_product_attention(words, words, words, is_causal=True)
""",
    "one word at a time, by a loop": """
def attention(words):
    outputs = []
    for i in range(words.shape[1]):
        past = words[:, : i + 1]
        weights = (past @ words[:, i, :, None]).softmax(1)
        outputs.append((weights * past).sum(1))
    return torch.stack(outputs, 1)
""",
    "two heads, split correctly": IN_HEADS,
    "two layers": TWO_LAYERS,
    "the average of the words so far": """
def attention(words):
    count = torch.arange(1, words.shape[1] + 1)
    return words.cumsum(1) / count[:, None]
""",
    "the sum of the words before, without the word itself": """
def attention(words):
    return F.pad(words.cumsum(1)[:, :-1], (0, 0, 1, 0))
""",
    "values centered over the words so far": edited(
        SOUND,
        (
            "words.flip(-1)\n",
            "words.flip(-1)\n"
            "    value = value - value.cumsum(1) / torch.arange(1, n + 1)[:, None]\n",
        ),
    ),
    "no attention at all": """
def attention(words):
    return 3 * words
""",
    "an output that is always the same": """
def attention(words):
    return words * 0 + 1
""",
    "words reversed, masked the other way, reversed again": edited(
        with_keep("torch.ones(n, n, dtype=torch.bool).triu()"),
        ("words.shape[-2:]\n", "words.shape[-2:]\n    words = words.flip(1)\n"),
        ("weights @ value", "(weights @ value).flip(1)"),
    ),
    "attention between the sentences of the batch": """
def attention(words):
    places = words.transpose(0, 1)
    weights = (places @ places.transpose(-2, -1) / math.sqrt(words.shape[-1])).softmax(-1)
    return (weights @ places).transpose(0, 1)
""",
    "scores shifted by the largest in the row, hidden ones included": edited(
        SOUND,
        (
            "scores.masked_fill",
            "scores - scores.detach().amax(-1, keepdim=True).clamp(-4, 4)\n"
            "    weights = weights.masked_fill",
        ),
    ),
    "large outputs": edited(SOUND, ("weights @ value", "1000 * weights @ value")),
}
LEAKING_ONES = {
    "no mask": edited(SOUND, ("scores.masked_fill(~keep, -math.inf)", "scores")),
    "the mask reversed": with_keep("torch.ones(n, n, dtype=torch.bool).triu()"),
    "one word too far": with_keep("torch.ones(n, n, dtype=torch.bool).tril(1)"),
    "words normalized, no mask": edited(
        SOUND,
        (
            "n, d = words",
            "words = F.layer_norm(words, words.shape[-1:], eps=0.1)\n    n, d = words",
        ),
        ("scores.masked_fill(~keep, -math.inf)", "scores"),
    ),
    "only the next word hidden": with_keep(f"{KEEP} | torch.ones(n, n, dtype=torch.bool).triu(2)"),
    "masked after softmax": edited(
        SOUND, ("scores.masked_fill(~keep, -math.inf).softmax(-1)", "scores.softmax(-1) * keep")
    ),
    "softmax over the queries": edited(SOUND, ("softmax(-1)", "softmax(-2)")),
    "hidden scores set to 0": edited(SOUND, ("~keep, -math.inf", "~keep, 0.0")),
    "hidden scores set to -1": edited(SOUND, ("~keep, -math.inf", "~keep, -1.0")),
    "heads split without a transpose": edited(
        IN_HEADS,
        ("words.view(batch, n, n_heads, -1).transpose(1, 2)", "words.view(batch, n_heads, n, -1)"),
    ),
    "heads merged without a transpose": edited(
        IN_HEADS, ("(weights @ heads).transpose(1, 2)", "(weights @ heads)")
    ),
    "one head without a mask": edited(
        IN_HEADS,
        (
            "dtype=torch.bool).tril()\n",
            "dtype=torch.bool).tril().repeat(n_heads, 1, 1)\n    keep[-1] = True\n",
        ),
    ),
    "weights masked, the average of the sentence in every value": edited(
        SOUND, ("words.flip(-1)\n", "words.flip(-1)\n    value = value + value.mean(1, True)\n")
    ),
    "weights masked, a trace of the average in every value": edited(
        SOUND,
        ("words.flip(-1)\n", "words.flip(-1)\n    value = value + 0.05 * value.mean(1, True)\n"),
    ),
    "masked, a thousandth of the average added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + 1e-3 * words.mean(1, keepdim=True)")
    ),
    "weights masked, each value mixed with the next": edited(
        SOUND,
        (
            "words.flip(-1)\n",
            "words.flip(-1)\n    value = value + F.pad(value[:, 1:], (0, 0, 0, 1))\n",
        ),
    ),
    "features standardized over the sentence": edited(
        SOUND,
        (
            "words.shape[-2:]\n",
            "words.shape[-2:]\n"
            "    words = words - words.mean(1, True)\n"
            "    words = words / (words.square().mean(1, True) + 1e-3).sqrt()\n",
        ),
    ),
    "words scaled to length 1, no mask": edited(
        SOUND,
        ("n, d = words", "words = F.normalize(words, dim=-1)\n    n, d = words"),
        ("scores.masked_fill(~keep, -math.inf)", "scores"),
    ),
    "sentences scaled to length 1": """
def attention(words):
    return words / words.square().sum((1, 2), keepdim=True).sqrt()
""",
    "words minus the average of the batch, in reverse": """
def attention(words):
    return (words - words.mean(0)).flip(1)
""",
    "every word sees the last one": with_keep(f"{KEEP} | (torch.arange(n) == n - 1)"),
    "only the next-to-last word sees the last": with_keep(f"{KEEP}\n    keep[-2:-1, -1:] = True"),
    "only the first word sees the second": with_keep(f"{KEEP}\n    keep[:1, :2] = True"),
    "only the third word sees the fourth": with_keep(f"{KEEP}\n    keep[2:3, 3:4] = True"),
    "each word sees the one three places later": with_keep(
        f"{KEEP} | (torch.arange(n) == torch.arange(n)[:, None] + 3)"
    ),
    "one feature is the average of the sentence": edited(
        SOUND,
        (
            "weights @ value",
            "torch.cat([words.mean(1, True).expand_as(words)[..., :1], "
            "(weights @ value)[..., 1:]], -1)",
        ),
    ),
    "only the first sentence masked": with_keep(
        f"{KEEP}.repeat(len(words), 1, 1)\n    keep[1:] = True"
    ),
    "words in pairs that see each other": with_keep(
        "(torch.arange(n)[:, None] // 2 >= torch.arange(n) // 2)"
    ),
    "two layers, the first without a mask": edited(
        TWO_LAYERS, ("layer(words, keep), keep", "layer(words, keep | True), keep")
    ),
    "only the first word sees a thousandth of the second": edited(
        SOUND,
        (
            "weights @ value",
            "weights @ value + 1e-3 * words.roll(-1, 1) * (torch.arange(n) == 0)[:, None]",
        ),
    ),
    "whether the next word is larger, added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + (words.roll(-1, 1) > words)")
    ),
    "the next word added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + F.pad(words[:, 1:], (0, 0, 0, 1))")
    ),
}


def implementation(name: str) -> Inputs:
    """A case that is one of the implementations above."""
    source = (SOUND_ONES | LEAKING_ONES)[name]

    def inputs(draw: Draw) -> dict:
        draw.label(name)
        return {"attention": Code(source)}

    return inputs


def number(draw: Draw, low: float, high: float) -> str:
    return f"{draw.uniform('', low, high):.3f}"


def count(draw: Draw, low: int, high: int) -> int:
    """Draw a whole number from low to high, both included."""
    return int(draw.uniform("", low, high + 1))


def causal(draw: Draw) -> str:
    """Sound attention with queries, values and scores of its own."""
    return edited(
        SOUND,
        ("words.roll(1, -1)", f"words.roll({count(draw, 1, 3)}, -1)"),
        ("math.sqrt(d)", number(draw, 1, 3)),
        ("weights @ value", f"{number(draw, 0.5, 2)} * weights @ value"),
    )


def last_few(draw: Draw) -> str:
    return edited(causal(draw), (KEEP, f"{KEEP}.triu(-{count(draw, 0, 4)})"))


def too_far(draw: Draw) -> str:
    return edited(causal(draw), ("tril()", f"tril({count(draw, 1, 2)})"))


def softmax_by_hand(draw: Draw) -> str:
    return edited(
        causal(draw),
        (
            "scores.masked_fill(~keep, -math.inf).softmax(-1)",
            f"(scores - {number(draw, -1, 1)}).exp() * keep\n"
            "    weights = weights / weights.sum(-1, keepdim=True)",
        ),
    )


def hidden_scores_changed(draw: Draw) -> str:
    return edited(causal(draw), ("~keep, -math.inf", f"~keep, {number(draw, -2, 1)}"))


def heads(draw: Draw) -> str:
    return edited(IN_HEADS, ("heads.roll(1, -1)", f"{number(draw, 0.5, 2)} * heads.roll(1, -1)"))


def one_head_unmasked(draw: Draw) -> str:
    seeing = f"repeat(n_heads, 1, 1)\n    keep[{count(draw, 0, 4)} % n_heads] = True\n"
    return edited(heads(draw), ("dtype=torch.bool).tril()\n", f"dtype=torch.bool).tril().{seeing}"))


def past_averages_added(draw: Draw) -> str:
    average = "words.cumsum(1) / torch.arange(1, n + 1)[:, None]"
    return edited(
        causal(draw),
        ("words.flip(-1)\n", f"words.flip(-1) + {number(draw, -1, 1)} * {average}\n"),
    )


def averages_added(draw: Draw) -> str:
    added = f"{number(draw, 0.05, 1)} * words.mean(1, keepdim=True)"
    return edited(causal(draw), ("words.flip(-1)\n", f"words.flip(-1) + {added}\n"))


def part_of_the_past(draw: Draw) -> str:
    """The same part whatever the length of the sentence."""
    of_query, of_key = (f"{count(draw, 1, 99)} * torch.arange(n)" for _ in range(2))
    places = f"({of_query}[:, None] + {of_key})"
    return edited(causal(draw), (KEEP, f"{KEEP} & ({places} % 7 < 4) | torch.eye(n).bool()"))


def single_leak(draw: Draw) -> str:
    """One of the first four words sees a later one of them, in one sentence."""
    query = count(draw, 0, 2)
    key = count(draw, query + 1, 3)
    place = f"{count(draw, 0, 99)} % len(words), {query} : {query + 1}, {key} : {key + 1}"
    return edited(
        causal(draw), (KEEP, f"{KEEP}.repeat(len(words), 1, 1)\n    keep[{place}] = True")
    )


# Implementations with other numbers in each draw.
SOUND_KINDS = {
    "causal attention to the last few words": last_few,
    "causal attention with a softmax of its own": softmax_by_hand,
    "causal attention in heads": heads,
    "averages of the past in the values": past_averages_added,
    "attention to some of the words so far": part_of_the_past,
}
LEAKING_KINDS = {
    "the mask shifted": too_far,
    "hidden scores set to a number": hidden_scores_changed,
    "one of the heads without a mask": one_head_unmasked,
    "averages of the sentence in the values": averages_added,
    "one word sees a later one, in one sentence": single_leak,
}


def drawn(name: str) -> Inputs:
    """A case that is an implementation of one of these kinds."""
    make = (SOUND_KINDS | LEAKING_KINDS)[name]

    def inputs(draw: Draw) -> dict:
        draw.label(name)
        return {"attention": Code(make(draw))}

    return inputs


def telling_apart(
    name: str, points: int, shown: list[str], hidden: list[str], kinds: list[str]
) -> Aspect:
    """Sound and leaking implementations: some seen by grading only, and new ones of some kinds."""
    return Aspect(
        name,
        points,
        [*map(implementation, shown), *map(drawn, kinds)],
        hidden_cases=[implementation(one) for one in hidden],
    )


COMPARED = "torch.allclose(before[:, :later], after[:, :later], atol=1e-5)"
CHANGED = "torch.randn_like(words[:, later:])"
PLACES = "range(1, words.shape[1])"
ONE_WORD = {
    f"changed[:, later:] = {CHANGED}": "changed[:, later] = torch.randn_like(words[:, later])"
}
OWN_OUTPUT = (
    "Your test counts the changed word's own output, which may move. Compare only those before it."
)
LAST_ONLY = (
    "Your test sees leaks in one place only, such as from the last word. Try every place, by "
    "changing all words from there on or cutting them off, and remember what you found."
)
FIRST_ONLY = (
    "Your test looks only at the first output, and misses a leak into another word. Compare all "
    "outputs before the change, at every place. Does a `return` end the loop after the first?"
)
SENTENCES = "Your test changes whole sentences. Words are the second dimension."
ROUNDING = (
    "Your test mistakes a rounding error for a leak. The last digit of an output may move when a "
    "hidden word changes; allow a little more, 1e-5 for numbers near 1."
)
TOLERANT = (
    "A small leak goes unseen: your tolerance is too large for the change you make, or that change "
    "is too small. Put new random numbers there, and allow little more than a rounding error, 1e-6."
)
ONE_SENTENCE = (
    "Your test misses a leak that is only in a later sentence of the batch. Make a batch of "
    "several sentences, and change every one of them."
)

leaks_future = Exercise(
    "leaks_future",
    returns="leaks",
    plain=True,
    steady=True,
    also=(ONES,),
    aspects=[
        telling_apart(
            "a mask that is missing, reversed or shifted",
            2,
            [
                "causal attention",
                "no mask",
                "the mask reversed",
                "one word too far",
                "attention to the words before, but not to the word itself",
                "attention to the last two words",
                "only the next word hidden",
            ],
            [
                "an additive mask",
                "the library's function, is_causal",
                "words in pairs that see each other",
            ],
            ["causal attention to the last few words", "the mask shifted"],
        ),
        telling_apart(
            "a mask in the wrong place",
            1,
            [
                "masked after softmax",
                "softmax over the queries",
                "hidden scores set to 0",
                "a softmax by hand",
                "attention between the sentences of the batch",
            ],
            [
                "hidden scores set to -1",
                "one word at a time, by a loop",
                "words minus the average of the batch, in reverse",
            ],
            ["causal attention with a softmax of its own", "hidden scores set to a number"],
        ),
        telling_apart(
            "heads and layers",
            1,
            [
                "heads split without a transpose",
                "one head without a mask",
                "two heads, split correctly",
                "two layers",
            ],
            ["heads merged without a transpose", "two layers, the first without a mask"],
            ["causal attention in heads", "one of the heads without a mask"],
        ),
        telling_apart(
            "leaks around the mask",
            1,
            [
                "weights masked, the average of the sentence in every value",
                "weights masked, a trace of the average in every value",
                "masked, a thousandth of the average added at the end",
                "words normalized, no mask",
                "features standardized over the sentence",
                "the average of the words so far",
                "the sum of the words before, without the word itself",
                "values centered over the words so far",
                "an output that is always the same",
                "words scaled to length 1, no mask",
                "sentences scaled to length 1",
                "whether the next word is larger, added at the end",
            ],
            [
                "weights masked, each value mixed with the next",
                "the next word added at the end",
                "no attention at all",
            ],
            [
                "averages of the past in the values",
                "averages of the sentence in the values",
            ],
        ),
        telling_apart(
            "a single leak, wherever it is",
            2,
            [
                "every word sees the last one",
                "only the next-to-last word sees the last",
                "only the first word sees the second",
                "only the third word sees the fourth",
                "only the first word sees a thousandth of the second",
                "one feature is the average of the sentence",
                "only the first sentence masked",
                "attention to the first word only",
                "scores shifted by the largest in the row, hidden ones included",
                "large outputs",
            ],
            [
                "words reversed, masked the other way, reversed again",
                "each word sees the one three places later",
            ],
            ["attention to some of the words so far", "one word sees a later one, in one sentence"],
        ),
    ],
    mistakes=[
        Mistake(
            "True and False exchanged",
            "True and False are swapped. When an output before the changed word moves, that is a "
            "leak: return True.",
            {"return True\n    return False": "return False\n    return True"},
            {f"if not {COMPARED}": f"if {COMPARED}"},
        ),
        Mistake(
            "always True",
            "Your test always says True. Attention leaks only if some output depends on a later "
            "word.",
            "return True",
        ),
        Mistake(
            "all outputs compared",
            "Your test finds leaks in sound attention. Only the outputs before a changed word have "
            "to stay; its own output and later ones may move. Compare just the ones before, and "
            "change a fresh copy each time, `words.clone()`.",
            {COMPARED: "torch.allclose(before, after, atol=1e-5)"},
        ),
        Mistake(
            "the changed word's own output compared",
            OWN_OUTPUT,
            {COMPARED: COMPARED.replace(":later", ": later + 1")},
            {**ONE_WORD, COMPARED: COMPARED.replace(":later", ": later + 1")},
            {
                **ONE_WORD,
                PLACES: "range(words.shape[1])",
                COMPARED: COMPARED.replace(":later", ": later + 1").replace("1e-5", "1e-6"),
            },
        ),
        Mistake(
            "the past changed",
            "Your test changes the past and checks whether the outputs after it move. They "
            "should: change the future, and look at the outputs before it.",
            {
                f"changed[:, later:] = {CHANGED}": "changed[:, :later].normal_()",
                COMPARED: COMPARED.replace(":later", "later:"),
            },
        ),
        Mistake(
            "never True",
            "Your test never says True. Do both outputs come from the same words? (`changed = "
            "words` is only a second name for one tensor; `words.clone()` makes a copy.) Or does a "
            "`return` inside the loop end it in the first round, with nothing compared yet?",
            {
                "words.clone()": "words",
                "after = attention(changed)": (
                    "before, after = attention(words), attention(changed)"
                ),
            },
            {
                PLACES: "range(words.shape[1])",
                f"if not {COMPARED}:\n            return True": f"return not {COMPARED}",
            },
        ),
        Mistake(
            "only the last word changed",
            LAST_ONLY,
            {PLACES: "[words.shape[1] - 1]"},
            """
            words = torch.randn(3, 8, 4)
            return not torch.allclose(attention(words)[:, :4], attention(words[:, :4]), atol=1e-5)
            """,
            {
                "for later": "leaks = False\n    for later",
                f"if not {COMPARED}:\n            return True": f"leaks = not {COMPARED}",
                "return False": "return leaks",
            },
            {
                **ONE_WORD,
                "for later": "leaks = False\n    for later",
                f"if not {COMPARED}:\n            return True": f"leaks = not {COMPARED}",
                "return False": "return leaks",
            },
        ),
        Mistake(
            "one word changed",
            "Your test changes only one word. Change each one in turn.",
            {PLACES: "[3]", **ONE_WORD},
        ),
        Mistake(
            "return inside the loop",
            FIRST_ONLY,
            {f"if not {COMPARED}:\n            return True": f"return not {COMPARED}"},
            {COMPARED: COMPARED.replace(":later", "0")},
        ),
        Mistake(
            "return inside the loop, one word changed",
            "Your test returns after the first place: a `return` inside the loop ends it. Return "
            "True at a leak, and False after the loop.",
            {**ONE_WORD, f"if not {COMPARED}:\n            return True": f"return not {COMPARED}"},
        ),
        Mistake(
            "whole sentences changed",
            SENTENCES,
            {
                f"changed[:, later:] = {CHANGED}": (
                    "changed[later:] = torch.randn_like(words[later:])"
                ),
                COMPARED: COMPARED.replace("[:, :later]", "[:later]"),
            },
        ),
        Mistake(
            "words of two dimensions",
            "Your words have two dimensions. Call `attention` on words of shape [batch, n, d].",
            {
                "torch.randn(3, 6, 8)": "torch.randn(6, 8)",
                "words.shape[1]": "words.shape[0]",
                f"changed[:, later:] = {CHANGED}": (
                    "changed[later:] = torch.randn_like(words[later:])"
                ),
                COMPARED: COMPARED.replace("[:, :later]", "[:later]"),
            },
        ),
        Mistake(
            "one feature changed",
            "Your test changes only one feature, and misses a leak in one head of several. Change "
            "all features.",
            {f"changed[:, later:] = {CHANGED}": f"changed[:, later:, 0] = {CHANGED}[..., 0]"},
        ),
        Mistake(
            "the same added to all features",
            "A layer norm hides your change: adding the same number to all features of a word "
            "makes no difference after it, and the sum of its outputs never moves. Put new random "
            "numbers there, and compare feature by feature.",
            {CHANGED: "words[:, later:] + 1"},
        ),
        Mistake(
            "exact comparison",
            ROUNDING,
            {COMPARED: "torch.equal(before[:, :later], after[:, :later])"},
        ),
        Mistake(
            "one cut in the middle",
            "Your test cuts past from future in only one place, and misses leaks that don't cross "
            "this cut. Try every place.",
            {PLACES: "[words.shape[1] // 2]"},
        ),
        Mistake(
            "only the first feature compared",
            "Your test looks only at the first feature, and misses a leak in one head of several. "
            "Compare all features.",
            {COMPARED: COMPARED.replace(":later", ":later, 0")},
        ),
        Mistake(
            "the future reordered",
            "Your test only reorders the future, so it misses even attention without a mask: that "
            "is a sum over all words, and a sum ignores their order. Put new words there.",
            {CHANGED: "words[:, later:].flip(1)"},
        ),
        Mistake(
            "NaN in the future",
            "Your test puts NaN into the future and finds leaks in sound attention: 0 · NaN is "
            "NaN, so NaN gets through a weight of exactly 0. Use finite numbers.",
            {CHANGED: "math.nan"},
        ),
        Mistake(
            "a batch of one",
            ONE_SENTENCE,
            {"torch.randn(3, 6, 8)": "torch.randn(1, 6, 8)"},
            {f"changed[:, later:] = {CHANGED}": f"changed[0, later:] = {CHANGED}[0]"},
        ),
        Mistake(
            "a single feature",
            "Your words have a single feature, so heads have nothing to divide among themselves, "
            "and mistakes in dividing go unseen. Give the words several features.",
            {"torch.randn(3, 6, 8)": "torch.randn(3, 6, 1)"},
        ),
        Mistake(
            "two words",
            "Your sentences have two words. A leak that skips a word needs at least three; use a "
            "few more.",
            {"torch.randn(3, 6, 8)": "torch.randn(3, 2, 8)"},
        ),
        Mistake(
            "gradients only",
            "Your test takes gradients, but a comparison has none, so it misses attention that "
            "leaks only whether a later word is larger. Change the words, and compare the outputs.",
            """
            words = torch.randn(3, 5, 4, requires_grad=True)
            outputs = (attention(words) * torch.randn(3, 5, 4)).sum((0, 2))
            for i, output in enumerate(outputs):
                if not output.requires_grad:
                    continue
                (slope,) = torch.autograd.grad(output, words, retain_graph=True)
                if (slope[:, i + 1 :].abs() > 1e-6).any():
                    return True
            return False
            """,
        ),
        Mistake("too tolerant", TOLERANT, {"atol=1e-5": "atol=0.5"}, {"atol=1e-5": "atol=1e-2"}),
    ],
    alternatives=[
        Alternative(
            "one word at a time",
            """
            words = torch.rand(2, 5, 6)
            for place in range(1, 5):
                other = words.clone()
                other[:, place] += 3 * torch.rand(2, 6)
                gap = (attention(other) - attention(words)).abs()
                if gap[:, :place].max() > 1e-6:
                    return True
            return False
            """,
        ),
        Alternative(
            "the future cut off",
            """
            words = torch.randn(4, 7, 6, dtype=torch.float64)
            whole = attention(words)
            short = [attention(words[:, :n])[:, -1] for n in range(1, 8)]
            return not torch.allclose(torch.stack(short, 1), whole)
            """,
        ),
        Alternative(
            "large batches, compared to six digits",
            """
            words = torch.randn(8, 4, 10)
            before = attention(words)
            moved = []
            for later in (1, 2, 3):
                changed = torch.cat([words[:, :later], torch.randn(8, 4 - later, 10)], dim=1)
                gaps = attention(changed)[:, :later] - before[:, :later]
                moved.append(gaps.abs().max().item() > 2e-6)
            return any(moved)
            """,
        ),
    ],
    hints=[
        "Make random words, `torch.randn(batch, n, d)` with several of each, and keep the "
        "outputs. Then change something in a copy, and compare. Only outputs before the change "
        "count.",
        "A leak can hide anywhere, so change each word in turn (or everything from each place "
        "on), in all sentences, in all features, and look at every output before it.",
        "Put in new random numbers: a reordered future has the same average. Compare with a small "
        "tolerance (`torch.allclose` with an `atol`), since large sums are rounded.",
    ],
    excuses={
        "arguments swapped: torch.randn(3, 6, 8)": "any size that is large enough will do",
        "another number: 3 →": "any size that is large enough will do",
        "another number: 6 →": "any size that is large enough will do",
        "another number: 8 →": "any size that is large enough will do",
        "argument dropped: range(1, words.shape[1])": (
            "with all words changed there is nothing before"
        ),
        "another number: 1 → 0": "likewise",
        "another number: 1 → 2 (2)": "at the end there is nothing left to change",
        "arguments swapped: torch.allclose(": "nearly the same either way",
        "keyword dropped: torch.allclose(": "a tolerance of 1e-8 is as good",
        "random start": "any random numbers will do",
        "one word at a time / another operator: 3 *": "any other word will do",
        "one word at a time / one operand dropped: 3 *": "likewise",
        "one word at a time / another number: 3": "likewise",
        "one word at a time / operands swapped": "only the size of the gap counts",
        "one word at a time / another comparison": "no gap is exactly this large",
        "one word at a time / random start": "any random numbers will do",
        "the future cut off / keyword dropped": "the tolerance allows for float32",
        "the future cut off / another number: 4": "any size that is large enough will do",
        "the future cut off / another number: 6": "any size that is large enough will do",
        "the future cut off / arguments swapped": "nearly the same either way",
        "the future cut off / random start": "any random numbers will do",
        "large batches, compared to six digits / another number: 4": (
            "any size that is large enough will do"
        ),
        "large batches, compared to six digits / another number: 2": (
            "any size that is large enough will do"
        ),
        "large batches, compared to six digits / elements swapped": "any order will do",
        "large batches, compared to six digits / one operand dropped: 4 - later": (
            "any size that is large enough will do"
        ),
        "large batches, compared to six digits / operands swapped": (
            "only the size of the gap counts"
        ),
        "large batches, compared to six digits / another comparison": (
            "no gap is exactly this large"
        ),
        "large batches, compared to six digits / call dropped: gaps.abs().max().item()": (
            "a tensor with one number compares like it"
        ),
        "large batches, compared to six digits / call dropped: gaps.abs() → gaps": (
            "gaps have both signs"
        ),
        "large batches, compared to six digits / random start": "any random numbers will do",
    },
)

# ---------------------------------------------------------------- packed_keep


def packed(*lengths: int, before: int) -> Inputs:
    """Texts of these lengths in one row."""

    def case(draw: Draw) -> dict:
        draw.label(f"words in each text: {', '.join(map(str, lengths))}; before: {before}")
        numbers = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
        return {"document": numbers, "before": before}

    return case


EITHER_ORDER = "`&` gives the same in either order"

packed_keep = Exercise(
    "packed_keep",
    challenge=True,
    returns="keep",
    also=(ONES, AGAIN),
    aspects=[
        Aspect("a window", 1, [packed(7, before=2), packed(9, before=0), packed(1, before=0)]),
        Aspect(
            "several texts",
            1,
            [packed(4, 1, 3, before=12), packed(3, 5, 1, 2, before=1), packed(2, 6, 3, before=3)],
        ),
    ],
    mistakes=[
        Mistake(
            "sees the future",
            "Your words see the words after them. A key may not come after its query: row − column "
            "must not be negative.",
            {"(back >= 0) & ": ""},
            {"back = place[:, None] - place": "back = (place[:, None] - place).abs()"},
        ),
        Mistake(
            "reversed",
            "Your words see themselves and the words *after* them. Rows are queries: row − column "
            "is how far back a key lies.",
            {"place[:, None] - place": "place - place[:, None]"},
        ),
        Mistake(
            "one word too few",
            "Your window is one word too short: it holds the word itself and `before` more.",
            {"back <= before": "back < before"},
        ),
        Mistake(
            "no window",
            "Your words see all words before them. Keep only the last `before`.",
            {" & (back <= before)": ""},
        ),
        Mistake(
            "texts mixed",
            "Your words see words of the text before theirs. Row and column must belong to the "
            "same document.",
            {" & (document[:, None] == document)": ""},
            {"document[:, None] == document": "document[:, None] >= document"},
        ),
        Mistake(
            "what to hide",
            "Your True entries are what to hide. In `keep`, True means that the query may attend "
            "to the key.",
            {
                "(back >= 0) & (back <= before) & (document[:, None] == document)": (
                    "~((back >= 0) & (back <= before) & (document[:, None] == document))"
                )
            },
        ),
        Mistake(
            "itself hidden",
            "No word sees itself. The window begins with the word itself.",
            {"back >= 0": "back > 0"},
        ),
    ],
    alternatives=[
        Alternative(
            "two triangles",
            """
            ones = torch.ones(len(document), len(document), dtype=torch.bool)
            return ones.tril() & ones.triu(-before) & (document == document[:, None])
            """,
        ),
        Alternative(
            "word by word",
            """
            n = len(document)
            keep = torch.zeros(n, n, dtype=torch.bool)
            for i in range(n):
                for j in range(max(0, i - before), i + 1):
                    keep[i, j] = document[i] == document[j]
            return keep
            """,
        ),
        Alternative(
            "blocks along the diagonal",
            """
            blocks = []
            for many in torch.unique_consecutive(document, return_counts=True)[1]:
                block = torch.ones(many, many, dtype=torch.bool)
                blocks.append(block.tril() & block.triu(-before))
            return torch.block_diag(*blocks)
            """,
        ),
    ],
    hints=[
        "Three conditions, joined with `&`: not in the future, not too far back, in the same text.",
        "With `place = torch.arange(n)`, `place[:, None] - place` says how far back each key lies.",
        "`document[:, None] == document` compares each word's text with each other word's.",
    ],
    excuses={
        "operands swapped: (back": EITHER_ORDER,
        "two triangles / operands swapped:": EITHER_ORDER,
        "blocks along the diagonal / operands swapped:": EITHER_ORDER,
        "word by word / arguments swapped:": "the larger of two, in either order",
    },
)

EXERCISES = (
    causal_keep,
    padding_keep,
    masked_softmax,
    masked_attention,
    to_torch_mha_mask,
    to_additive,
    leaks_future,
    packed_keep,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "weight_of_padding",
        right="a third or more",
        choices={
            "nothing": "A score of 0 is not a weight of 0: e⁰ is 1.",
            "a little": "e⁰ is 1, about what a real word gets, and there are three of them.",
            "a third or more": "e⁰ is 1, about what a real word gets, and there are three of them.",
        },
    ),
    Prediction(
        "after_a_hidden_200",
        right="NaN",
        choices={
            "0, .27 and .73": "On paper. But next to e²⁰⁰, both weights are already rounded to 0.",
            "0, 0 and 0": "That is what is left before you divide. But the sum is 0, too.",
            "NaN": "Both weights are already rounded to 0, and 0/0 is NaN.",
        },
    ),
    Prediction(
        "nothing_to_see",
        right="NaN, thirds, thirds",
        choices={
            "0 all three times": "Weights of softmax always sum to 1, unless they are NaN.",
            "NaN, thirds, thirds": "∞ − ∞ is NaN. Three equal scores share evenly, however low.",
            "thirds all three times": "Scores of −∞ are equal too. But −∞ − (−∞) is NaN.",
        },
    ),
    Prediction(
        "keys_of_the_last_word",
        right=2,
        because=(
            "`is_causal` lines up the first query with the first key, so the second query sees two "
            "keys. You would want it to see all five."
        ),
    ),
    Prediction(
        "who_hides_the_future",
        right="F.sdpa with booleans, and Keras",
        choices={
            "all four": "True means “hidden” to one of them, and one adds numbers.",
            "F.sdpa with booleans, and Keras": "To both, True means “may attend”.",
            "all but nn.MultiheadAttention": (
                "A mask of floats is added to the scores. Adding 0 hides nothing."
            ),
        },
    ),
]
