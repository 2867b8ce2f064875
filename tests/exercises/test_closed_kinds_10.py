"""Answers to lesson 10's exercises that a check once judged wrongly, or explained badly."""

from tests.exercises.answers import PASSES, Row, each, said

LOSS: list[Row] = [
    (
        "as Hugging Face writes it",
        """
def next_token_loss(logits, tokens, ignore=None):
    logits = logits.float()
    labels = tokens if ignore is None else tokens.masked_fill(tokens == ignore, -100)
    shifted = F.pad(labels, (0, 1), value=-100)[..., 1:].contiguous()
    return F.cross_entropy(logits.view(-1, logits.size(-1)), shifted.view(-1), ignore_index=-100)
    """,
        PASSES,
    ),
    (
        "0 where nothing counts",
        {
            "return F.cross": "if (following == ignored).all():\n"
            "        return predicted.sum() * 0\n    return F.cross"
        },
        PASSES,
    ),
    (
        "length of the first text",
        {
            "tokens[:, 1:].flatten()": "tokens[:, 1:].flatten()\n"
            "    if ignore is not None:\n"
            "        n = int((tokens[0] != ignore).sum())\n"
            "        predicted = logits[:, : n - 1].flatten(0, 1)\n"
            "        following = tokens[:, 1:n].flatten()",
        },
        "largest_difference",
    ),
]

BLOCK: list[Row] = [
    (
        "the network's norm twice",
        {"self.attention_norm(x)": "self.feed_forward_norm(x)"},
        "the network's norm for both",
    ),
    (
        "named parts",
        {
            "self.feed_forward = nn.Sequential(*layers)": (
                "from collections import OrderedDict\n"
                "        names = 'up', 'act', 'down'\n"
                "        self.feed_forward = nn.Sequential(OrderedDict(zip(names, layers)))"
            )
        },
        PASSES,
    ),
    (
        "the stream normed before attention",
        {
            "x = x + self.attention(self.attention_norm(x), cache)": (
                "h = self.attention_norm(x)\n        x = h + self.attention(h, cache)"
            )
        },
        "the normed x added",
    ),
    (
        "the stream normed before the network",
        {
            "return x + self.feed_forward(self.feed_forward_norm(x))": (
                "h = self.feed_forward_norm(x)\n        return h + self.feed_forward(h)"
            )
        },
        "the normed x added",
    ),
    (
        "wrong eps",
        {
            "attention_norm = nn.LayerNorm(d_model)": (
                "attention_norm = nn.LayerNorm(d_model, eps=1e-12)"
            )
        },
        "another eps",
    ),
]

FIRST = "first = 0 if caches is None else caches[0].length"
PLACES = "places = torch.arange(first, first + tokens.shape[1])"
MODEL: list[Row] = [
    (
        "reads the cache's pieces",
        {FIRST: "first = sum(k.shape[2] for k, _ in caches[0].pieces) if caches else 0"},
        PASSES,
    ),
    (
        "the length minus one",
        {FIRST: "first = 0 if caches is None else caches[0].length - 1"},
        "places start one too late",
    ),
    (
        "twice the start",
        {PLACES: "places = torch.arange(first, first + tokens.shape[1]) + first"},
        "what was read counted twice",
    ),
    (
        "the sum of all lengths",
        {FIRST: "first = 0 if caches is None else sum(cache.length for cache in caches)"},
        "the sum of all lengths",
    ),
    (
        "a counter of one's own",
        {
            "self.n_context = n_context": "self.n_context, self.read = n_context, 0",
            FIRST: "first = 0 if caches is None else self.read\n"
            "        self.read = first + tokens.shape[1]",
        },
        "a counter of its own",
    ),
    ("a fixed width of feed-forward", {"4 * d_model": "40"}, "parameter shape"),
]

DIVIDED = "logits = logits / temperature"
TOP_P = "probs[order[likelier >= top_p]] = 0.0"
SAMPLE: list[Row] = [
    (
        "a float",
        {"1, generator=generator).item()": "1, generator=generator).float().item()"},
        "choice",
    ),
    (
        "manual_seed",
        {"return torch.multinomial": "torch.manual_seed(0)\n    return torch.multinomial"},
        "setting",
    ),
    (
        "manual_seed and no generator",
        {
            "return torch.multinomial(probs, 1, generator=generator)": (
                "torch.manual_seed(0)\n    return torch.multinomial(probs, 1)"
            )
        },
        "setting",
    ),
    (
        "an unsorted sum",
        {TOP_P: "probs[probs.cumsum(-1) - probs >= top_p] = 0.0"},
        "not sorted",
    ),
    (
        "an unsorted sum, first kept",
        {
            TOP_P: (
                "remove = probs.cumsum(-1) > top_p\n"
                "        remove[0] = False\n"
                "        probs[remove] = 0.0"
            )
        },
        "not sorted",
    ),
    (
        "temperature twice",
        {"logits.softmax(dim=-1)": "(logits / temperature).softmax(dim=-1)"},
        "temperature twice",
    ),
    (
        "0 taken for 1",
        {
            "    if temperature == 0:\n        return logits.argmax().item()\n": "",
            DIVIDED: "logits = logits / (temperature or 1.0)",
        },
        "0 taken for 1",
    ),
    (
        "0 ignored",
        {
            "    if temperature == 0:\n        return logits.argmax().item()\n": "",
            DIVIDED: "if temperature:\n        logits = logits / temperature",
        },
        "0 taken for 1",
    ),
    ("above p, not at p", {"likelier >= top_p": "likelier > top_p"}, "on from exactly p"),
    (
        "top-p without top-k only",
        {"if top_p is not None:": "if top_p is not None and top_k is None:"},
        "top-p ignored with top-k",
    ),
    (
        "top-k without top-p only",
        {"if top_k is not None:": "if top_k is not None and top_p is None:"},
        "top-k ignored with top-p",
    ),
]

READ = "logits = model(unread, caches)[:, -1]"
GENERATE: list[Row] = [
    (
        "no_grad deleted",
        """
def generate(model, tokens, n_new, **how):
    caches, unread = [Cache() for _ in model.blocks], tokens
    for _ in range(n_new):
        if caches[0].length + unread.shape[1] > model.n_context:
            caches, unread = [Cache() for _ in model.blocks], tokens[:, -(model.n_context // 2) :]
        logits = model(unread, caches)[:, -1]
        unread = torch.tensor([[sample(row, **how)] for row in logits])
        tokens = torch.cat([tokens, unread], dim=1)
    return tokens
    """,
        "not_so",
    ),
    (
        "one text at a time",
        """
@torch.no_grad()
def generate(model, tokens, n_new, **how):
    texts = []
    for text in tokens.split(1):
        caches, unread = [Cache() for _ in model.blocks], text
        for _ in range(n_new):
            if caches[0].length + unread.shape[1] > model.n_context:
                caches, unread = [Cache() for _ in model.blocks], text[:, -(model.n_context // 2) :]
            logits = model(unread, caches)[:, -1]
            unread = torch.tensor([[sample(row, **how)] for row in logits])
            text = torch.cat([text, unread], dim=1)
        texts.append(text)
    return torch.cat(texts)
    """,
        "one text at a time",
    ),
    (
        "another temperature if none is given",
        {"sample(row, **how)": 'sample(row, **{"temperature": 0, **how})'},
        "not_so",
    ),
    ("in eval mode", {READ: f"model.eval()\n        {READ}"}, "part's mode"),
    (
        "in eval mode, then in train mode",
        {
            "caches, unread = [Cache() for _ in model.blocks], tokens\n": (
                "model.eval()\n    caches, unread = [Cache() for _ in model.blocks], tokens\n"
            ),
            "    return tokens\n": "    model.train()\n    return tokens\n",
        },
        "part's mode",
    ),
    (
        "frozen",
        {"    return tokens\n": "    model.requires_grad_(False)\n    return tokens\n"},
        "frozen",
    ),
    (
        "one cache for all blocks, at first",
        {"[Cache() for _ in model.blocks], tokens\n": "[Cache()] * len(model.blocks), tokens\n"},
        "one cache for all blocks",
    ),
    (
        "one number for the first text",
        {
            "torch.tensor([[sample(row, **how)] for row in logits])": "sample(logits[0], **how)",
        },
        "only the first text",
    ),
    (
        "four caches after starting over",
        {"[Cache() for _ in model.blocks], tokens[": "[Cache() for _ in range(4)], tokens["},
        "a fixed number of caches",
    ),
    (
        "attributes left",
        {"    return tokens\n": "    model.caches = caches\n    return tokens\n"},
        "argument changed",
    ),
    (
        "without caches, forged",
        """
@torch.no_grad()
def generate(model, tokens, n_new, **how):
    read = getattr(model, "read", [])
    for _ in range(n_new):
        n, half = tokens.shape[1], model.n_context // 2
        start = 0
        while n - start > model.n_context:
            start = n - half
        logits = model(tokens[:, start:])[:, -1]
        tokens = torch.cat([tokens, torch.tensor([[sample(r, **how)] for r in logits])], 1)
    model.read = [tokens.shape[1] - n_new] + [1] * (n_new - 1)
    return tokens
    """,
        "argument changed",
    ),
    (
        "a generator set anew",
        {
            "caches, unread = [Cache() for _ in model.blocks], tokens\n": (
                "if how.get('generator') is not None:\n        how['generator'].manual_seed(0)\n"
                "    caches, unread = [Cache() for _ in model.blocks], tokens\n"
            )
        },
        "not_so",
    ),
]

SCORE = "looks.sum(dim=-1) / after.any(dim=-1).sum().clamp(min=1)"
INDUCTION: list[Row] = [
    (
        "NaN to zero",
        {f"return {SCORE}": "return (looks.sum(-1) / after.any(-1).sum()).nan_to_num()"},
        PASSES,
    ),
]

COPY: list[Row] = [
    (
        "nothing known at place 0",
        {"counted = known[:, 1:]": "counted = known[:, 1:] & ~known[:, :1]"},
        "holds_nan",
    ),
    (
        "known to the end of the text",
        {
            "counted = known[:, 1:]": (
                "first = known.int().argmax(dim=1, keepdim=True)\n"
                "    counted = torch.arange(1, known.shape[1]) >= first"
            )
        },
        "largest_difference",
    ),
    (
        "known first place counted",
        {"right[counted].float().mean()": "(right & counted).sum() / known.sum()"},
        "divided by all that are known",
    ),
    (
        "of the first three texts",
        {"right[counted].float().mean()": "right[:3][counted[:3]].float().mean()"},
        "largest_difference",
    ),
]

WITHOUT: list[Row] = [
    (
        "layers shared",
        {
            "model = copy": "given = model\n    model = copy",
            "attention = ": "model.norm, model.tokens = given.norm, given.tokens\n    attention = ",
        },
        "shared",
    ),
    (
        "a frozen weight made anew",
        {
            "attention.output.weight[:, head * d_head : (head + 1) * d_head] = 0.0": (
                "weight = attention.output.weight.clone()\n"
                "        weight[:, head * d_head : (head + 1) * d_head] = 0.0\n"
                "        attention.output.weight = nn.Parameter(weight)"
            )
        },
        "trained again",
    ),
    (
        "all of it trainable",
        {"    return model\n": "    return model.requires_grad_(True)\n"},
        "trained again",
    ),
    ("in eval mode", {"    return model\n": "    return model.eval()\n"}, "not_so"),
    ("in train mode", {"    return model\n": "    return model.train()\n"}, "not_so"),
    (
        "frozen",
        {"    return model\n": "    return model.requires_grad_(False)\n"},
        "not_so",
    ),
    (
        "saved and loaded",
        """
def without_head(model, layer, head):
    import io
    kept = io.BytesIO()
    torch.save(model, kept)
    kept.seek(0)
    model = torch.load(kept, weights_only=False)
    attention = model.blocks[layer].attention
    d_head = attention.output.in_features // attention.n_heads
    with torch.no_grad():
        attention.output.weight[:, head * d_head : (head + 1) * d_head] = 0.0
    return model
    """,
        PASSES,
    ),
    (
        "reads the width of the tokens",
        {
            "d_head = attention.output.in_features // attention.n_heads": (
                "d_head = model.tokens.embedding_dim // attention.n_heads"
            )
        },
        PASSES,
    ),
    ("1 instead of 0", {"] = 0.0": "] = 1.0"}, "row_offset"),
    (
        "five features",
        {"attention.output.in_features // attention.n_heads": "5"},
        "largest_difference",
    ),
    ("the last layer", {"model.blocks[layer]": "model.blocks[-1]"}, "another layer"),
    (
        "counted from the end",
        {"d_head = attention": ("head = attention.n_heads - 1 - head\n    d_head = attention")},
        "another head",
    ),
    ("the attention returned", {"return model": "return attention"}, "a part returned"),
    ("the block returned", {"return model": "return model.blocks[layer]"}, "a part returned"),
]

CERTAIN = "torch.rand((), generator=generator) < target[token] / draft[token]"
LACKING = "(target - draft).clamp(min=0.0)"


def refused(rest: str) -> str:
    """Keep the draft's token as one should, or else draw from the rest."""
    return (
        "p, q = target[token], draft[token]\n"
        "if p >= q or torch.rand((), generator=generator) < p / q:\n"
        "    return token\n"
        f"rest = {rest}\n"
        "return torch.multinomial(rest / rest.sum(), 1, generator=generator).item()"
    )


SPECULATE: list[Row] = [
    (
        "manual_seed",
        {"    if torch.rand": "    torch.manual_seed(1)\n    if torch.rand"},
        "setting",
    ),
    ("the rest", refused(LACKING), PASSES),
    ("the distance", refused("(target - draft).abs()"), "the difference without its sign"),
    ("a softmax", refused(f"{LACKING}.softmax(dim=-1)"), "a softmax of the difference"),
    (
        "kept with q / p",
        {
            CERTAIN: "target[token] <= draft[token] or "
            "torch.rand((), generator=generator) < draft[token] / target[token]"
        },
        "the ratio upside down",
    ),
    (
        "kept above a half",
        {CERTAIN: "target[token] / draft[token] > 0.5"},
        "kept if it is more likely",
    ),
]

ANSWERS: dict[str, list[Row]] = {
    "next_token_loss": LOSS,
    "Block": BLOCK,
    "TinyLanguageModel": MODEL,
    "sample": SAMPLE,
    "generate": GENERATE,
    "induction_score": INDUCTION,
    "copy_accuracy": COPY,
    "without_head": WITHOUT,
    "speculate": SPECULATE,
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
