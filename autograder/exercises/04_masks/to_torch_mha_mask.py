"""The same mask for `nn.MultiheadAttention`: True where a key is hidden."""

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import padded_keep


def all_and_none(draw: Draw) -> dict:
    draw.label("a query that may attend to everything, and one to nothing")
    keep = draw.keep("n_query n_key")
    keep[0], keep[-1] = True, False
    return {"keep": keep}


EXERCISE = Exercise(
    "to_torch_mha_mask",
    returns="hidden",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect(
            "True where a key is hidden",
            1,
            [
                lambda draw: {"keep": draw.keep("n_query n_key")},
                lambda draw: {"keep": draw.keep("batch n_query n_key")},
                all_and_none,
                lambda draw: {"keep": padded_keep(draw)},
                lambda draw: {"keep": draw.keep("batch n_heads n_query n_key")},
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
            "repeated for the heads",
            "Your mask is repeated, and longer than `keep`. Only turn it around here. (Whoever "
            "calls the layer repeats it for its heads, each sentence's mask n_heads times in a "
            "row: `repeat_interleave(n_heads, 0)`.)",
            "return (~keep).repeat(2, *[1] * (keep.dim() - 1))",
            "return (~keep).repeat_interleave(2, 0)",
            "return (~keep).repeat(2, 1, 1)",
            "return (~keep).repeat(4, 1, 1)",
        ),
        Mistake(
            "causal whatever keep says",
            "You returned the causal mask, whatever `keep` says.",
            "return torch.ones_like(keep).triu(1)",
        ),
        Mistake(
            "diagonal left open",
            "Your diagonal is always False, so a word that `keep` hides from itself is visible "
            "again. Flip every entry, and do nothing more.",
            "return ~(keep | torch.eye(*keep.shape[-2:], dtype=torch.bool))",
        ),
    ],
    alternatives=[
        Alternative("logical not", "return torch.logical_not(keep)"),
        Alternative("compared with False", "return keep == False"),
        Alternative(
            "unlike True",
            "return keep ^ True",
            excuses={"operands swapped": "`^` is the same either way"},
        ),
        Alternative(
            "through floats",
            "return (1 - keep.float()).bool()",
            excuses={"operands swapped": "whatever is not 0 is True"},
        ),
    ],
    hints=[
        "The shape stays the same. Only the meaning of True changes.",
        "For every entry: True becomes False, and False becomes True.",
        "Python's operator for the opposite of a boolean tensor is the tilde.",
    ],
)
