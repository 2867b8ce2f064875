"""The slice of features of each head: head h owns columns h·d_head up to (h + 1)·d_head."""

from collections.abc import Callable

from autograder.lessons.cases import Raises
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import numbered


def split_case(draw: Draw) -> dict:
    sizes = draw.heads()
    return {"x": draw.normal("batch n d_model"), "n_heads": sizes["n_heads"]}


def numbered_split_case(draw: Draw) -> dict:
    sizes = draw.heads()
    draw.label("x[b, w, f] = 1000 (b + 1) + 100 w + f")
    return {"x": numbered(draw, "batch n d_model", 1000, 100, 1), "n_heads": sizes["n_heads"]}


def heads_that_do_not_divide(**sizes: int) -> Callable[[Draw], Raises]:
    def case(draw: Draw) -> Raises:
        draw.label("4 heads")
        words = draw.fix(**sizes).normal("batch n d_model")
        return Raises({"x": words, "n_heads": 4}, "ValueError")

    return case


VIEW = "x.view(batch, n, n_heads, d_model // n_heads).transpose(1, 2)"

EXERCISE = Exercise(
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
            [
                heads_that_do_not_divide(d_model=10, n=8),  # they do divide the words
                heads_that_do_not_divide(d_model=9),
                heads_that_do_not_divide(d_model=3),
                split_case,
            ],
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
            "words counted for features",
            "You asked whether n_heads divides the number of words. The heads share the "
            "features: ask about `d_model`, the last dimension.",
            {"d_model % n_heads": "n % n_heads"},
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
