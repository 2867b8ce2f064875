"""Answers to lesson 3 that once fell short, and what they get."""

import pytest

from tests.exercises.answers import PASSES, said

WEIGHTS = "weights_from_scores(attn_scores, keep)"
TURNED = f"""if keep is not None and keep.shape[-1] == keep.shape[-2]:
            keep = keep.mT
        attn_weights = {WEIGHTS}"""


@pytest.mark.parametrize(
    ("exercise", "code", "expected"),
    [
        (
            "project_heads",
            "return torch.stack([weight @ words for weight in weights])",
            "matrix on the left of all words",
        ),
        ("merge_heads", "return list(x.unbind(1))", "a list of heads"),
        ("seq_first_scores", {"query.shape[-1] ** 0.5": "min(query.shape[-1] ** 0.5, 4)"}, ""),
        ("attend_by_einsum", {"w_key.shape[1] ** 0.5": "min(w_key.shape[1] ** 0.5, 4)"}, ""),
        (
            "attend_by_einsum",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "attn_scores.exp() / attn_scores.exp().sum(-1, keepdim=True)"
                )
            },
            "holds_nan",
        ),
        ("merge_heads", "return torch.stack(list(x.unbind(1)))", "heads stacked"),
        ("merge_heads", "return torch.cat(x.unbind(1), dim=-1)", PASSES),
        (
            "MultiHeadAttention",
            {WEIGHTS: f"{WEIGHTS[:-1]} if query.shape[2] > 1 else None)"},
            "a single query without a mask",
        ),
        (
            "MultiHeadAttention",
            {WEIGHTS: f"{WEIGHTS[:-1]} if key.shape[2] > 1 else None)"},
            "all_the_same",
        ),
        (
            "MultiHeadAttention",
            {WEIGHTS: f"{WEIGHTS[:-1]} if self.n_heads > 1 else None)"},
            "largest_difference",
        ),
        (
            "MultiHeadAttention",
            {WEIGHTS: f"{WEIGHTS[:-1]} if self.training else None)"},
            "keep in training only",
        ),
        (
            "MultiHeadAttention",
            {WEIGHTS: f"{WEIGHTS[:-1]} if keep is None or keep.dim() < 3 else keep[:1])"},
            "one mask for all sentences",
        ),
        (
            "MultiHeadAttention",
            {"attn_weights.detach()": "attn_weights.detach() if self.training else None"},
            "weights kept in training only",
        ),
        ("MultiHeadAttention", {"query.shape[-1] ** 0.5": "2"}, "divided by 2"),
        (
            "MultiHeadAttention",
            {"query.shape[-1] ** 0.5": "min(query.shape[-1] ** 0.5, 4)"},
            "largest_difference",
        ),
        ("MultiHeadAttention", {"bias: bool = True": "bias: bool = False"}, "bias switched off"),
        (
            "merge_heads",
            "batch, n_heads, n, d_head = x.shape\n"
            "return x.contiguous().transpose(1, 2).view(batch, n, -1)",
            "view right after transpose",
        ),
        ("MultiHeadAttention", {f"attn_weights = {WEIGHTS}": TURNED}, "largest_difference"),
        (
            "MultiHeadAttention",
            {"(query / query.shape[-1] ** 0.5)": "(query / query.shape[-1] ** 0.5 ** 2)"},
            "largest_difference",
        ),
        (
            "MultiHeadAttention",
            {"nn.Dropout(dropout)": "nn.Dropout(dropout or 0.1)"},
            "nothing_to_drop",
        ),
        (
            "MultiHeadAttention",
            {"self.query(query)": "F.linear(query, self.query.weight.round(decimals=4))"},
            "largest_difference",
        ),
    ],
)
def test_it_is_judged_as_it_should_be(exercise, code, expected):
    assert expected in said(exercise, code)
