"""The known mistakes of `WideMultiHeadAttention`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

NOT_SCALED = "The scores are not scaled. Divide them by √d_k; here d_k is d_model."
PROJECTED = 'head["query"](query), head["key"](memory), head["value"](memory)'

MISTAKES = [
    Mistake(
        "not scaled",
        NOT_SCALED,
        {
            PROJECTED: 'head["query"](query) * head["key"].out_features ** 0.5, '
            'head["key"](memory), head["value"](memory)'
        },
    ),
    Mistake(
        "scaled by the root of all heads",
        "You divided the scores by √(n_heads · d_model). Each head takes dot products over "
        "d_model features, so use √d_model.",
        {
            PROJECTED: 'head["query"](query) / len(self.heads) ** 0.5, '
            'head["key"](memory), head["value"](memory)'
        },
    ),
    Mistake(
        "divided by d_k",
        "You divided the scores by d_k instead of its square root.",
        {
            PROJECTED: 'head["query"](query) / head["key"].out_features ** 0.5, '
            'head["key"](memory), head["value"](memory)'
        },
    ),
    Mistake(
        "keys from the query",
        "You made keys and values from `query`: that is self-attention, whatever `memory` "
        "holds. Make both from `memory`.",
        {
            'head["key"](memory), head["value"](memory)': (
                'head["key"](query), head["value"](query)'
            )
        },
    ),
    Mistake(
        "query from the memory",
        "You made the queries from `memory`. Make them from `query`, which may have a "
        "different length.",
        {'head["query"](query)': 'head["query"](memory)'},
    ),
    Mistake(
        "query and key exchanged",
        "The projections of query and key are swapped.",
        {PROJECTED: 'head["key"](query), head["query"](memory), head["value"](memory)'},
    ),
    Mistake(
        "keys spoken as values",
        "You used the keys as values: the layer `value` goes unused.",
        {'head["value"](memory)': 'head["key"](memory)'},
    ),
    Mistake(
        "values not projected",
        "You didn't project the values.",
        {'head["value"](memory)': "memory"},
    ),
    Mistake(
        "heads averaged",
        "The heads are averaged before the output projection. Put them side by side, so "
        "that it can tell them apart.",
        {
            "torch.cat(contexts, dim=-1)": (
                "torch.stack(contexts).mean(0).repeat(1, 1, len(contexts))"
            )
        },
    ),
    Mistake(
        "heads below one another",
        "You put the heads one below the other. Put them side by side, along the last dimension.",
        {"torch.cat(contexts, dim=-1)": "torch.cat(contexts, dim=1)"},
    ),
    Mistake(
        "heads in reverse order",
        "The heads are side by side, but in reverse order: head 0 comes first.",
        {"torch.cat(contexts, dim=-1)": "torch.cat(contexts[::-1], dim=-1)"},
    ),
    Mistake(
        "features of the heads interleaved",
        "The features of the heads are interleaved. First come all features of head 0, "
        "then all of head 1: `torch.cat` along the last dimension.",
        {"torch.cat(contexts, dim=-1)": "torch.stack(contexts, dim=-1).flatten(-2)"},
    ),
    Mistake(
        "stacked heads reshaped",
        "`stack` puts the heads first, and `reshape` then fills each row with what comes next "
        "in memory, from other queries. Put the heads side by side: `torch.cat` along the "
        "last dimension.",
        {"torch.cat(contexts, dim=-1)": ("torch.stack(contexts).reshape(*query.shape[:2], -1)")},
    ),
    Mistake(
        "no output projection",
        "You returned the heads side by side. The last step is missing: `output`, which "
        "brings them back to d_model features.",
        {"self.output(torch.cat(contexts, dim=-1))": "torch.cat(contexts, dim=-1)"},
    ),
    Mistake(
        "the diagonal of the output's weight",
        "You use only the diagonal of each head's part of `output`: in `einsum`, a letter that "
        "stands twice in one tensor takes its diagonal. Let the output have a letter of its own.",
        {
            "return self.output(torch.cat(contexts, dim=-1))": (
                "own = self.output.weight.unflatten(1, (len(contexts), -1))\n"
                "        summed = torch.einsum('hbnd,dhd->bnd', torch.stack(contexts), own)\n"
                "        return summed + self.output.bias"
            )
        },
    ),
    Mistake(
        "output without its bias",
        "The bias of the output projection is missing. Call the layer instead of "
        "multiplying by its weight.",
        {
            "self.output(torch.cat(contexts, dim=-1))": (
                "torch.cat(contexts, dim=-1) @ self.output.weight.T"
            )
        },
    ),
    Mistake(
        "one head for all",
        "All heads did the same: the first head's projections were used for each.",
        {"for head in self.heads:": "for head in [self.heads[0]] * len(self.heads):"},
    ),
    Mistake(
        "heads in a Python list",
        "The heads are in a plain Python list, where the module does not see them: an "
        "optimizer would never train them. Use `nn.ModuleList`.",
        {"self.heads = nn.ModuleList()": "self.heads = []"},
    ),
    Mistake(
        "no bias",
        "Your heads' projections have no bias. They should: leave `bias` at its default.",
        {"nn.Linear(d_input, d_model)": "nn.Linear(d_input, d_model, bias=False)"},
    ),
    Mistake(
        "d_model shared out among the heads",
        "`output` takes n_heads · d_model features: each head is d_model wide, not d_model / "
        "n_heads as in lesson 3, and the heads go side by side.",
        {
            "nn.Linear(n_heads * d_model, d_model)": "nn.Linear(d_model, d_model)",
            "nn.Linear(d_input, d_model)": "nn.Linear(d_input, d_model // n_heads)",
        },
    ),
    Mistake(
        "output made last",
        "The layers are right, but made in the wrong order: make `output` first, then query, "
        "key and value for each head. The order changes the random start, and with it the "
        "numbers in this lesson.",
        {
            "self.output = nn.Linear(n_heads * d_model, d_model)\n": "\n",
            "self.heads.append(head)": "self.heads.append(head)\n"
            "        self.output = nn.Linear(n_heads * d_model, d_model)",
        },
    ),
    Mistake(
        "value made before key",
        "You made the layers of a head in the wrong order. Make query, then key, then value.",
        {'("query", "key", "value")': '("query", "value", "key")'},
        {'("query", "key", "value")': '("value", "key", "query")'},
        {'("query", "key", "value")': '("key", "query", "value")'},
    ),
    Mistake(
        "keep ignored",
        "`keep` has no effect. Pass it on to the attention of every head.",
        {"masked_attention(*projected, keep)": "masked_attention(*projected)"},
    ),
    Mistake(
        "renormalized after softmax",
        "Softmax runs over the hidden keys too, and you divide by the sum of what is left. When a "
        "hidden key has by far the largest score, nothing is left. Hide the scores first.",
        {
            "context, attn_weights = masked_attention(*projected, keep)": (
                "_, attn_weights = masked_attention(*projected)\n"
                "            if keep is not None:\n"
                "                attn_weights = attn_weights * keep\n"
                "                total = attn_weights.sum(-1, keepdim=True)\n"
                "                attn_weights = attn_weights / total.clamp(min=1e-9)\n"
                "            context = attn_weights @ projected[2]"
            )
        },
    ),
    Mistake(
        "no mask for one query",
        "You leave `keep` out where there is only one query. A mask may hide keys from that one, "
        "too.",
        {
            "masked_attention(*projected, keep)": (
                "masked_attention(*projected, keep if query.shape[1] > 1 else None)"
            )
        },
    ),
    Mistake(
        "keep reversed",
        "True and False are swapped in the mask: True means that the query may attend.",
        {
            "masked_attention(*projected, keep)": (
                "masked_attention(*projected, None if keep is None else ~keep)"
            )
        },
    ),
    Mistake(
        "nothing to attend to: NaN",
        "A query that may attend to nothing gets NaN, from softmax over a row of −∞. "
        "`masked_attention` above gives zeros.",
        {
            "context, attn_weights = masked_attention(*projected, keep)": (
                "q, k, v = projected\n"
                "            attn_scores = q @ k.mT / k.shape[-1] ** 0.5\n"
                "            if keep is not None:\n"
                "                attn_scores = attn_scores.masked_fill(~keep, -math.inf)\n"
                "            attn_weights = attn_scores.softmax(-1)\n"
                "            context = attn_weights @ v"
            )
        },
    ),
    Mistake(
        "nothing to attend to: spread",
        "A query that may attend to nothing spreads its weight over hidden keys. "
        "`masked_attention` above gives zeros.",
        {
            "context, attn_weights = masked_attention(*projected, keep)": (
                "q, k, v = projected\n"
                "            attn_scores = q @ k.mT / k.shape[-1] ** 0.5\n"
                "            if keep is not None:\n"
                "                attn_scores = attn_scores.masked_fill(~keep, -1e9)\n"
                "            attn_weights = attn_scores.softmax(-1)\n"
                "            context = attn_weights @ v"
            )
        },
    ),
    Mistake(
        "weights of the last head only",
        "`attn_weights` holds the last head only. Stack the weights of all heads.",
        {"self.attn_weights = torch.stack(weights)": "self.attn_weights = weights[-1]"},
    ),
    Mistake(
        "weights averaged over heads",
        "`attn_weights` holds the mean over the heads. Keep the heads apart: "
        "[n_heads, batch, n_query, n_key].",
        {"torch.stack(weights)": "torch.stack(weights).mean(0)"},
    ),
    Mistake(
        "batch before heads",
        "In `attn_weights` the batch comes first. Here the heads do: [n_heads, batch, "
        "n_query, n_key].",
        {"torch.stack(weights)": "torch.stack(weights, dim=1)"},
    ),
    Mistake(
        "weights with their graph",
        "`attn_weights` is still attached to the graph, which keeps it all in memory. The "
        "weights are for looking at: store them detached.",
        {"attn_weights.detach()": "attn_weights"},
    ),
    Mistake(
        "scaled by the root of a share",
        "You divided the scores by √(d_model / n_heads), as in lesson 3. Here each head is d_model "
        "wide: divide by √d_model.",
        {
            PROJECTED: 'head["query"](query) * len(self.heads) ** 0.5, '
            'head["key"](memory), head["value"](memory)'
        },
    ),
    Mistake(
        "all queries made first",
        "You made the queries of all heads, then all keys, then all values. Finish one head before "
        "you begin the next: query, key, value.",
        {
            "self.heads = nn.ModuleList()": (
                "self.heads = nn.ModuleList()\n"
                "        made = {\n"
                "            name: [nn.Linear(d_input, d_model) for _ in range(n_heads)]\n"
                '            for name in ("query", "key", "value")\n'
                "        }"
            ),
            "nn.Linear(d_input, d_model) for name in names": "made[name].pop(0) for name in names",
        },
    ),
    Mistake(
        "keep of two dimensions ignored",
        "You use `keep` only where it has a batch dimension. A mask [n_query, n_key] counts for "
        "every sequence: pass it on as well.",
        {
            "masked_attention(*projected, keep)": (
                "masked_attention(*projected, None if keep is None or keep.dim() == 2 else keep)"
            )
        },
    ),
]

ALTERNATIVES = [
    Alternative(
        "the library's attention",
        {
            "context, attn_weights = masked_attention(*projected, keep)": (
                "context = F.scaled_dot_product_attention(*projected, keep)\n"
                "            eye = torch.eye(memory.shape[1], dtype=memory.dtype)\n"
                "            eye = eye.expand(len(memory), -1, -1)\n"
                "            attn_weights = F.scaled_dot_product_attention(\n"
                "                *projected[:2], eye, keep\n"
                "            )"
            )
        },
        excuses={
            "statement dropped: eye = eye.expand": "the library repeats it for each sentence",
            "argument dropped: eye.expand": "likewise",
            "call dropped: eye.expand": "likewise",
            "another argument: memory → query in": "both have one dtype and one batch",
        },
    ),
    Alternative(
        "all heads in one einsum",
        {
            """        contexts, weights = [], []
        for head in self.heads:
            projected = head["query"](query), head["key"](memory), head["value"](memory)
            context, attn_weights = masked_attention(*projected, keep)
            contexts.append(context)
            weights.append(attn_weights.detach())
        self.attn_weights = torch.stack(weights)
        return self.output(torch.cat(contexts, dim=-1))""": """        def project(name, x):
            layers = [head[name] for head in self.heads]
            weight = torch.stack([layer.weight for layer in layers])
            bias = torch.stack([layer.bias for layer in layers])
            return torch.einsum("bni,hoi->hbno", x, weight) + bias[:, None, None]

        context, attn_weights = masked_attention(
            project("query", query), project("key", memory), project("value", memory), keep
        )
        self.attn_weights = attn_weights.detach()
        return self.output(context.permute(1, 2, 0, 3).flatten(2))"""
        },
    ),
    Alternative(
        "sum over slices of the output",
        {
            "return self.output(torch.cat(contexts, dim=-1))": (
                "pieces = self.output.weight.chunk(len(contexts), dim=1)\n"
                "        pairs = zip(contexts, pieces, strict=True)\n"
                "        return sum(c @ w.T for c, w in pairs) + self.output.bias"
            )
        },
    ),
]
