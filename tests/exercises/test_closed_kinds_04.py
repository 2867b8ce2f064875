"""Answers to lesson 4 that once fell short, and what they get."""

import pytest

from tests.exercises.answers import PASSES, REJECTED, said

LOW = "lowest = torch.finfo(attn_scores.dtype).min"
SOFTMAX = "weights = torch.softmax(attn_scores.masked_fill(~keep, lowest), -1)"
SCORES = "scores = query @ key.mT / math.sqrt(key.shape[-1])"
HIDDEN = "torch.zeros(keep.shape, dtype=dtype).masked_fill(~keep, -math.inf)"
TEST = """
words = torch.randn(3, 6, 8)
before = attention(words)
for later in range(1, 6):
    changed = words.clone()
    changed[:, later:] = torch.randn_like(words[:, later:])
    after = attention(changed)
    if not torch.allclose(before[:, :later], after[:, :later], atol=1e-5):
        return True
return False
"""


def masked_after(condition: str) -> str:
    """Softmax of a row with nothing only becomes 0 on a condition."""
    return f"{LOW}\n{SOFTMAX}\nreturn weights * keep if {condition} else weights"


def infinite(condition: str) -> str:
    """Attention in which a row with nothing becomes NaN on a condition."""
    return f"""
    {SCORES}
    weights = masked_softmax(scores, keep)
    if {condition}:
        weights = torch.softmax(scores.masked_fill(~keep, -math.inf), -1)
    return weights @ value, weights
    """


def compared(which: str) -> str:
    return TEST.replace("[:, :later]", f"[{which}]")


@pytest.mark.parametrize(
    ("exercise", "code", "expected"),
    [
        (
            "padding_keep",
            "return (torch.arange(int(lengths[0])) < lengths[:, None])[:, None]",
            "wrong_shape",
        ),
        ("masked_softmax", masked_after("keep.shape[-2] > 1"), "some_texts_right"),
        (
            "masked_softmax",
            masked_after("keep.shape[-2] != keep.shape[-1]"),
            "some_texts_right",
        ),
        ("masked_softmax", masked_after("keep.any()"), "all_the_same"),
        ("masked_softmax", masked_after("attn_scores.dim() < 5"), "all_the_same"),
        (
            "masked_softmax",
            f"if keep.dim() == 3 and attn_scores.dim() == 4:\n    keep = keep[:, None]\n"
            f"{masked_after('True')}",
            "raised",
        ),
        (
            "masked_softmax",
            "half = attn_scores.dtype == torch.float16\n"
            f"{LOW}\nlowest = -1e4 if half else lowest\n{SOFTMAX}\nreturn weights * keep",
            "all_the_same",
        ),
        (
            "masked_softmax",
            f"{LOW}\nhidden = (~keep).to(attn_scores.dtype) * lowest\n"
            "return torch.softmax(attn_scores + hidden, -1) * keep",
            "NaN in float16",
        ),
        (
            "masked_softmax",
            f"{LOW}\nreturn torch.softmax(attn_scores.masked_fill(keep, lowest), -1)",
            "not turned around",
        ),
        (
            "masked_softmax",
            "if attn_scores.shape[-2] == 1:\n    return torch.softmax(attn_scores, -1)\n"
            f"{masked_after('True')}",
            "a single query without a mask",
        ),
        (
            "masked_softmax",
            "weights = torch.softmax(attn_scores * keep, -1) * keep\n"
            "return weights / (weights.sum(-1, keepdim=True) + 1e-13)",
            "hidden scores 0, divided by what is left",
        ),
        (
            "masked_softmax",
            f"{LOW}\nweights = torch.softmax(attn_scores.masked_fill(~keep, lowest / 2), -1)\n"
            "return weights * keep",
            PASSES,
        ),
        (
            "masked_softmax",
            "return torch.softmax(attn_scores - 1000 * ~keep, -1) * keep",
            "a number taken from hidden scores",
        ),
        (
            "masked_softmax",
            "keep = keep.to(attn_scores.dtype)\n"
            "return torch.softmax(attn_scores + (1 - keep) * -10000, -1) * keep",
            "a number taken from hidden scores",
        ),
        ("masked_attention", infinite("query.shape[-2] == key.shape[-2]"), "holds_nan"),
        ("masked_attention", infinite("query.shape[-2] == 1"), "holds_nan"),
        ("masked_attention", infinite("key.shape[-2] == 1"), "holds_nan"),
        (
            "masked_attention",
            f"{SCORES}\nweights = torch.softmax(scores.masked_fill(keep, -1e30), -1)\n"
            "return weights @ value, weights",
            "not turned around",
        ),
        (
            "masked_attention",
            "weights = masked_softmax(query @ key.mT, keep)\n"
            "return weights @ value / math.sqrt(key.shape[-1]), weights",
            "context scaled",
        ),
        ("to_torch_mha_mask", "return (~keep).repeat(2, 1, 1)", "repeated for the heads"),
        ("to_torch_mha_mask", "return (~keep).repeat_interleave(2, 0)", "repeated for the heads"),
        ("to_additive", f"return {HIDDEN.replace('-math.inf', '-10000')}", "hidden by −10000"),
        ("to_additive", "return (1 - keep.to(dtype)) * -10000", "hidden by −10000"),
        (
            "to_additive",
            f"additive = {HIDDEN}\nreturn additive.masked_fill(~keep.any(-1, keepdim=True), 0.0)",
            "some_rows_right",
        ),
        (
            "to_additive",
            f"dtype = torch.float32 if dtype == torch.float64 else dtype\nreturn {HIDDEN}",
            "dtype ignored at times",
        ),
        (
            "to_additive",
            "halves = torch.float16, torch.bfloat16\n"
            f"dtype = torch.float32 if dtype in halves else dtype\nreturn {HIDDEN}",
            "dtype ignored at times",
        ),
        ("leaks_future", compared("[0, 2], :later"), "wrong_decision"),
        ("leaks_future", compared("0, :later"), "a batch of one"),
        ("leaks_future", compared(":, :later, 0"), "only the first feature compared"),
        (
            "leaks_future",
            TEST.replace("words.clone()", "words").replace(
                "    changed =", "    before = attention(words)\n    changed ="
            ),
            "words changed in place",
        ),
        ("leaks_future", f"torch.manual_seed(0)\n{TEST}", PASSES),
        (
            "packed_keep",
            "place = torch.arange(len(document))\nback = place[:, None] - place\n"
            "return (back >= 0) & (back <= before) & (document[:, None] <= document)",
            "texts mixed",
        ),
        (
            "masked_softmax",
            f"attn_scores = attn_scores.clamp(max=1000)\n{masked_after('True')}",
            REJECTED,
        ),
        (
            "masked_attention",
            f"keep = keep[:, :1] if keep.dim() == 4 else keep\n{SCORES}\n"
            "weights = masked_softmax(scores, keep)\nreturn weights @ value, weights",
            REJECTED,
        ),
    ],
)
def test_it_is_judged_as_it_should_be(exercise, code, expected):
    assert expected in said(exercise, code)
