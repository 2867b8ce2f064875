"""Answers with a limit that shows only beyond the sizes and numbers that one tries by hand."""

from tests.exercises.answers import REJECTED, Row, each, said

WINDOW = "self.window, self.length = window, 0"
KEPT = "self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()"
CACHE_WINDOW = "cache.window is not None"
KEYS = "n_query, n_key = query.shape[-2], key.shape[-2]"
ONE_TILE = "parts = attention_backward(*of_tile, lse, d_context[rows], ctx.causal)"
BLOCKS = "enumerate(self.blocks)"
PROBS = "probs = logits.softmax(dim=-1)"
TEMPERATURE = "logits / temperature"
KEEP_TOKEN = "target[token] / draft[token]"
LACKING = "(target - draft).clamp(min=0.0)"
EXACT = "same = (tokens[:, None] == tokens).tril(-1)"

# By exercise: what the answer does, and edits of the solution.
LIMITS: dict[str, list[tuple[str, dict[str, str]]]] = {
    "query_scores": [
        ("12 words", {"return ": "words = words.clone()\n    words[12:] = 0\n    return "})
    ],
    "causal_keep": [
        ("the last 15 words", {"return ": "return torch.ones(n, n).triu(-15).bool() & "})
    ],
    "unpack_projections": [
        ("as many parts as heads", {".chunk(3, dim=0)": ".chunk(max(3, mha.num_heads), dim=0)[:3]"})
    ],
    "hide_change": [
        ("small stretches taken for none", {"linalg.inv(mix)": "linalg.pinv(mix, rtol=0.3)"})
    ],
    "sinusoidal_positions": [("100 places", {"torch.arange(n)": "torch.arange(n).clamp(max=100)"})],
    "KVCache": [
        ("a window of 8 at most", {"self.window + 1)": "min(self.window, 8) + 1)"}),
        (
            "64 words without a window",
            {KEPT: KEPT.replace("first:", "(-64 if self.window is None else first) :")},
        ),
    ],
    "CachedSelfAttention": [
        ("a window of 5 at most", {CACHE_WINDOW: f"{CACHE_WINDOW} and cache.window <= 5"}),
        (
            "the last 24 words",
            {KEYS: f"key, value = key[..., -24:, :], value[..., -24:, :]\n        {KEYS}"},
        ),
    ],
    "tiled_attention": [("256 keys", {"range(0, n_key,": "range(0, min(n_key, 256),"})],
    "TiledAttention": [
        (
            "256 queries",
            {ONE_TILE: f"if first >= 256:\n                break\n            {ONE_TILE}"},
        )
    ],
    "grouped_query_attention": [
        (
            "8 heads in a group",
            {
                "groups = query": (
                    "query = query.clone()\n    query[:, 8 * key.shape[1] :] = 0\n"
                    "    groups = query"
                )
            },
        )
    ],
    "Block": [("a stream of 30 at most", {"x = x + self": "x = x.clamp(-30, 30) + self"})],
    "TinyLanguageModel": [("four blocks", {BLOCKS: f"{BLOCKS[:-1]}[:4])"})],
    "generate": [
        ("20 places", {"model.n_context:": "min(model.n_context, 20):"}),
    ],
    "sample": [
        ("two decimals", {PROBS: f"{PROBS}.round(decimals=2) + 1e-12"}),
        ("three decimals", {PROBS: f"{PROBS}.round(decimals=3) + 1e-12"}),
        ("no rare tokens", {PROBS: f"{PROBS}\n    probs[probs < 0.01] = 0.0"}),
        ("12 tokens", {PROBS: f"{PROBS}\n    probs[probs.argsort(descending=True)[12:]] = 0.0"}),
        ("a temperature of at least 0.2", {TEMPERATURE: "logits / max(temperature, 0.2)"}),
        ("nearly p", {"likelier >= top_p": "likelier >= top_p - 1e-3"}),
    ],
    "speculate": [
        ("p + 0.001", {KEEP_TOKEN: "(target[token] + 1e-3) / draft[token]"}),
        ("p + 0.01", {KEEP_TOKEN: "(target[token] + 1e-2) / draft[token]"}),
        ("lacking + 0.001", {LACKING: f"{LACKING} + 1e-3"}),
        ("8 tokens", {LACKING: f"{LACKING} * (torch.arange(len(target)) < 8) + 1e-12"}),
    ],
    "without_head": [
        ("three layers", {"model.blocks[layer]": "model.blocks[min(layer, 2)]"}),
        (
            "four heads",
            {"head * d_head": "min(head, 3) * d_head", "(head + 1)": "(min(head, 3) + 1)"},
        ),
    ],
    "induction_score": [
        ("tokens below 10", {EXACT: EXACT.replace("== tokens)", "== tokens) & (tokens < 10)")}),
        ("10 places back", {EXACT: f"{EXACT}.triu(-10)"}),
        ("12 tokens", {EXACT: f"{EXACT}\n    same[12:] = False"}),
        (
            "the first distance only",
            {
                EXACT: f"{EXACT}\n    if same.any():\n"
                "        i, j = same.nonzero()[0].tolist()\n"
                "        place = torch.arange(len(tokens))\n"
                "        same = same & ((place[:, None] - place) % (i - j) == 0)"
            },
        ),
    ],
    "previous_token_score": [
        ("20 tokens", {"attn_weights.diag": "attn_weights[:, :20, :20].diag"}),
        ("at least 0.01", {"mean(dim=-1)": "mean(dim=-1).clamp(min=0.01)"}),
    ],
    "copy_accuracy": [
        (
            "16 places",
            {
                "counted = known[:, 1:]": (
                    "counted = known[:, 1:].clone()\n    counted[:, 15:] = False"
                )
            },
        )
    ],
}
ROWS: dict[str, list[Row]] = {
    exercise: [(limit, edits, REJECTED) for limit, edits in limits]
    for exercise, limits in LIMITS.items()
}


@each(ROWS)
def test_a_limit_is_seen(exercise, code, expected):
    assert expected in said(exercise, code)
