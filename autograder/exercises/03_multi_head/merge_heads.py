"""For each word the features of all heads in a row, head 0 first."""

from autograder.lessons.cases import drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import numbered


def numbered_merge_case(draw: Draw) -> dict:
    draw.label("x[b, h, w, f] = 1000 (b + 1) + 100 w + 10 h + f")
    return {"x": numbered(draw, "batch n_heads n d_head", 1000, 10, 100, 1)}


JOIN = "x.transpose(1, 2).reshape(batch, n, n_heads * d_head)"

EXERCISE = Exercise(
    "merge_heads",
    returns="merged",
    aspects=[
        Aspect("the heads of a word side by side", 2, [numbered_merge_case, drawn()]),
        Aspect("gradients flow through", 1, gradients=True),
    ],
    mistakes=[
        Mistake(
            "reshape without a transpose",
            "The shape is right, but the rows aren't words: each one strings together several "
            "words of one head. Swap heads and words first.",
            {JOIN: "x.reshape(batch, n, n_heads * d_head)"},
        ),
        Mistake(
            "view right after transpose",
            "`view` can't join dimensions that aren't next to each other in memory, and after a "
            "transpose they aren't. `reshape` copies when it has to (or call `contiguous` after "
            "the transpose).",
            {".reshape(": ".view("},
        ),
        Mistake(
            "heads and features exchanged",
            "You moved the features to the front. For each word the order should be heads, then "
            "features: swap dimensions 1 and 2.",
            {".transpose(1, 2)": ".transpose(1, 3)"},
        ),
        Mistake(
            "words and features exchanged",
            "You swapped words and features. Swap heads and words instead.",
            {".transpose(1, 2)": ".transpose(2, 3)"},
        ),
        Mistake(
            "heads interleaved",
            "Your heads are interleaved: first feature 0 of each head, then feature 1 of each. "
            "All of head 0 should come first, then head 1: that is how the split took them.",
            {JOIN: "x.permute(0, 2, 3, 1).reshape(batch, n, n_heads * d_head)"},
        ),
        Mistake(
            "not joined",
            "The order is right, [batch, n, n_heads, d_head]. Now join the last two dimensions "
            "into one.",
            {".reshape(batch, n, n_heads * d_head)": ""},
        ),
        Mistake(
            "joined to the words",
            "You put the heads one below the other, so there are n_heads times as many words. "
            "They belong side by side, in the features of each word.",
            {JOIN: "x.reshape(batch, n_heads * n, d_head)"},
        ),
        Mistake(
            "cat along the batch",
            "`cat` along dimension 0 makes the batch longer. The heads belong side by side: "
            "along the features, the last dimension.",
            {JOIN: "torch.cat(x.unbind(1), dim=0)"},
        ),
        Mistake(
            "a list of heads",
            "You returned a list with a tensor for each head. `torch.cat(…, dim=-1)` puts them "
            "side by side.",
            {JOIN: "[x[:, head] for head in range(n_heads)]"},
            {JOIN: "x.unbind(1)"},
        ),
        Mistake(
            "heads stacked",
            "`torch.stack` gives the heads a dimension of their own, which they already had. "
            "`torch.cat(…, dim=-1)` puts them side by side.",
            {JOIN: "torch.stack(x.unbind(1))"},
            {JOIN: "torch.stack(x.unbind(1), dim=1)"},
        ),
        Mistake(
            "heads averaged",
            "You averaged the heads, so what they found is mixed together again. Put them side by "
            "side.",
            {JOIN: "x.mean(dim=1)"},
        ),
        Mistake(
            "heads added up",
            "You added up the heads, so what they found is mixed together again. Put them side by "
            "side.",
            {JOIN: "x.sum(dim=1)"},
        ),
        Mistake(
            "the first head only",
            "You kept the first head and dropped the others.",
            {JOIN: "x[:, 0]"},
        ),
        Mistake(
            "heads in reverse order",
            "The heads are in reverse order. Head 0 comes first.",
            {JOIN: "torch.cat(x.flip(1).unbind(1), dim=-1)"},
        ),
        Mistake(
            "batch and words exchanged",
            "The numbers are right, but the words come before the batch. The batch stays first.",
            {JOIN: "x.permute(2, 0, 1, 3).reshape(n, batch, n_heads * d_head)"},
        ),
    ],
    alternatives=[
        Alternative("cat of the heads", {JOIN: "torch.cat(x.unbind(dim=1), dim=-1)"}),
        Alternative("flatten", {JOIN: "x.transpose(1, 2).flatten(2)"}),
        Alternative(
            "contiguous and view", {JOIN: "x.permute(0, 2, 1, 3).contiguous().view(batch, n, -1)"}
        ),
        Alternative("einsum", {JOIN: 'torch.einsum("bhnd->bnhd", x).flatten(2)'}),
        Alternative(
            "a loop over heads",
            {
                f"return {JOIN}": "merged = x.new_empty(batch, n, n_heads * d_head)\n"
                "    for h in range(n_heads):\n"
                "        merged[..., h * d_head : (h + 1) * d_head] = x[:, h]\n"
                "    return merged"
            },
        ),
    ],
    hints=[
        "This is the way back: undo first what the split did last.",
        "First swap words and heads, then join the last two dimensions into one.",
        "`reshape` joins what `view` refuses to join. What order of dimensions lets it put the "
        "heads of one word together?",
    ],
)
