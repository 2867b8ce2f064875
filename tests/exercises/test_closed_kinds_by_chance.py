"""Answers of several lessons that were right only by chance: of sizes, of layouts, of one call."""

import pytest

from tests.exercises.answers import PASSES, REJECTED, said

LEAK = "attention(changed)[:, :place], before[:, :place]"
LOW = "lowest = torch.finfo(attn_scores.dtype).min"


def padding_if(mask: str, of: str) -> str:
    """A 2-d mask taken for one of padding where it has a row for each text."""
    return f"{mask}[:, None] if {mask} is not None and len({mask}) == len({of}) else {mask}"


def unless_empty(mask: str) -> str:
    return f"{mask} if {mask} is not None and {mask}.any() else None"


@pytest.mark.parametrize(
    ("exercise", "edits"),
    [
        (
            "masked_softmax",
            {"(~keep, lowest)": f"(~({padding_if('keep', 'attn_scores')}), lowest)"},
        ),
        (
            "masked_attention",
            {"(attn_scores, keep)": f"(attn_scores, {padding_if('keep', 'query')})"},
        ),
        (
            "WideMultiHeadAttention",
            {"*projected, keep": f"*projected, {padding_if('keep', 'query')}"},
        ),
        ("Encoder", {"source, keep)": f"source, {padding_if('keep', 'source')})"}),
        ("Decoder", {"source_keep)": f"{padding_if('source_keep', 'target')})"}),
        ("Decoder", {"target_keep)": f"{padding_if('target_keep', 'target')})"}),
        (
            "KerasMultiHeadAttention",
            {"keep if len(keep.shape) == 2": "keep if len(keep) != len(query)"},
        ),
    ],
    ids=str,
)
def test_a_mask_for_all_that_has_as_many_rows_as_there_are_texts(exercise, edits):
    assert PASSES not in said(exercise, edits)


@pytest.mark.parametrize(
    ("exercise", "old", "as_given", "dims"),
    [
        ("MultiHeadAttention", "weights_from_scores(attn_scores, keep)", "keep", 3),
        ("RotarySelfAttention", "self.heads_of(self.value(x)), keep)", "keep[:, 0]", 4),
    ],
)
def test_a_mask_for_each_text_where_there_are_as_many_texts_as_heads(exercise, old, as_given, dims):
    fits = f"keep is not None and keep.dim() == {dims} and len(keep) == self.n_heads"
    edits = {old: old.replace("keep)", f"{as_given}[None] if {fits} else keep)")}
    assert PASSES not in said(exercise, edits)


@pytest.mark.parametrize(
    ("exercise", "edits"),
    [
        ("WideMultiHeadAttention", {"*projected, keep": f"*projected, {unless_empty('keep')}"}),
        ("Encoder", {"source, keep)": f"source, {unless_empty('keep')})"}),
        ("Decoder", {"source_keep)": f"{unless_empty('source_keep')})"}),
        ("Decoder", {"target_keep)": f"{unless_empty('target_keep')})"}),
        ("KerasMultiHeadAttention", {"if keep is None": "if keep is None or not keep.any()"}),
    ],
    ids=str,
)
def test_a_mask_that_hides_everything(exercise, edits):
    assert PASSES not in said(exercise, edits)


@pytest.mark.parametrize(
    ("exercise", "edits"),
    [
        (
            "WideMultiHeadAttention",
            {
                "contexts, weights = [], []": (
                    "self.n = getattr(self, 'n', memory.shape[1])\n"
                    "        memory = memory[:, : self.n]\n"
                    "        keep = None if keep is None else keep[..., : self.n]\n"
                    "        contexts, weights = [], []"
                )
            },
        ),
        (
            "Encoder",
            {
                "attended =": "self.n = getattr(self, 'n', source.shape[1])\n"
                "        source = source[:, : self.n]\n        attended ="
            },
        ),
    ],
    ids=["WideMultiHeadAttention", "Encoder"],
)
def test_no_more_words_than_in_the_first_call(exercise, edits):
    assert PASSES not in said(exercise, edits)


@pytest.mark.parametrize(
    ("exercise", "code"),
    [
        (
            "seq_first_scores",
            "n_query, batch, n_heads, d_k = query.shape\n"
            "q, k = (x.view(len(x), batch * n_heads, d_k).transpose(0, 1) for x in (query, key))\n"
            "scores = (q @ k.mT / d_k**0.5).view(batch, n_heads, n_query, -1)\n"
            "return scores.permute(2, 3, 0, 1)",
        ),
        (
            "rotate",
            {
                "a, b = x[..., 0::2], x[..., 1::2]": (
                    "a, b = x.view(-1, len(positions), d_head // 2, 2).unbind(-1)"
                ),
                ".flatten(-2)": ".flatten(-2).view(x.shape)",
            },
        ),
    ],
    ids=["seq_first_scores", "rotate"],
)
def test_a_view_that_joins_dimensions_which_lie_apart(exercise, code):
    assert "raised" in said(exercise, code)


def test_gradients_switched_on_for_good():
    edits = {
        "    @torch.no_grad()\n": "",
        "was_training = ": "torch.set_grad_enabled(False)\n        was_training = ",
        "return written": "torch.set_grad_enabled(True)\n        return written",
    }
    assert "setting" in said("SquareCompleter", edits)


@pytest.mark.parametrize(
    ("exercise", "code", "expected"),
    [
        (
            "query_scores",
            "zero = torch.zeros(())\n"
            "return torch.stack([zero if torch.equal(w, query) else w @ query for w in words])",
            "no word with itself",
        ),
        (
            "split_heads",
            "if x.shape[-1] > n_heads and x.shape[-1] % n_heads:\n    raise ValueError\n"
            "d_head = x.shape[-1] // n_heads\n"
            "x = x[..., : n_heads * d_head]\n"
            "return x.reshape(*x.shape[:2], n_heads, d_head).transpose(1, 2)",
            "no_error",
        ),
        (
            "to_additive",
            "return torch.zeros(keep.shape, dtype=None if keep.all() else dtype).masked_fill("
            "~keep, -math.inf)",
            "wrong_dtype",
        ),
        (
            "masked_softmax",
            f"{LOW}\nhidden = torch.zeros_like(attn_scores).masked_fill(~keep, lowest)\n"
            "return torch.softmax(attn_scores + hidden, -1).masked_fill(~keep, 0.0)",
            "holds_nan",
        ),
        (
            "find_leak",
            {
                f"if not torch.allclose({LEAK}, atol=1e-5)": (
                    "changed = x.clone()\n        changed[:, place] += 1\n"
                    "        if (attention(changed) - before)[:, :place].max() > 2e-5"
                )
            },
            "wrong_decision",
        ),
        (
            "find_scale",
            {
                "attention = opened(attention)": "own = attention.output.weight.clone()\n"
                "    attention = opened(attention)\n    attention.output.weight[:] = own"
            },
            "wrong_decision",
        ),
        ("first_difference", {"name.endswith(parts)": "name.startswith('blocks.')"}, "choice"),
        (
            "first_difference",
            {
                "hook.remove()": "hook.remove()\n"
                "        for part in model.modules():\n            part._forward_hooks.clear()"
            },
            "argument changed",
        ),
        (
            "sample",
            {
                "likelier = ranked.cumsum(dim=-1) - ranked": (
                    "last = (ranked.cumsum(0) >= top_p).int().argmax()"
                ),
                "probs[order[likelier >= top_p]]": "probs[order[last + 1 :]]",
            },
            "",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_right_in_nearly_all_cases(exercise, code, expected):
    assert {REJECTED, expected} <= said(exercise, code) | {""}
