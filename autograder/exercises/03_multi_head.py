"""Lesson 3: multi-head attention."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from autograder.exercises.slips import KEEPING, KEYS, SCALE, renamed, without
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, ModuleCase, Raises, drawn
from autograder.lessons.variants import Alternative, Mistake

# ---------------------------------------------------------------- project_heads

project_heads = Exercise(
    "project_heads",
    returns="projected",
    aspects=[
        Aspect(
            "every word by every head's matrix",
            1,
            [
                lambda draw: {
                    "words": draw.normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                }
            ],
        ),
        Aspect(
            "one word, many words",
            1,
            [
                lambda draw: {
                    "words": draw.fix(n=1).normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                },
                lambda draw: {
                    "words": draw.fix(n=20, n_heads=8).normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                },
            ],
        ),
        Aspect(
            "gradients reach the words and the matrices",
            1,
            [
                lambda draw: {
                    "words": draw.normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                }
            ],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "stopped after one head",
            "You returned inside the loop, so it ended after the first head. Collect the heads "
            "and return after the loop.",
            """
            for weight in weights:
                return words @ weight.T
            """,
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They should be the first dimension.",
            {"for weight in weights]": "for weight in weights], dim=-1"},
        ),
        Mistake(
            "one matrix for all heads",
            "All heads gave the same result: the first matrix of the stack was used for each of "
            "them.",
            {"words @ weight.T for": "words @ weights[0].T for"},
        ),
        Mistake(
            "each head transposed",
            "The numbers are right, but within each head the words are columns. The shape should "
            "be [n_heads, n, d_k]: a word is a row.",
            {"words @ weight.T": "weight @ words.T"},
        ),
        Mistake(
            "words before heads",
            "The numbers are right, but the words come first: [n, n_heads, d_k]. The heads "
            "should be the first dimension.",
            {"for weight in weights]": "for weight in weights], dim=1"},
        ),
        Mistake(
            "heads side by side",
            "You put the heads side by side, [n, n_heads · d_k]. Here the heads get a dimension "
            "of their own, the first: `torch.stack` makes one.",
            "return torch.cat([words @ weight.T for weight in weights], dim=-1)",
        ),
        Mistake(
            "heads below one another",
            "You put the heads one below the other, [n_heads · n, d_k]. Here the heads get a "
            "dimension of their own, the first: `torch.stack` makes one.",
            "return torch.cat([words @ weight.T for weight in weights])",
        ),
        Mistake(
            "side by side, then reshaped",
            "The shape is right, but the rows aren't: `reshape` from [n, n_heads · d_k] straight "
            "to [n_heads, n, d_k] cuts words into pieces. First split the last dimension, then "
            "transpose.",
            """
            joined = words @ weights.flatten(0, 1).T
            return joined.reshape(len(weights), len(words), -1)
            """,
        ),
        Mistake(
            "matrices reshaped instead of transposed",
            "The shape is right, but the numbers aren't: `view` and `reshape` keep them in order. "
            "To use [d_k, d_in] on the right of `words @`, transpose each matrix.",
            """
            n_heads, d_k, d_in = weights.shape
            return words @ weights.reshape(n_heads, d_in, d_k)
            """,
        ),
        Mistake(
            "matrices not transposed",
            "`words @ weight` pairs the d_in features of a word with the d_k rows of the "
            "matrix, and their lengths differ. The matrices are [d_k, d_in]: transpose each.",
            {"weight.T": "weight"},
        ),
        Mistake(
            "stack not transposed",
            "The matrices are [d_k, d_in]: transpose them, `weights.transpose(1, 2)`.",
            "return words @ weights",
        ),
        Mistake(
            "matrices before words in bmm",
            "Words are rows, so they come first in `bmm`. And the matrices are [d_k, d_in]: "
            "transpose them, `weights.transpose(1, 2)`.",
            "return torch.bmm(weights, words.expand(len(weights), -1, -1))",
        ),
        Mistake(
            "einsum for one word",
            "`words` has two dimensions here: give the words a letter too.",
            'return torch.einsum("hki,i->hk", weights, words)',
        ),
        Mistake(
            "heads added up",
            "You added up the heads. In `einsum`, a letter missing on the right is summed over; "
            "keep the letter of the heads.",
            'return torch.einsum("hki,ni->nk", weights, words)',
        ),
        Mistake(
            "heads averaged",
            "You took the mean over the heads. The point of having several is that they stay "
            "apart.",
            "return torch.stack([words @ w.T for w in weights]).mean(dim=0)",
        ),
        Mistake(
            "words shared out",
            "Each head projected only one word. Every head should project every word.",
            {
                "torch.stack([words @ weight.T for weight in weights])": (
                    "torch.stack([words[h % len(words)] @ w.T for h, w in enumerate(weights)])"
                )
            },
        ),
        Mistake(
            "scaled already",
            "You divided by √d_k. Scale the scores, not the projections.",
            {"weights])": "weights]) / weights.shape[1] ** 0.5"},
        ),
        Mistake(
            "a list of heads",
            "You returned a list with a tensor for each head. Turn it into one tensor with "
            "`torch.stack`, so that later steps can handle all heads at once.",
            {"torch.stack(": "", "weights])": "weights]"},
        ),
        Mistake(
            "made anew without a graph",
            "The numbers are right, but `tolist`, `numpy` or `torch.tensor` cuts the graph: no "
            "gradient reaches the matrices, so they can't be trained.",
            "return torch.tensor([(words @ weight.T).tolist() for weight in weights])",
        ),
    ],
    alternatives=[
        Alternative("einsum", 'return torch.einsum("hki,ni->hnk", weights, words)'),
        Alternative(
            "bmm",
            """
            n_heads = weights.shape[0]
            return torch.bmm(words.expand(n_heads, -1, -1), weights.transpose(1, 2))
            """,
        ),
        Alternative("broadcast", "return words @ weights.mT"),
        Alternative(
            "one big matrix, then a split",
            """
            n_heads, d_k, _ = weights.shape
            joined = words @ weights.flatten(0, 1).T
            return joined.view(len(words), n_heads, d_k).transpose(0, 1)
            """,
        ),
        Alternative(
            "word by word",
            """
            heads = [torch.stack([weight @ word for word in words]) for weight in weights]
            return torch.stack(heads)
            """,
        ),
    ],
    hints=[
        "One head works as in lesson 2: words [n, d_in] times the transpose of a matrix [d_k, "
        "d_in].",
        "A loop over `weights` gives one head's matrix at a time, and `torch.stack` puts the "
        "results in a new first dimension.",
        "With `einsum`: which letters do words and matrices share, and in what order should the "
        "letters of the result come?",
    ],
)

# ---------------------------------------------------------------- split_heads


def split_case(draw: Draw) -> dict:
    sizes = draw.heads()
    return {"x": draw.normal("batch n d_model"), "n_heads": sizes["n_heads"]}


def numbered(draw: Draw, dims: str, *places: int) -> Tensor:
    """Whole numbers whose digits tell where they stand: 1000 and the indices times `places`."""
    indices = torch.meshgrid(*(torch.arange(size) for size in draw.shape(dims)), indexing="ij")
    return sum(i * place for i, place in zip(indices, places, strict=True)).float() + 1000


def numbered_split_case(draw: Draw) -> dict:
    sizes = draw.heads()
    draw.label("x[b, w, f] = 1000 (b + 1) + 100 w + f")
    return {"x": numbered(draw, "batch n d_model", 1000, 100, 1), "n_heads": sizes["n_heads"]}


def heads_that_do_not_divide(d_model: int) -> Callable[[Draw], Raises]:
    def case(draw: Draw) -> Raises:
        draw.label(f"{d_model} features for 4 heads")
        words = draw.fix(d_model=d_model).normal("batch n d_model")
        return Raises({"x": words, "n_heads": 4}, "ValueError")

    return case


VIEW = "x.view(batch, n, n_heads, d_model // n_heads).transpose(1, 2)"

split_heads = Exercise(
    "split_heads",
    returns="heads",
    aspects=[
        Aspect("a slice of features for each head", 2, [numbered_split_case, split_case]),
        Aspect(
            "any number of heads and words",
            1,
            [
                lambda draw: {
                    "x": draw.fix(n_heads=7, d_head=3).normal("batch n n_heads*d_head"),
                    "n_heads": 7,
                },
                lambda draw: {
                    "x": draw.fix(n_heads=4, d_head=3, n=1).normal("batch n n_heads*d_head"),
                    "n_heads": 4,
                },
            ],
        ),
        Aspect(
            "a ValueError when heads can't share the features",
            1,
            [heads_that_do_not_divide(10), heads_that_do_not_divide(9), split_case],
        ),
        Aspect("gradients flow through", 1, [split_case], gradients=True),
    ],
    mistakes=[
        Mistake(
            "features left over",
            "When n_heads does not divide d_model, you silently drop the last features. Raise a "
            "`ValueError`.",
            """
            batch, n, d_model = x.shape
            d_head = d_model // n_heads
            return x[..., : n_heads * d_head].reshape(batch, n, n_heads, d_head).transpose(1, 2)
            """,
        ),
        Mistake(
            "the error left to view",
            "When n_heads does not divide d_model, `view` fails with a RuntimeError that does "
            "not say why. Raise a `ValueError`.",
            {"if d_model % n_heads": "if False"},
        ),
        Mistake(
            "the error returned",
            "You returned the ValueError: `raise` it.",
            {"raise ValueError": "return ValueError"},
        ),
        Mistake(
            "view straight to the shape",
            "The shape is right, but words are cut to pieces: `view` keeps the order of the "
            "numbers, so the first rows of head 0 are all pieces of word 0. Cut the last "
            "dimension in two first, then swap words and heads with `transpose`.",
            {VIEW: "x.view(batch, n_heads, n, d_model // n_heads)"},
        ),
        Mistake(
            "heads folded into the batch by view",
            "You folded the heads into the batch with a bare `view`, which cuts words to pieces. "
            "Give the heads their own dimension, and `transpose`.",
            {VIEW: "x.view(batch * n_heads, n, d_model // n_heads)"},
        ),
        Mistake(
            "heads folded into the batch",
            "The numbers are right, but batch and heads are one dimension. Keep them apart: "
            "[batch, n_heads, n, d_head].",
            {".transpose(1, 2)": ".transpose(1, 2).flatten(0, 1)"},
        ),
        Mistake(
            "no transpose",
            "The numbers are right, but the words still come before the heads, [batch, n, "
            "n_heads, d_head]. A matrix product would then let heads attend to heads: swap the "
            "two.",
            {".transpose(1, 2)": ""},
        ),
        Mistake(
            "heads interleaved",
            "Your head h holds columns h, h + n_heads, h + 2 · n_heads and so on. That can work "
            "if merging does the same, but here heads are slices: head h owns columns h · d_head "
            "to (h + 1) · d_head. Cut d_model into [n_heads, d_head], in that order.",
            {VIEW: "x.view(batch, n, d_model // n_heads, n_heads).permute(0, 3, 1, 2)"},
        ),
        Mistake(
            "heads and features exchanged",
            "You made d_head heads of n_heads features each. Cut the last dimension into "
            "[n_heads, d_head], in that order.",
            {VIEW: "x.view(batch, n, d_model // n_heads, n_heads).transpose(1, 2)"},
        ),
        Mistake(
            "transpose, then view",
            "You transposed before cutting, so the features of one word are spread over many "
            "rows. Cut the last dimension first, then transpose.",
            {VIEW: "x.transpose(1, 2).reshape(batch, n_heads, n, d_model // n_heads)"},
        ),
        Mistake(
            "features before words",
            "The numbers are right, but within each head the words are columns. The last two "
            "dimensions should be words and features, [n, d_head].",
            {".transpose(1, 2)": ".permute(0, 2, 3, 1)"},
        ),
        Mistake(
            "batch exchanged with heads",
            "The numbers are right, but the heads come before the batch. The batch stays "
            "first: [batch, n_heads, n, d_head].",
            {".transpose(1, 2)": ".permute(2, 0, 1, 3)"},
        ),
        Mistake(
            "batch exchanged with words",
            "You swapped batch and words. Dimensions count from 0: words are dimension 1, and "
            "after the cut the heads are dimension 2.",
            {".transpose(1, 2)": ".transpose(0, 1)"},
        ),
        Mistake(
            "words shared out among the heads",
            "You gave each head some of the words. Each head gets every word, but only a slice of "
            "its features: cut the last dimension.",
            {VIEW: "torch.stack(x.chunk(n_heads, dim=1), dim=1)"},
        ),
        Mistake(
            "every head gets everything",
            "Every head got all features. Each should get its own slice of d_model / n_heads "
            "features.",
            {VIEW: "x[:, None].expand(batch, n_heads, n, d_model)"},
        ),
        Mistake(
            "heads in reverse order",
            "The heads are in reverse order. Head 0 owns the first columns.",
            {".transpose(1, 2)": ".transpose(1, 2).flip(1)"},
        ),
        Mistake(
            "the first head only",
            "All heads hold the same slice, the first. Head h owns columns h · d_head to (h + 1) "
            "· d_head.",
            {VIEW: "x[..., : d_model // n_heads][:, None].expand(-1, n_heads, -1, -1)"},
        ),
        Mistake(
            "a tuple of chunks",
            "The slices are right, but `chunk` gives them as a tuple. Stack them, so that the "
            "heads become dimension 1.",
            {VIEW: "x.chunk(n_heads, dim=-1)"},
        ),
    ],
    alternatives=[
        Alternative("unflatten", {VIEW: "x.unflatten(-1, (n_heads, -1)).transpose(1, 2)"}),
        Alternative("stack of chunks", {VIEW: "torch.stack(x.chunk(n_heads, -1), dim=1)"}),
        Alternative(
            "a loop over heads",
            {
                f"return {VIEW}": "d_head = d_model // n_heads\n"
                "    slices = [x[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)]\n"
                "    return torch.stack(slices, dim=1)"
            },
        ),
        Alternative(
            "einsum with the identity",
            {
                f"return {VIEW}": (
                    "select = torch.eye(d_model, dtype=x.dtype).view(n_heads, -1, d_model)\n"
                    '    return torch.einsum("bnm,hdm->bhnd", x, select)'
                )
            },
        ),
        Alternative(
            "heads first, then the batch",
            {VIEW: "torch.stack(x.split(d_model // n_heads, dim=2)).transpose(0, 1)"},
        ),
    ],
    hints=[
        "Two steps. First cut the last dimension in two: d_model becomes n_heads and d_head. "
        "Which of the two should vary more slowly, so that a head owns neighboring columns?",
        "After the cut, the shape is [batch, n, n_heads, d_head]. Two of these have to trade "
        "places, and `view` can't do that.",
        "`x.shape` gives the sizes, `view` or `unflatten` cuts, `transpose` swaps. For the check "
        "before all that: `%` gives the remainder of a division.",
    ],
)

# ---------------------------------------------------------------- merge_heads


def numbered_merge_case(draw: Draw) -> dict:
    draw.label("x[b, h, w, f] = 1000 (b + 1) + 100 w + 10 h + f")
    return {"x": numbered(draw, "batch n_heads n d_head", 1000, 10, 100, 1)}


JOIN = "x.transpose(1, 2).reshape(batch, n, n_heads * d_head)"

merge_heads = Exercise(
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
            "transpose they aren't. `reshape` copies when it has to (or call `contiguous` first).",
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

# ---------------------------------------------------------------- MultiHeadAttention


def sizes_of_model(draw: Draw) -> dict[str, int]:
    """d_model and n_heads; the batch is small, since the answers of many mistakes are stored."""
    sizes = draw.heads()
    draw.fix(batch=5 - sizes["n_heads"])
    return sizes


def self_attention(draw: Draw, **build) -> ModuleCase:
    """One tensor as query, key and value."""
    build = sizes_of_model(draw) | build
    words = draw.normal("batch n d_model")
    return ModuleCase(build, {"query": words, "key": words, "value": words})


def masked_self_attention(draw: Draw) -> ModuleCase:
    case = self_attention(draw)
    case.inputs["keep"] = draw.keep("batch n n")
    return case


def cross_attention(draw: Draw, scale: float = 1.0, **build) -> ModuleCase:
    """Queries, keys and values from three different tensors."""
    build = sizes_of_model(draw) | build
    inputs = {
        "query": draw.normal("batch n_query d_model", scale),
        "key": draw.normal("batch n_key d_model", scale),
        "value": draw.normal("batch n_key d_model", scale),
    }
    return ModuleCase(build, inputs)


def small_inputs(draw: Draw) -> ModuleCase:
    # The gradient of the keys' bias is 0, a sum that cancels: small numbers leave little rounding.
    return cross_attention(draw, scale=0.3)


def with_keep(dims: str, scale: float = 1.0) -> Callable[[Draw], ModuleCase]:
    """A case with a mask of these dimensions; "1" is a dimension of size 1."""

    def case(draw: Draw) -> ModuleCase:
        case = cross_attention(draw, scale)
        keep = draw.keep(dims.replace(" 1 ", " "))
        case.inputs["keep"] = keep.unsqueeze(dims.split().index("1")) if "1" in dims else keep
        draw.label(f"keep [{dims.replace(' ', ', ')}]")
        return case

    return case


def one_query_sees_nothing(draw: Draw) -> ModuleCase:
    case = small_inputs(draw)
    case.inputs["keep"] = draw.keep("batch n_query n_key")
    case.inputs["keep"][0, 1] = False
    draw.label("one query may attend to nothing")
    return case


def in_evaluation(draw: Draw) -> ModuleCase:
    draw.label("dropout 0.5, evaluation mode")
    return cross_attention(draw, dropout=0.5)


def in_training(draw: Draw) -> ModuleCase:
    draw.label("dropout 0.4, training mode")
    return replace(cross_attention(draw, dropout=0.4), training=True)


def built_with_heads_that_do_not_divide(draw: Draw) -> Raises:
    draw.label("MultiHeadAttention(10, 4)")
    build = {"d_model": 10, "n_heads": 4}
    return Raises(ModuleCase(build, {}, own_parameters=True, method=""), "ValueError")


MAKE_WEIGHTS = "weights_from_scores(attn_scores, keep)"
MAKE_SCORES = "(query / query.shape[-1] ** 0.5) @ key.transpose(-2, -1)"
RESULT = "self.output(merge_heads(context))"
KEEP_WEIGHTS = "self.attn_weights = attn_weights.detach()"
LINEARS = {
    name: f"self.{name} = nn.Linear(d_model, d_model, bias=bias)"
    for name in ("query", "key", "value", "output")
}


def split_by(expression: str) -> dict[str, str]:
    """Edits that split by `expression` of {x}, projected, and {name}, not yet projected."""
    return {
        f"split_heads(self.{name}({name}), self.n_heads)": expression.format(
            x=f"self.{name}({name})", name=name
        )
        for name in ("query", "key", "value")
    }


def weights_by(*lines: str) -> dict[str, str]:
    """An edit that makes the weights by the last of `lines`; `shown` is `keep` for all heads."""
    shown = [
        "shown = torch.ones(1, dtype=torch.bool) if keep is None else keep",
        "shown = shown[:, None] if shown.dim() == 3 else shown",
    ]
    code = "\n        ".join([*shown, *lines[:-1], f"attn_weights = {lines[-1]}"])
    return {f"attn_weights = {MAKE_WEIGHTS}": code}


def linears(replacement: str, *names: str) -> dict[str, str]:
    """Edits that make the named projections otherwise."""
    return {LINEARS[name]: f"self.{name} = {replacement}" for name in names}


MultiHeadAttention = Exercise(
    "MultiHeadAttention",
    returns="result",
    keeps="attn_weights",
    keeps_detached=True,
    builds_on=("split_heads", "merge_heads"),
    aspects=[
        Aspect("self-attention", 2, [self_attention], outputs=("result",)),
        Aspect(
            "queries, keys and values from different places",
            2,
            [cross_attention],
            outputs=("result",),
        ),
        Aspect(
            "the weights of every head",
            1,
            [self_attention, cross_attention],
            outputs=("attn_weights",),
        ),
        Aspect("without a bias", 1, [lambda draw: self_attention(draw, bias=False)]),
        Aspect(
            "a ValueError when heads can't share the features",
            1,
            [built_with_heads_that_do_not_divide, self_attention],
        ),
        Aspect(
            "masks",
            1,
            [
                with_keep("n_query n_key"),
                with_keep("n_query n_key", scale=60),
                with_keep("batch n_query n_key"),
                with_keep("batch 1 n_key"),
                with_keep("batch n_heads n_query n_key"),
            ],
        ),
        Aspect("a query that may attend to nothing", 1, [one_query_sees_nothing], gradients=True),
        Aspect("dropout", 1, [in_evaluation, in_training]),
        Aspect("gradients", 1, [small_inputs], gradients=True),
    ],
    earlier=masked_self_attention,
    slips=without([*renamed(SCALE, "d_k", "d_head"), *KEYS, *KEEPING], "divided by √d_v"),
    mistakes=[
        Mistake(
            "no ValueError",
            "`MultiHeadAttention(10, 4)` was built without complaint. Raise the `ValueError` "
            "in `__init__`, before the first call.",
            {"if d_model % n_heads": "if False"},
        ),
        # ------------------------------------------------ scores
        Mistake(
            "scaled by the root of d_model",
            "You divided the scores by √d_model. Each head takes dot products over d_head "
            "features, so use √d_head; otherwise the weights come out too even.",
            {"/ query.shape[-1] ** 0.5": "/ (self.n_heads * query.shape[-1]) ** 0.5"},
        ),
        Mistake(
            "scaled by the root of n_key",
            "You divided the scores by √n_key. After the split, the features of a head are the "
            "last dimension: use √d_head.",
            {"query.shape[-1] ** 0.5": "key.shape[-2] ** 0.5"},
        ),
        Mistake(
            "scaled by the root of n_heads",
            "You divided the scores by √n_heads. The features of a head are the last dimension: "
            "use √d_head.",
            {"query.shape[-1] ** 0.5": "query.shape[1] ** 0.5"},
        ),
        Mistake(
            "query and key exchanged",
            "Queries and keys are swapped in the product: the rows of the scores should be "
            "queries, the columns keys.",
            {MAKE_SCORES: "key @ query.transpose(-2, -1) / key.shape[-1] ** 0.5"},
        ),
        Mistake(
            "heads and words of the keys exchanged",
            "With heads there are four dimensions, and `transpose(1, 2)` swaps heads and words. "
            "Use `transpose(-2, -1)`.",
            {"key.transpose(-2, -1)": "key.transpose(1, 2)"},
        ),
        # ------------------------------------------------ projections
        Mistake(
            "keys from the query",
            "You projected the keys from `query`. In self-attention that is the same tensor; here "
            "keys come from `key`, which may have a different length.",
            {
                "query = split_heads(": "words, query = query, split_heads(",
                "self.key(key)": "self.key(words)",
            },
        ),
        Mistake(
            "keys and values from the query",
            "You projected keys and values from `query`. Here they come from `key` and `value`, "
            "which may have a different length.",
            {
                "query = split_heads(": "words, query = query, split_heads(",
                "self.key(key)": "self.key(words)",
                "self.value(value)": "self.value(words)",
            },
        ),
        Mistake(
            "values from the query",
            "You projected the values from `query`. Here they come from `value`, which may have a "
            "different length.",
            {
                "query = split_heads(": "words, query = query, split_heads(",
                "self.value(value)": "self.value(words)",
            },
        ),
        Mistake(
            "values from the keys",
            "You projected the values from `key`. Often that is the same tensor, but not here: "
            "values come from `value`.",
            {
                "key = split_heads(": "memory, key = key, split_heads(",
                "self.value(value)": "self.value(memory)",
            },
        ),
        Mistake(
            "one projection for queries and keys",
            "The keys went through the projection of the queries.",
            {"self.key(key)": "self.query(key)"},
        ),
        Mistake(
            "keys spoken as values",
            "The values went through the projection of the keys.",
            {"self.value(value)": "self.key(value)"},
        ),
        Mistake(
            "values not projected",
            "You didn't project the values.",
            {"self.value(value)": "value"},
        ),
        Mistake(
            "no output projection",
            "You returned the heads side by side. The last step is missing: the output "
            "projection, which mixes them.",
            {RESULT: "merge_heads(context)"},
        ),
        Mistake(
            "output projection without its bias",
            "The bias of the output projection is missing. Call the layer, "
            "`self.output(…)`, instead of multiplying by its weight.",
            {RESULT: "merge_heads(context) @ self.output.weight.T"},
        ),
        Mistake(
            "weight not transposed by hand",
            "You multiplied the queries by the layer's weight as it is. An nn.Linear multiplies "
            "by its transpose, so call the layer: `self.query(query)`.",
            {"self.query(query)": "query @ self.query.weight + self.query.bias"},
        ),
        Mistake(
            "bias switched off",
            "Your projections have no bias. They should, unless the argument `bias` says "
            "otherwise: pass `bias` on to all four.",
            linears("nn.Linear(d_model, d_model, bias=False)", *LINEARS),
        ),
        Mistake(
            "bias always on",
            "With `bias=False`, your projections still have one. Pass the argument on to all four "
            "layers.",
            linears("nn.Linear(d_model, d_model)", *LINEARS),
        ),
        Mistake(
            "bias of the output always on",
            "With `bias=False`, your output projection still has one. Pass the argument on to all "
            "four layers.",
            linears("nn.Linear(d_model, d_model)", "output"),
        ),
        Mistake(
            "one packed projection",
            "Libraries use one big layer for queries, keys and values (lesson 6). Here, make "
            "four: `query`, `key`, `value` and `output`.",
            {
                LINEARS["query"]: "self.packed = nn.Linear(d_model, 3 * d_model, bias=bias)",
                LINEARS["key"]: "",
                LINEARS["value"]: "",
            },
        ),
        Mistake(
            "heads in a Python list",
            "Layers in a plain Python list are invisible to the module: they aren't trained, "
            "saved or moved. And you don't need a list here: `query`, `key` and `value` are one "
            "layer each, for all heads.",
            {
                LINEARS[
                    "query"
                ]: "self.heads = [nn.Linear(d_model, d_model // n_heads) for _ in range(n_heads)]",
                LINEARS["key"]: "",
                LINEARS["value"]: "",
            },
        ),
        Mistake(
            "layers for one head",
            "Your projections make d_head features, enough for one head. Each should make d_model "
            "features, which the split then divides among the heads.",
            linears("nn.Linear(d_model, d_model // n_heads, bias=bias)", "query", "key", "value"),
        ),
        Mistake(
            "features shared out before projecting",
            "Each head would project its own slice of the input. Every head should see all "
            "features of a word: project first, from d_model to d_model, then split.",
            linears(
                "nn.Linear(d_model // n_heads, d_model // n_heads, bias=bias)",
                "query",
                "key",
                "value",
            ),
        ),
        # ------------------------------------------------ heads
        Mistake(
            "split by view",
            "Your split mixes words: a `view` straight to [batch, n_heads, n, d_head] cuts them "
            "to pieces. Use `split_heads`.",
            split_by("{x}.view({name}.shape[0], self.n_heads, {name}.shape[1], -1)"),
        ),
        Mistake(
            "split and merge by view",
            "You split and merged with a bare `view`. The round trip looks right, but in between "
            "the heads attend to pieces of words. Use `split_heads` and `merge_heads`.",
            {
                **split_by("{x}.view({name}.shape[0], self.n_heads, {name}.shape[1], -1)"),
                "merge_heads(context)": "context.reshape(len(context), context.shape[2], -1)",
            },
        ),
        Mistake(
            "residual connection",
            "You added the query to the result, a residual connection. This module has none.",
            {
                "query = split_heads(": "words, query = query, split_heads(",
                RESULT: f"{RESULT} + words",
            },
        ),
        Mistake(
            "output projection twice",
            "The result went through the output projection twice.",
            {RESULT: f"self.output({RESULT})"},
        ),
        Mistake(
            "divided again after dropout",
            "You made the rows sum to 1 again after dropout. Leave them as they are: dropout has "
            "already scaled up what it kept.",
            {
                "self.dropout(attn_weights)": (
                    "torch.nn.functional.normalize(self.dropout(attn_weights), p=1, dim=-1)"
                )
            },
        ),
        Mistake(
            "merge without a transpose",
            "The weights are right, but your merge mixes words: swap heads and words before "
            "joining them. Use `merge_heads`.",
            {"merge_heads(context)": "context.reshape(len(context), context.shape[2], -1)"},
        ),
        Mistake(
            "heads interleaved",
            "Your heads are interleaved: column j goes to head j mod n_heads. Split and merge "
            "agree, so this trains just as well, but the parameters don't mean what they mean "
            "here and in libraries: head h owns columns h · d_head to (h + 1) · d_head.",
            {
                **split_by("{x}.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"),
                "merge_heads(context)": "context.permute(0, 2, 3, 1).flatten(2)",
            },
        ),
        Mistake(
            "heads attend to heads",
            "You didn't swap heads and words, so within a word heads attended to heads, and no "
            "word saw another. The last two dimensions should be words and features.",
            {
                **split_by("{x}.unflatten(-1, (self.n_heads, -1))"),
                "merge_heads(context)": "context.flatten(2)",
            },
        ),
        Mistake(
            "one wide head",
            "All features went into one head. Split them among `n_heads`.",
            split_by("split_heads({x}, 1)"),
        ),
        Mistake(
            "one head too few",
            "The last head is missing from the result. Does a loop end too early?",
            {
                "merge_heads(context)": (
                    "merge_heads(context * (torch.arange(self.n_heads) < self.n_heads - 1)"
                    "[:, None, None])"
                )
            },
        ),
        Mistake(
            "heads averaged",
            "You averaged the heads, which defeats the purpose of having several. Put them side "
            "by side: `merge_heads`.",
            {"merge_heads(context)": "context.mean(dim=1)"},
            {"merge_heads(context)": "context.mean(dim=1).repeat(1, 1, self.n_heads)"},
        ),
        Mistake(
            "heads below one another",
            "Your heads never came back together, or they ended up in the batch. They belong side "
            "by side, in the features: `merge_heads`.",
            {"merge_heads(context)": "torch.cat(context.unbind(1), dim=0)"},
        ),
        # ------------------------------------------------ softmax and what is kept
        Mistake(
            "softmax over the queries",
            "The columns of your weights sum to 1: softmax ran over the queries. Each query "
            "divides its weight among the keys, the last dimension.",
            weights_by(
                "attn_scores.masked_fill(~shown, -1e30).softmax(dim=-2).masked_fill(~shown, 0.0)"
            ),
        ),
        Mistake(
            "softmax over the heads",
            "Your weights sum to 1 over the heads. `dim=1` is right for [batch, n_key]; with "
            "heads the keys are the last dimension.",
            weights_by(
                "attn_scores.masked_fill(~shown, -1e30).softmax(dim=1).masked_fill(~shown, 0.0)"
            ),
        ),
        Mistake(
            "no softmax",
            "You used the scores as they are. `weights_from_scores` turns them into weights.",
            {MAKE_WEIGHTS: "attn_scores"},
        ),
        Mistake(
            "the mean over heads kept",
            "`attn_weights` holds the mean over the heads, which no head used. Keep the weights "
            "of each: [batch, n_heads, n_query, n_key].",
            {KEEP_WEIGHTS: "self.attn_weights = attn_weights.detach().mean(dim=1)"},
        ),
        Mistake(
            "the first head kept",
            "`attn_weights` holds the first head only. Keep the weights of each: [batch, "
            "n_heads, n_query, n_key].",
            {KEEP_WEIGHTS: "self.attn_weights = attn_weights.detach()[:, 0]"},
        ),
        Mistake(
            "heads kept before the batch",
            "`attn_weights` has the heads before the batch. The batch comes first: [batch, "
            "n_heads, n_query, n_key].",
            {KEEP_WEIGHTS: "self.attn_weights = attn_weights.detach().transpose(0, 1)"},
        ),
        Mistake(
            "weights detached before use",
            "The result is right, but queries and keys get no gradient: you detached the weights "
            "before the sum. Detach only what you keep.",
            {MAKE_WEIGHTS: f"{MAKE_WEIGHTS}.detach()"},
        ),
        Mistake(
            "weights returned as well",
            "You returned the weights along with the result. Return only the result, and keep the "
            "weights in `self.attn_weights`.",
            {f"return {RESULT}": f"return {RESULT}, attn_weights"},
        ),
        # ------------------------------------------------ dropout
        Mistake(
            "no dropout",
            "Dropout has no effect in training: it should set some of the weights to 0 and scale "
            "up the others. Send the weights through `nn.Dropout(dropout)`.",
            {"self.dropout(attn_weights)": "attn_weights"},
        ),
        Mistake(
            "dropout's rate ignored",
            "Dropout ignores the rate it is given. Pass the argument on: `nn.Dropout(dropout)`.",
            {"nn.Dropout(dropout)": "nn.Dropout()"},
        ),
        Mistake(
            "dropout in evaluation",
            "Dropout is active in evaluation, too. `F.dropout` needs `self.training` as its third "
            "argument; an `nn.Dropout` knows the mode by itself.",
            {"self.dropout(attn_weights)": "F.dropout(attn_weights, self.dropout.p)"},
        ),
        Mistake(
            "weights kept after dropout",
            "In training, `attn_weights` holds what dropout left over, so its rows don't sum to "
            "1. Keep the weights from before dropout. (`inplace=True` would overwrite those, too.)",
            {
                MAKE_WEIGHTS: f"self.dropout({MAKE_WEIGHTS})",
                "self.dropout(attn_weights)": "attn_weights",
            },
        ),
        Mistake(
            "dropout on the scores",
            "Dropout acts on the scores. A score of 0 is not a weight of 0: softmax gives it a "
            "share. Drop weights, after softmax.",
            {
                "(attn_scores, keep)": "(self.dropout(attn_scores), keep)",
                "self.dropout(attn_weights)": "attn_weights",
            },
        ),
        Mistake(
            "dropout on the result",
            "Dropout acts on the result. Here it belongs on the weights, before they meet the "
            "values.",
            {"self.dropout(attn_weights)": "attn_weights", RESULT: f"self.dropout({RESULT})"},
        ),
        # ------------------------------------------------ masks
        Mistake(
            "keep ignored",
            "`keep` has no effect. Pass it to `weights_from_scores`.",
            {MAKE_WEIGHTS: "weights_from_scores(attn_scores)"},
        ),
        Mistake(
            "keep reversed",
            "Your mask is the wrong way around: True in `keep` means that the query may attend.",
            {MAKE_WEIGHTS: f"{MAKE_WEIGHTS[:-1]} if keep is None else ~keep)"},
        ),
        Mistake(
            "axis of the heads missing",
            "A mask [batch, n_query, n_key] needs an axis for the heads, [batch, 1, n_query, "
            "n_key]; otherwise its batch lines up with the heads. `weights_from_scores` takes "
            "care of it.",
            {
                f"attn_weights = {MAKE_WEIGHTS}": "if keep is not None:\n"
                '            attn_scores = attn_scores.masked_fill(~keep, float("-inf"))\n'
                "        attn_weights = attn_scores.softmax(dim=-1)"
            },
        ),
        Mistake(
            "masked after softmax",
            "You masked after softmax, so the weights that remain no longer sum to 1. Mask the "
            "scores, as `weights_from_scores` does.",
            weights_by("attn_scores.softmax(dim=-1) * shown"),
        ),
        Mistake(
            "scores times keep",
            "`attn_scores * keep` only sets masked scores to 0, and softmax still gives them a "
            "share. `weights_from_scores` makes the weight itself 0.",
            weights_by("(attn_scores * shown).softmax(dim=-1)"),
        ),
        Mistake(
            "keep added to the scores",
            "You added a boolean `keep` to the scores, which raises the ones you keep by 1. Use "
            "`weights_from_scores`.",
            weights_by("(attn_scores + shown).softmax(dim=-1)"),
        ),
        Mistake(
            "NaN in a row that sees nothing",
            "A query that may attend to nothing gets NaN, from softmax over a row of −∞. It "
            "should get zeros; `weights_from_scores` takes care of it.",
            weights_by('attn_scores.masked_fill(~shown, float("-inf")).softmax(dim=-1)'),
        ),
        Mistake(
            "a row that sees nothing attends to all",
            "A query that may attend to nothing attends to everything evenly: with −10⁹ "
            "everywhere, softmax sees no difference. It should get zeros; `weights_from_scores` "
            "takes care of it.",
            weights_by("attn_scores.masked_fill(~shown, -1e9).softmax(dim=-1)"),
        ),
        Mistake(
            "NaN in the gradient",
            "The weights of a query that may attend to nothing are zeros, but the gradient is "
            "NaN: `nan_to_num` fixes only the forward pass. Use `weights_from_scores`.",
            weights_by(
                'hidden = torch.zeros(()).masked_fill(~shown, float("-inf"))',
                "(attn_scores + hidden).softmax(dim=-1).nan_to_num()",
            ),
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            {
                MAKE_SCORES: 'torch.einsum("bhid,bhjd->bhij", query, key) / value.shape[-1] ** 0.5',
                "self.dropout(attn_weights) @ value": (
                    'torch.einsum("bhij,bhjd->bhid", self.dropout(attn_weights), value)'
                ),
            },
        ),
        Alternative(
            "a loop over heads",
            {
                f"attn_scores = {MAKE_SCORES}": (
                    "pairs = zip(query.unbind(1), key.unbind(1), strict=True)\n"
                    "        scores = [q @ k.mT / q.shape[-1] ** 0.5 for q, k in pairs]\n"
                    "        attn_scores = torch.stack(scores, dim=1)"
                ),
                "context = self.dropout(attn_weights) @ value": (
                    "weights = self.dropout(attn_weights)\n"
                    "        heads = [weights[:, h] @ value[:, h] for h in range(self.n_heads)]"
                ),
                "merge_heads(context)": "torch.cat(heads, dim=-1)",
            },
        ),
        Alternative(
            "heads stacked before the batch, in and out",
            {
                **split_by("torch.cat({x}.chunk(self.n_heads, dim=-1), dim=0)"),
                f"attn_weights = {MAKE_WEIGHTS}": (
                    "attn_scores = torch.stack(attn_scores.chunk(self.n_heads, dim=0), dim=1)\n"
                    f"        attn_weights = {MAKE_WEIGHTS}"
                ),
                "context = self.dropout(attn_weights) @ value": (
                    "weights = torch.cat(self.dropout(attn_weights).unbind(1))\n"
                    "        context = weights @ value"
                ),
                "merge_heads(context)": "torch.cat(context.chunk(self.n_heads), dim=-1)",
            },
        ),
        Alternative(
            "heads folded into the batch",
            {
                f"attn_scores = {MAKE_SCORES}": (
                    "q, k, v = (x.flatten(0, 1) for x in (query, key, value))\n"
                    "        attn_scores = torch.bmm(q, k.mT) * q.shape[-1] ** -0.5\n"
                    "        attn_scores = attn_scores.unflatten(0, (-1, self.n_heads))"
                ),
                "self.dropout(attn_weights) @ value": (
                    "(self.dropout(attn_weights).flatten(0, 1) @ v).view_as(query)"
                ),
            },
        ),
        Alternative(
            "query and key scaled alike",
            {MAKE_SCORES: "query * query.shape[-1] ** -0.25 @ (key * key.shape[-1] ** -0.25).mT"},
        ),
        Alternative(
            "output projection as a sum over heads",
            {
                f"return {RESULT}": "slices = self.output.weight.chunk(self.n_heads, dim=1)\n"
                "        parts = [context[:, h] @ w.T for h, w in enumerate(slices)]\n"
                "        bias = self.output.bias\n"
                "        return sum(parts) if bias is None else sum(parts) + bias"
            },
        ),
        Alternative(
            "a safe mask of one's own",
            {
                **weights_by(
                    "nothing = ~shown.any(dim=-1, keepdim=True)",
                    'scores = attn_scores.masked_fill(~(shown | nothing), float("-inf"))',
                    "torch.softmax(scores, dim=-1) * ~nothing",
                ),
                KEEP_WEIGHTS: "self.attn_weights = attn_weights.clone().detach()",
            },
        ),
    ],
    hints=[
        "`__init__`: four layers and a dropout, each under its name. `forward`: project, split, "
        "score and scale, weights, dropout, sum of the values, merge, project.",
        "Each projected tensor goes through `split_heads`; after that, the scores work as in "
        "lesson 2, with words and features as the last two dimensions.",
        "Keep the weights in `self.attn_weights`, without their graph, between "
        "`weights_from_scores` and dropout.",
    ],
    excuses={
        "another argument: query → key in query.shape[-1]": "all have d_head features",
        "another argument: query → value in query.shape[-1]": "likewise",
        "in place:": "these are projections, made here, not the caller's tensors",
        "einsum / another argument: value → key in value.shape[-1]": "all have d_head features",
        "einsum / another argument: value → query in value.shape[-1]": "likewise",
        "heads stacked before the batch, in and out / keyword dropped:": "0 is the default of dim",
        "query and key scaled alike / another argument: query → key in query.shape[-1]": (
            "all have d_head features"
        ),
        "query and key scaled alike / another argument: query → value in query.shape[-1]": (
            "likewise"
        ),
        "query and key scaled alike / another argument: key → query in key.shape[-1]": "likewise",
        "query and key scaled alike / another argument: key → value in key.shape[-1]": "likewise",
        "query and key scaled alike / in place:": (
            "these are projections, made here, not the caller's tensors"
        ),
        "a safe mask of one's own / operands swapped: shown | nothing": (
            "`|` is the same either way"
        ),
        "a safe mask of one's own / call dropped: attn_weights.clone()": (
            "detached, and changed by nobody"
        ),
        "a safe mask of one's own / another fill: $X.masked_fill($M, -1e9": (
            "low enough for float32 and float64"
        ),
        "a safe mask of one's own / another fill: $X.masked_fill($M, torch": ("likewise"),
    },
)

# ---------------------------------------------------------------- seq_first_scores


SEQ_FIRST = 'torch.einsum("ibhd,jbhd->ijbh", query, key)'

seq_first_scores = Exercise(
    "seq_first_scores",
    returns="attn_scores",
    aspects=[
        Aspect("every query with every key, head by head", 2),
        Aspect("gradients flow through", 1, gradients=True),
    ],
    slips=without(SCALE, "divided by √n_key"),
    mistakes=[
        Mistake(
            "scaled by the root of d_model",
            "You divided by the square root of n_heads · d_k, the features of all heads. Each "
            "head takes dot products over d_k features.",
            {"query.shape[-1] ** 0.5": "(query.shape[-1] * query.shape[-2]) ** 0.5"},
        ),
        Mistake(
            "scaled by the root of n_heads",
            "You divided by √n_heads. The features of a head are the last dimension.",
            {"query.shape[-1] ** 0.5": "query.shape[-2] ** 0.5"},
        ),
        Mistake(
            "scaled by the root of the batch",
            "You divided by the square root of the batch size. In this layout, dimension 1 is the "
            "batch; the features of a head are the last dimension.",
            {"query.shape[-1] ** 0.5": "query.shape[1] ** 0.5"},
        ),
        Mistake(
            "softmax already",
            "You returned weights. This exercise wants the scores before softmax.",
            {"torch.einsum": "(torch.einsum", "** 0.5": "** 0.5).softmax(dim=1)"},
        ),
        Mistake(
            "batch first",
            "The numbers are right, but in the batch-first layout. Here the order is [n_query, "
            "n_key, batch, n_heads].",
            {"->ijbh": "->bhij"},
        ),
        Mistake(
            "keys before queries",
            "The numbers are right, but keys come before queries.",
            {"->ijbh": "->jibh"},
        ),
        Mistake(
            "heads before the batch",
            "The numbers are right, but the heads come before the batch.",
            {"->ijbh": "->ijhb"},
        ),
        Mistake(
            "heads added up",
            "You added up the heads: a letter missing on the right is summed over.",
            {"->ijbh": "->ijb"},
        ),
        Mistake(
            "every head with all heads",
            "Each head's queries meet the keys of all heads, added up. Give the head the same "
            "letter in both.",
            {"ibhd,jbhd": "ibhd,jbgd"},
        ),
        Mistake(
            "features each by themselves",
            "Queries and keys are added up over their features before they meet, because the "
            "features have a different letter in each. Give them the same one.",
            {"ibhd,jbhd": "ibhd,jbhe"},
        ),
        Mistake(
            "every sentence with the whole batch",
            "Queries meet the keys of all sentences in the batch, added up. Give the batch the "
            "same letter in both.",
            {"ibhd,jbhd": "ibhd,jahd"},
        ),
        Mistake(
            "a matrix product of the last two dimensions",
            "`@` treats the last two dimensions as the matrix. Here those are heads and features, "
            "so heads would be compared with heads. Permute first, or use `einsum`.",
            {SEQ_FIRST: "query @ key.transpose(-2, -1)"},
        ),
        Mistake(
            "view instead of permute",
            "The shape is right, but `view` does not move dimensions; `permute` them back.",
            """
            n_query, batch, n_heads, d_k = query.shape
            scores = query.permute(1, 2, 0, 3) @ key.permute(1, 2, 3, 0) / d_k**0.5
            return scores.view(n_query, len(key), batch, n_heads)
            """,
        ),
        Mistake(
            "features not added up",
            "You multiplied the features and stopped there. A dot product also adds them up.",
            {SEQ_FIRST: "query[:, None] * key"},
        ),
    ],
    alternatives=[
        Alternative(
            "permute and multiply",
            {
                SEQ_FIRST: (
                    "(query.permute(1, 2, 0, 3) @ key.permute(1, 2, 3, 0)).permute(2, 3, 0, 1)"
                )
            },
        ),
        Alternative("broadcast and add up", {SEQ_FIRST: "(query[:, None] * key).sum(-1)"}),
        Alternative(
            "a loop over heads",
            """
            d_k = query.shape[-1]
            heads = [
                torch.einsum("ibd,jbd->ijb", query[:, :, h], key[:, :, h]) / d_k**0.5
                for h in range(query.shape[2])
            ]
            return torch.stack(heads, dim=-1)
            """,
        ),
        Alternative(
            "queries scaled first",
            """
            scaled = query * query.shape[-1] ** -0.5
            return torch.einsum("qbhd,kbhd->qkbh", scaled, key)
            """,
        ),
    ],
    hints=[
        "Give each dimension of `query` a letter. Which letters does `key` share with it, and "
        "which of its dimensions needs a letter of its own?",
        "A letter in both inputs and in the result stays side by side (batch, heads). A letter "
        "missing from the result is summed over (features).",
        "The result's letters come in the order query, key, batch, head. Then divide by the "
        "square root of a head's number of features.",
    ],
    excuses={
        "another argument: query → key in query.shape[-1]": "a query has as many features as a key",
        "permute and multiply / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "broadcast and add up / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "a loop over heads / another argument: query → key in d_k = query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "a loop over heads / another argument: query → key in range(query.shape[2])": (
            "both have all heads"
        ),
        "queries scaled first / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
    },
)

# ---------------------------------------------------------------- attend_by_einsum


SAME_SHAPES = "only its shape is used, and all four have the same"

attend_by_einsum = Exercise(
    "attend_by_einsum",
    challenge=True,
    returns="result",
    aspects=[
        Aspect("several heads", 1),
        Aspect("one head", 1, [lambda draw: draw.fix(n_heads=1).arguments()]),
    ],
    mistakes=[
        Mistake(
            "not scaled",
            "You forgot to scale: divide the scores by √d_head.",
            {" / w_key.shape[1] ** 0.5": ""},
        ),
        Mistake(
            "scaled by the model's size",
            "You divided by √d_model. A head's queries have d_head features, so divide by √d_head.",
            {"w_key.shape[1] ** 0.5": "w_key.shape[2] ** 0.5"},
        ),
        Mistake(
            "scaled by the number of heads",
            "You divided by the root of the number of heads. Divide by √d_head.",
            {"w_key.shape[1] ** 0.5": "len(w_key) ** 0.5"},
        ),
        Mistake(
            "softmax over the queries",
            "You took softmax over the queries. A query's weights for all keys sum to 1, and the "
            "keys are last in `hij`.",
            {"dim=-1": "dim=-2"},
            {"dim=-1": "dim=1"},
        ),
        Mistake(
            "softmax over the heads",
            "You took softmax over the heads. Each head has weights of its own.",
            {"dim=-1": "dim=0"},
        ),
        Mistake(
            "the heads are averaged",
            "You took the mean of what the heads send back. Merging adds them up.",
            {"w_output)": "w_output) / len(w_output)"},
        ),
        Mistake(
            "query and key exchanged",
            "Your scores are transposed: i should be the query and j the key in `hij`.",
            {"hik,hjk->hij": "hjk,hik->hij"},
        ),
        Mistake(
            "keys instead of values",
            "You added up the keys. What gets added up are the values, made with `w_value`.",
            {"words, w_value": "words, w_key"},
            {"attn_weights, value": "attn_weights, key"},
        ),
    ],
    alternatives=[
        Alternative(
            "matrix products",
            """
            query, key, value = (words @ w.mT for w in (w_query, w_key, w_value))
            attn_scores = query @ key.mT / w_query.shape[-2] ** 0.5
            return (attn_scores.softmax(-1) @ value @ w_output).sum(0)
            """,
        ),
        Alternative(
            "head by head",
            """
            result = torch.zeros_like(words)
            for query, key, value, output in zip(w_query, w_key, w_value, w_output, strict=True):
                attn_scores = (words @ query.T) @ (words @ key.T).T / len(key) ** 0.5
                result = result + torch.softmax(attn_scores, dim=-1) @ (words @ value.T) @ output
            return result
            """,
        ),
        Alternative(
            "merged",
            """
            n_heads, d_head, d_model = w_value.shape
            query, key = (torch.einsum("nd,hkd->hnk", words, w) for w in (w_query, w_key))
            attn_weights = (query @ key.transpose(1, 2) / d_head**0.5).softmax(-1)
            context = attn_weights @ torch.einsum("nd,hkd->hnk", words, w_value)
            merged = context.transpose(0, 1).reshape(len(words), n_heads * d_head)
            return merged @ w_output.reshape(n_heads * d_head, d_model)
            """,
        ),
    ],
    hints=[
        "Name the dimensions: n words, h heads, k features of a head, d features of the model. "
        'Queries are `"nd,hkd->hnk"`: d is on the left only, so it gets summed over.',
        "Scores need two letters for words, i for the query and j for the key: "
        '`"hik,hjk->hij"`. Then scale, and softmax over j.',
        "In the output, both h and k get summed over.",
    ],
    excuses={
        "another argument: w_key →": SAME_SHAPES,
        "matrix products / another argument: w_query →": SAME_SHAPES,
        "merged / another argument: w_value →": SAME_SHAPES,
        "head by head / softmax's dimension: torch.softmax($X, dim=1)": (
            "a head's scores have two dimensions"
        ),
    },
)

EXERCISES = (
    project_heads,
    split_heads,
    merge_heads,
    MultiHeadAttention,
    seq_first_scores,
    attend_by_einsum,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "share_of_the_dog",
        right="½, and the context is the same",
        choices={
            "½, and the context is the same": "Half a dog and half a man, whoever bites.",
            "½, but the context differs": (
                "It is another sentence, but the same two halves get added up."
            ),
            "all of it": "Both places are asked for alike, so they share evenly.",
        },
    ),
    Prediction(
        "view_or_reshape",
        right="only `reshape`",
        choices={
            "both": "`view` never moves a number, and here the numbers lie in a different order.",
            "only `reshape`": "It makes a copy, in the new order.",
            "neither": "`reshape` can: where the order in memory doesn't fit, it makes a copy.",
        },
    ),
    Prediction(
        "row_after_dropout",
        right="it depends, but 1 on average",
        choices={
            "1": "Dropout doesn't divide again. It doubles what is left, whatever that sums to.",
            "½": "About half of the weights are gone, but those that are left are doubled.",
            "it depends, but 1 on average": "Every weight is gone or doubled, with even odds.",
        },
    ),
    Prediction(
        "parameters_of_16_heads",
        right="as many as with 1",
        choices={
            "16 times as many as with 1": (
                "Each head has projections of its own. But they are only a sixteenth as wide."
            ),
            "as many as with 1": "More heads are narrower heads.",
            "a sixteenth": "Each head is a sixteenth as wide, and there are 16 of them.",
        },
    ),
]
