"""Answers to lesson 2 that once fell short, and what they get."""

import pytest

from tests.exercises.answers import PASSES, said

QUERY, KEY, VALUE = "words @ w_query", "words @ w_key", "words @ w_value"
SCORES = "scores = query @ key.mT / key.shape[-1] ** 0.5"
COPIED = """
with torch.no_grad():
    target.query.weight.copy_(source.w_query.T)
    target.key.weight.copy_(source.w_key.T)
    target.value.weight.copy_(source.w_value.T)
"""

BALL = """
q = torch.tensor([[{}, 0.0], [{}], [{}], [{}, 0.0]])
k = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
return torch.softmax(words @ q @ k.T @ words.T / 2**0.5, dim=-1)
"""
FOUND = BALL.format(0, "0.0, 20.0", "20.0, 0.0", 0)
CAPPED = {"key.shape[-1] ** 0.5": "min(key.shape[-1] ** 0.5, 4)"}


@pytest.mark.parametrize(
    ("exercise", "code", "expected"),
    [
        (
            "SelfAttention",
            {"attn_weights.detach()": "attn_weights if self.training else attn_weights.detach()"},
            "attached",
        ),
        (
            "SelfAttention",
            {"torch.rand(d_in, d_k))": "torch.rand(d_in, d_k), False)"},
            "never trained",
        ),
        (
            "project",
            f"result = {QUERY}, {KEY}, {VALUE}\nreturn result[::-1] if words.dim() > 4 else result",
            "wrong_shape",
        ),
        (
            "project",
            "if words.dim() == 3 and len(words) == 1:\n    words = words[0]\n"
            f"return {QUERY}, {KEY}, {VALUE}",
            "wrong_shape",
        ),
        ("project", f"return torch.stack([{QUERY}, {KEY}, {VALUE}])", "stacked"),
        ("project", f"return {QUERY}, {VALUE}, {KEY}", "key and value exchanged"),
        (
            "project",
            "return w_query.T @ words, w_key.T @ words, w_value.T @ words",
            "matrix on the left",
        ),
        (
            "scaled_scores",
            f"{SCORES}\nreturn scores * 2 if query.dim() > 4 else scores",
            "constant_factor",
        ),
        (
            "scaled_dot_product_attention",
            "weights = torch.softmax(query @ key.mT, -1)\n"
            "return weights @ value / key.shape[-1] ** 0.5, weights",
            "context scaled",
        ),
        ("scaled_scores", f"{SCORES.replace('key.shape[-1]', '4')}\nreturn scores", "divided by 2"),
        (
            "scaled_scores",
            "return query @ key.mT / int(key.shape[-1] ** 0.5)",
            "√d_k rounded down",
        ),
        (
            "scaled_dot_product_attention",
            "weights = torch.softmax(query @ key.mT / int(key.shape[-1] ** 0.5), -1)\n"
            "return weights @ value, weights",
            "√d_k rounded down",
        ),
        (
            "scaled_dot_product_attention",
            "weights = torch.softmax(query @ key.mT / min(key.shape[-1] ** 0.5, 4), -1)\n"
            "return weights @ value, weights",
            "other_scale",
        ),
        ("SelfAttention", CAPPED, "other_scale"),
        ("LinearSelfAttention", CAPPED, "other_scale"),
        ("LinearSelfAttention", {"key.shape[-1] ** 0.5": "2"}, "divided by 2"),
        ("SelfAttention", {"    def forward": "    def __call__"}, "method"),
        (
            "SelfAttention",
            {"self.w_query = nn.Parameter(torch.rand(": "self.w_query = nn.Parameter(torch.zeros("},
            "all_the_same",
        ),
        (
            "SelfAttention",
            {"torch.rand(d_in, d_v)": "torch.rand(d_in, d_v).double()"},
            "parameter shape",
        ),
        (
            "SelfAttention",
            {"self.attn_weights = attn": "SelfAttention.attn_weights = attn"},
            "left_by_another",
        ),
        (
            "LinearSelfAttention",
            {
                "self.value = nn.Linear(d_in, d_v, bias=False)": (
                    "self.value = nn.Linear(d_in, d_v, bias=False)\n"
                    "        nn.init.zeros_(self.value.weight)"
                )
            },
            "parameter shape",
        ),
        ("copy_projections", f"{COPIED}target.eval()", "wrong_mode"),
        ("copy_projections", f"{COPIED}target.query.eval()", "wrong_mode"),
        ("copy_projections", f"{COPIED}target.train()", "wrong_mode"),
        ("copy_projections", f"{COPIED}source.eval()", "argument changed"),
        ("copy_projections", f"{COPIED}source.w_query.data.zero_()", "wrong direction"),
        (
            "copy_projections",
            f"{COPIED}with torch.no_grad():\n    source.w_query.zero_()",
            "wrong direction",
        ),
        ("find_the_ball", FOUND, PASSES),
        ("find_the_ball", FOUND.replace("20.0", "6.5"), PASSES),
        ("find_the_ball", BALL.format(0, "0.0, 60.0", "5.4, 0.0", 0), "weight_elsewhere"),
        ("find_the_ball", BALL.format(0, "0.0, 60.0", "6.0, 0.0", 0), "weight_elsewhere"),
        ("find_the_ball", BALL.format(0, "0.0, 5.4", "60.0, 0.0", 0), "weight_elsewhere"),
        ("find_the_ball", BALL.format(0.4, "0.0, 20.0", "20.0, 0.0", 0), "weight_elsewhere"),
        ("find_the_ball", BALL.format(0.1, "0.0, 20.0", "20.0, 0.0", 0), "some_rows_right"),
        ("find_the_ball", BALL.format(0, "0.0, 0.0", "20.0, 0.0", 0), "the verb looks for nothing"),
        ("find_the_ball", BALL.format(0, "20.0, 0.0", "20.0, 0.0", 0), "the verb finds the noun"),
        ("find_the_ball", BALL.format(0, "20.0, 20.0", "20.0, 20.0", 0), "both look for both"),
        ("find_the_ball", BALL.format(0, "0.0, 20.0", "20.0, 0.0", 20.0), "round words look too"),
        ("find_the_ball", FOUND.replace("q @ k.T", "k @ q.T"), "query and key exchanged"),
        ("find_the_ball", FOUND.replace("dim=-1", "dim=0"), "columns instead of rows"),
        (
            "find_the_ball",
            FOUND.replace("torch.softmax(", "(").replace(", dim=-1", ""),
            "scores returned",
        ),
        (
            "copy_projections",
            f"target.query = nn.Linear(*source.w_query.shape)\n{COPIED}",
            "other parameters",
        ),
        (
            "copy_projections",
            "target.query = nn.Parameter(source.w_query.T.clone())\n"
            "target.key = nn.Parameter(source.w_key.T.clone())\n"
            "target.value = nn.Parameter(source.w_value.T.clone())",
            "the layer replaced",
        ),
        (
            "copy_projections",
            "for old, new in zip(source.parameters(), target.children()):\n"
            "    new.weight = nn.Parameter(old.detach().T.clone())",
            PASSES,
        ),
        (
            "SelfAttention",
            {"attn_weights.detach()": "nn.Parameter(attn_weights.detach())"},
            "parameters",
        ),
    ],
)
def test_it_is_judged_as_it_should_be(exercise, code, expected):
    assert expected in said(exercise, code)
