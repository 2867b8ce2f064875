"""The known mistakes of `masked_softmax`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

from .shared import INFINITY, NOT_TURNED, STILL_E_TO_0, WITHOUT_MASK

NO_EFFECT = (
    "Hidden keys get weight as if there were no mask. Did you use the result of `masked_fill`? It "
    "returns a new tensor and leaves its input as it is."
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

MISTAKES = [
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
        "not turned around",
        NOT_TURNED,
        {FILL: "attn_scores.masked_fill(keep, lowest)", ".masked_fill(~keep, 0.0)": ""},
        'return torch.softmax(attn_scores.masked_fill(keep, float("-inf")), dim=-1)',
    ),
    Mistake(
        "a single query without a mask",
        WITHOUT_MASK,
        {
            "lowest = ": "if attn_scores.shape[-2] == 1:\n"
            "        return torch.softmax(attn_scores, dim=-1)\n"
            "    lowest = "
        },
    ),
    Mistake(
        "hidden scores 0, divided by what is left",
        "You set the hidden scores to 0 before softmax, and divided by what was left after it. "
        "Where the other scores are far below 0, nothing is left for them. Hide with the lowest "
        "number.",
        """
            attn_weights = torch.softmax(attn_scores * keep, dim=-1) * keep
            return attn_weights / (attn_weights.sum(dim=-1, keepdim=True) + 1e-13)
            """,
        """
            attn_weights = torch.softmax(attn_scores * keep, dim=-1) * keep
            return attn_weights / attn_weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)
            """,
    ),
    Mistake(
        "NaN in float16",
        "In float16, a row with nothing to attend to gives NaN. There, −10⁹ is −∞, and so is the "
        "lowest number plus a score below −16; 1e-9 is 0. Fill in the lowest number with "
        "`masked_fill`, and use numbers that fit.",
        """
            lowest = torch.finfo(attn_scores.dtype).min
            shifted = attn_scores + (~keep).to(attn_scores.dtype) * lowest
            return torch.softmax(shifted, dim=-1) * keep
            """,
        """
            top = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
            exps = (attn_scores - top.amax(-1, keepdim=True)).masked_fill(~keep, 0).exp() * keep
            return exps / exps.sum(-1, keepdim=True).clamp(min=1e-9)
            """,
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
        "The weights are right, and so is the gradient, but only because filling in the −∞ "
        "wipes out the NaN that softmax passes back for a row with nothing to attend to. Don't "
        "let NaN arise at all: one other step in between, and it spreads.",
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
    Mistake(
        "a number taken from hidden scores",
        "Hidden scores still take part in your softmax. Where one is far larger than the others, "
        "it takes their weight. Fill in the lowest number before softmax.",
        *(
            "hidden = (~keep).to(attn_scores.dtype)\n"
            f"return torch.softmax(attn_scores - {number} * hidden, dim=-1) * keep"
            for number in (200, 1000, 5000, 10_000)
        ),
    ),
]

ALTERNATIVES = [
    Alternative(
        "a softmax by hand",
        """
            lowest = torch.finfo(attn_scores.dtype).min
            top = attn_scores.masked_fill(~keep, lowest).amax(-1, keepdim=True)
            gaps = (attn_scores - top).masked_fill(~keep, 0.0)
            exps = gaps.exp() * keep
            return exps / exps.sum(-1, keepdim=True).clamp(min=0.5)
            """,
        excuses={
            "another number: 0.0": "whatever fills these gaps is multiplied by 0",
            "another fill: $X.masked_fill($M, -1e4) (3)": "likewise",
            "another fill: $X.masked_fill($M, -100.0) (3)": "likewise",
            "another fill: $X * ~$M (3)": "likewise",
        },
    ),
    Alternative(
        "powers of two and a logarithm",
        """
            lowest = torch.finfo(attn_scores.dtype).min
            bits = (attn_scores / math.log(2)).masked_fill(~keep, lowest)
            powers = torch.exp2(bits - bits.amax(-1, keepdim=True)) * keep
            return powers / (powers.sum(-1, keepdim=True) + ~keep.any(-1, keepdim=True))
            """,
        excuses={"call dropped: keep.any": "adds 1 only to what divides 0"},
    ),
    Alternative(
        "half of the lowest number added, hidden weights times 0",
        """
            low = torch.finfo(attn_scores.dtype).min / 2
            shifted = attn_scores + (~keep).to(attn_scores.dtype) * low
            return torch.softmax(shifted, dim=-1) * keep
            """,
        excuses={"another number: 2 →": "a third is low enough, too"},
    ),
    Alternative(
        "empty rows opened for softmax and closed after it",
        """
            seen = keep.any(dim=-1, keepdim=True)
            scores = attn_scores.masked_fill(~keep & seen, float("-inf"))
            return torch.softmax(scores, dim=-1) * seen
            """,
        excuses={"operands swapped": "`&` is the same either way"},
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
        excuses={
            "condition fixed": "a softmax over nothing is nothing",
            "another number: 0 → -1": "a row has one dimension",
        },
    ),
    Alternative(
        "einsum for the sums",
        """
            lowest = torch.finfo(attn_scores.dtype).min
            hidden = attn_scores.masked_fill(~keep, lowest)
            exps = (hidden - hidden.amax(-1, keepdim=True)).exp() * keep
            sums = torch.einsum("...k->...", exps)[..., None]
            return exps / sums.clamp(min=0.5)
            """,
    ),
]
