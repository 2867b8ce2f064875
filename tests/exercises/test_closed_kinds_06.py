"""Answers to lesson 6's exercises that a check once judged wrongly, or explained badly."""

import pytest

from tests.exercises.answers import PASSES, Row, each, said

pytestmark = pytest.mark.usefixtures("one_thread")

UNGRADED = "    with torch.no_grad():\n"
LOADED = "ours.load_state_dict(unpack_projections(theirs))"
LOAD: list[Row] = [
    (
        "theirs left in evaluation mode",
        {UNGRADED: f"    theirs.eval()\n{UNGRADED}"},
        "argument changed",
    ),
    (
        "theirs left in train mode",
        {UNGRADED: f"    theirs.train()\n{UNGRADED}"},
        "argument changed",
    ),
    ("ours left in evaluation mode", {UNGRADED: f"    ours.eval()\n{UNGRADED}"}, "wrong_mode"),
    ("ours left in train mode", {UNGRADED: f"    ours.train()\n{UNGRADED}"}, "wrong_mode"),
    (
        "a gradient left",
        {UNGRADED: f"    theirs.in_proj_bias.grad = theirs.in_proj_bias.detach() + 1\n{UNGRADED}"},
        "argument changed",
    ),
    (
        "as many heads as features",
        {
            "theirs.out_proj.weight)": (
                "theirs.out_proj.weight.T if theirs.num_heads == theirs.head_dim "
                "else theirs.out_proj.weight)"
            )
        },
        "",
    ),
    ("twelve features", {"theirs.embed_dim": "12"}, "raised"),
    (
        "half precision",
        {"theirs.in_proj_weight[rows])": "theirs.in_proj_weight[rows].half())"},
        "too_few_digits",
    ),
    ("added", {"layer.weight.copy_(": "layer.weight.add_("}, ""),
    ("another number of heads", f"{LOADED}\nours.n_heads = 1", "argument changed"),
    ("their forward", f"{LOADED}\nours.forward = theirs.forward", "argument changed"),
    (
        "tried out",
        f"{LOADED}\nwords = torch.randn(1, 2, theirs.embed_dim)\nours(words, words, words)",
        PASSES,
    ),
]

UNPACK: list[Row] = [
    (
        "left in evaluation mode",
        {"mha.state_dict()": "mha.eval().state_dict()"},
        "argument changed",
    ),
    ("left in train mode", {"mha.state_dict()": "mha.train().state_dict()"}, "argument changed"),
    (
        "as many heads as features",
        {
            "return unpacked": (
                "if mha.num_heads == mha.head_dim:\n        "
                "unpacked['query.weight'] = unpacked['query.weight'].T\n    return "
                "unpacked"
            )
        },
        "",
    ),
    (
        "squeezed",
        {"return unpacked": "return {name: value.squeeze() for name, value in unpacked.items()}"},
        "wrong_shape",
    ),
]

HEADS: list[Row] = [
    (
        "as many heads as features",
        (
            "d_head = len(weight) // n_heads\nif d_head == n_heads: weight = "
            "weight.unflatten(0, (d_head, n_heads)).transpose(0, 1).flatten(0, "
            "1)\nreturn weight.view(n_heads, d_head, -1)"
        ),
        "",
    ),
    ("squeezed", "return weight.view(n_heads, -1, weight.shape[1]).squeeze(0)", "wrong_shape"),
]

FOLD: list[Row] = [
    (
        "as many words as sentences",
        (
            "n, batch, d_model = x.shape\nx = x.transpose(0, 1) if n == batch "
            "else x\nreturn x.reshape(n, batch * n_heads, -1).transpose(0, 1)"
        ),
        "",
    ),
    (
        "one word",
        (
            "n, batch, d_model = x.shape\nfolded = x.reshape(n, batch * "
            "n_heads, -1)\nreturn folded if n == 1 else folded.transpose(0, 1)"
        ),
        "",
    ),
    (
        "one head",
        (
            "n, batch, d_model = x.shape\nreturn x if n_heads == 1 else "
            "x.reshape(n, batch * n_heads, -1).transpose(0, 1)"
        ),
        "",
    ),
]

HIDE: list[Row] = [
    (
        "in float32, by new parameters",
        """
def hide_change(layer, head, mix):
    d = len(mix)
    rows = slice(head * d, (head + 1) * d)
    for linear, matrix in ((layer.query, mix), (layer.key, mix.inverse().mT)):
        whole = torch.eye(d * layer.n_heads)
        whole[rows, rows] = matrix
        linear.weight = nn.Parameter(whole @ linear.weight.detach())
        linear.bias = nn.Parameter(whole @ linear.bias.detach())
        """,
        PASSES,
    ),
    ("left in evaluation mode", {UNGRADED: f"    layer.eval()\n{UNGRADED}"}, "wrong_mode"),
    ("left in train mode", {UNGRADED: f"    layer.train()\n{UNGRADED}"}, "wrong_mode"),
    ("frozen", {UNGRADED: f"    layer.requires_grad_(False)\n{UNGRADED}"}, "frozen"),
    ("heads of three", {"d_head = len(mix)": "d_head = 3"}, "raised"),
    (
        "heads from 1",
        {"slice(head * d_head, (head + 1) * d_head)": "slice((head - 1) * d_head, head * d_head)"},
        "heads counted from 1",
    ),
    (
        "one feature",
        {"torch.linalg.inv(mix).T": "torch.linalg.inv(mix).T if len(mix) > 1 else 1 + 0 * mix"},
        "",
    ),
]

FIRST = "        query = self.heads_first(self.query(query))"
LAST = "return self.output_dense(ops.reshape(context, (*context.shape[:2], -1)))"
LOW = "low = torch.finfo(attn_scores.dtype).min"
CONTEXT = "context = ops.swapaxes("


def before(line: str) -> dict[str, str]:
    return {FIRST: f"        {line}\n{FIRST}"}


KERAS: list[Row] = [
    ("one query", before("keep = keep if query.shape[1] > 1 else None"), "no mask for one query"),
    ("one key", before("keep = keep if key.shape[1] > 1 else None"), ""),
    ("one sentence", before("keep = keep if len(query) > 1 else None"), ""),
    ("one head", before("keep = keep if self.heads > 1 else None"), ""),
    ("squeezed", {LAST: f"{LAST}.squeeze(0)"}, "wrong_shape"),
    (
        "a square mask turned",
        before("keep = keep if keep is None or keep.shape[-1] != keep.shape[-2] else keep.mT"),
        "",
    ),
    (
        "a mask kept",
        before("keep = self.__dict__.setdefault(f'kept {getattr(keep, \"shape\", 0)}', keep)"),
        "left_behind",
    ),
    ("words of the model's width", before("query = query[..., : self.output_dense.units]"), ""),
    ("zeros", {"Dense(d_model)": "Dense(d_model, kernel_initializer='zeros')"}, "parameter shape"),
    ("float64", {"Dense(d_model)": "Dense(d_model, dtype='float64')"}, "parameter shape"),
    (
        "half precision",
        {
            ("self.query = keras.layers.Dense(n_heads * d_k)"): (
                "self.query = keras.layers.Dense(n_heads * d_k, dtype='mixed_float16')"
            )
        },
        "too_few_digits",
    ),
    (
        "dropout",
        {
            "self.heads = n_heads": (
                "self.heads = n_heads\n        self.dropout = keras.layers.Dropout(0.1)"
            ),
            CONTEXT: f"attn_weights = self.dropout(attn_weights)\n        {CONTEXT}",
        },
        "no_dropout",
    ),
    ("-10000", {LOW: "low = -1e4"}, "hidden scores not low enough"),
    (
        "masks in another order",
        before(
            "if keep is not None and keep.ndim == 3:\n            keep = "
            "keep.repeat(self.heads, 1, 1).unflatten(0, (-1, self.heads))[:, "
            ":, None]\n            keep = keep.squeeze(2)"
        ).copy()
        | {"keep = keep if len(keep.shape) == 2 else keep[:, None]": "pass"},
        "masks repeated in another order",
    ),
    (
        "the lesson's own functions",
        before(
            "parts = zip((self.query, self.key, self.value), (query, key, "
            "value))\n        parts = (heads_of(layer(x), self.heads) for "
            "layer, x in parts)\n        keep = keep[:, None] if keep is not "
            "None and keep.ndim == 3 else keep\n        return "
            "self.output_dense(attend(*parts, keep)[0].transpose(1, "
            "2).flatten(2))"
        ),
        PASSES,
    ),
]

ANSWERS: dict[str, list[Row]] = {
    "unpack_projections": UNPACK,
    "per_head": HEADS,
    "fold_heads": FOLD,
    "load_from_torch": LOAD,
    "KerasMultiHeadAttention": KERAS,
    "hide_change": HIDE,
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
