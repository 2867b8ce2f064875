"""The known mistakes of `MultiHeadAttention`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

MAKE_WEIGHTS = "weights_from_scores(attn_scores, keep)"
MAKE_SCORES = "(query / query.shape[-1] ** 0.5) @ key.transpose(-2, -1)"
RESULT = "self.output(merge_heads(context))"
KEEP_WEIGHTS = "self.attn_weights = attn_weights.detach()"
LINEARS = {
    name: f"self.{name} = nn.Linear(d_model, d_model, bias=bias)"
    for name in ("query", "key", "value", "output")
}


def split_by(expression: str) -> dict[str, str]:
    """Edits that split by `expression`, with {x} for the projected and {name} for the raw input."""
    return {
        f"split_heads(self.{name}({name}), self.n_heads)": expression.format(
            x=f"self.{name}({name})", name=name
        )
        for name in ("query", "key", "value")
    }


def weights_by(*lines: str) -> dict[str, str]:
    """An edit that computes the weights by `lines`, the last of which is their expression.

    They may use `shown`, which is `keep` for all heads.
    """
    shown = [
        "shown = torch.ones(1, dtype=torch.bool) if keep is None else keep",
        "shown = shown[:, None] if shown.dim() == 3 else shown",
    ]
    code = "\n        ".join([*shown, *lines[:-1], f"attn_weights = {lines[-1]}"])
    return {f"attn_weights = {MAKE_WEIGHTS}": code}


def linears(replacement: str, *names: str) -> dict[str, str]:
    """Edits that define the named projections differently."""
    return {LINEARS[name]: f"self.{name} = {replacement}" for name in names}


MISTAKES = [
    Mistake(
        "no ValueError",
        "`MultiHeadAttention(10, 4)` was built without complaint. Raise the `ValueError` "
        "in `__init__`, before the first call.",
        {"if d_model % n_heads": "if False"},
    ),
    # Scores
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
        "divided by 2",
        "You divided the scores by 2, whatever d_head is. Divide by its root: `d_head ** 0.5`.",
        {"query.shape[-1] ** 0.5": "2"},
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
    # Projections
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
        "Your projections have no bias. Unless told otherwise, they should: `bias` is True by "
        "default, and is passed on to all four.",
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
        "PyTorch uses one big layer for queries, keys and values (lesson 6). Here, make "
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
    # Heads
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
    # Softmax and what is kept
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
        "weights kept in training only",
        "In evaluation, you don't keep the weights. Set `self.attn_weights` in every call, in "
        "either mode.",
        {KEEP_WEIGHTS: f"{KEEP_WEIGHTS} if self.training else None"},
        {KEEP_WEIGHTS: f"if self.training:\n            {KEEP_WEIGHTS}"},
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
    # Dropout
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
        "Dropout acts on the result. Here it belongs on the weights, before they meet the values.",
        {"self.dropout(attn_weights)": "attn_weights", RESULT: f"self.dropout({RESULT})"},
    ),
    # Masks
    Mistake(
        "a single query without a mask",
        "A single query gets no mask. It needs one, too: some of the keys may be hidden from it.",
        {MAKE_WEIGHTS: f"{MAKE_WEIGHTS[:-1]} if query.shape[-2] > 1 else None)"},
    ),
    Mistake(
        "keep ignored",
        "`keep` has no effect. Pass it to `weights_from_scores`.",
        {MAKE_WEIGHTS: "weights_from_scores(attn_scores)"},
    ),
    Mistake(
        "keep in training only",
        "`keep` has an effect in training only. It hides keys in evaluation, too.",
        {MAKE_WEIGHTS: f"{MAKE_WEIGHTS[:-1]} if self.training else None)"},
    ),
    Mistake(
        "keep in evaluation only",
        "`keep` has an effect in evaluation only. It hides keys in training, too.",
        {MAKE_WEIGHTS: f"{MAKE_WEIGHTS[:-1]} if not self.training else None)"},
    ),
    Mistake(
        "one mask for all sentences",
        "All sentences get the mask of the first. Each has its own: pass `keep` on as it is.",
        {MAKE_WEIGHTS: (f"{MAKE_WEIGHTS[:-1]} if keep is None or keep.dim() == 2 else keep[:1])")},
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
        "A query that may attend to nothing gets NaN: softmax over a row of −∞, or a division "
        "by weights that sum to 0. It should get zeros; `weights_from_scores` takes care of it.",
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
    Mistake(
        "the root of the heads alone",
        "Powers come before `//`, so you took the root of n_heads, not of d_head. Put d_model // "
        "n_heads in parentheses, or take `query.shape[-1] ** 0.5`.",
        {"query.shape[-1] ** 0.5": "(self.query.out_features // self.n_heads**0.5)"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "einsum",
        {
            MAKE_SCORES: 'torch.einsum("bhid,bhjd->bhij", query, key) / value.shape[-1] ** 0.5',
            "self.dropout(attn_weights) @ value": (
                'torch.einsum("bhij,bhjd->bhid", self.dropout(attn_weights), value)'
            ),
        },
        excuses={
            "another argument: value → key in value.shape[-1]": "all have d_head features",
            "another argument: value → query in value.shape[-1]": "likewise",
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
        excuses={"keyword dropped:": "0 is the default of dim"},
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
        excuses={
            "another argument: query → key in query.shape[-1]": "all have d_head features",
            "another argument: query → value in query.shape[-1]": "likewise",
            "another argument: key → query in key.shape[-1]": "likewise",
            "another argument: key → value in key.shape[-1]": "likewise",
            "in place:": "these are projections, made here, not the caller's tensors",
        },
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
        excuses={
            "operands swapped: shown | nothing": "`|` is the same either way",
            "call dropped: attn_weights.clone()": "detached, and changed by nobody",
            "another fill: $X.masked_fill($M, -1e9": "low enough for float32 and float64",
            "another fill: $X.masked_fill($M, torch": "likewise",
        },
    ),
]
