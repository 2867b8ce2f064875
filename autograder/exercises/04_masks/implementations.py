"""Ways to write attention, causal and not, for `leaks_future` to tell apart."""

from autograder.asking.arguments import Code
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw

SOUND = """
def attention(words):
    n, d = words.shape[-2:]
    query, key, value = words.roll(1, -1), words, words.flip(-1)
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    scores = query @ key.transpose(-2, -1) / math.sqrt(d)
    weights = scores.masked_fill(~keep, -math.inf).softmax(-1)
    return weights @ value
"""
IN_HEADS = """
def attention(words):
    batch, n, d = words.shape
    n_heads = 2 if d % 2 == 0 else d
    heads = words.view(batch, n, n_heads, -1).transpose(1, 2)
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    scores = heads.roll(1, -1) @ heads.transpose(-2, -1) / math.sqrt(heads.shape[-1])
    weights = scores.masked_fill(~keep, -math.inf).softmax(-1)
    return (weights @ heads).transpose(1, 2).reshape(batch, n, d)
"""
TWO_LAYERS = """
def layer(words, keep):
    scores = words @ words.transpose(-2, -1) / math.sqrt(words.shape[-1])
    return words + scores.masked_fill(~keep, -math.inf).softmax(-1) @ words.roll(1, -1)

def attention(words):
    keep = torch.ones(words.shape[1], words.shape[1], dtype=torch.bool).tril()
    return layer(layer(words, keep), keep)
"""
KEEP = "torch.ones(n, n, dtype=torch.bool).tril()"


def edited(source: str, *edits: tuple[str, str]) -> str:
    """The source with each edit made; its left side must occur exactly once."""
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} occurs {source.count(old)} times in an implementation")
        source = source.replace(old, new)
    return source


def with_keep(keep: str) -> str:
    return edited(SOUND, (KEEP, keep))


# The name of each in a card → its source. A test takes the Jacobian of each one to make sure that
# it is listed where it belongs.
SOUND_ONES = {
    "causal attention": SOUND,
    "attention to the words before, but not to the word itself": edited(
        with_keep("torch.ones(n, n, dtype=torch.bool).tril(-1)"),
        ("-math.inf).softmax(-1)", "-1e9).softmax(-1) * keep"),
    ),
    "attention to the last two words": with_keep(f"{KEEP}.triu(-1)"),
    "attention to the first word only": with_keep("(torch.arange(n) == 0).expand(n, n)"),
    "a softmax by hand": edited(
        SOUND,
        (
            "scores.masked_fill(~keep, -math.inf).softmax(-1)",
            "scores.masked_fill(~keep, -math.inf)\n"
            "    weights = (weights - weights.amax(-1, keepdim=True)).exp()\n"
            "    weights = weights / weights.sum(-1, keepdim=True)",
        ),
    ),
    "an additive mask": edited(
        SOUND,
        (
            "scores.masked_fill(~keep, -math.inf)",
            "(scores + torch.full((n, n), -math.inf).triu(1))",
        ),
    ),
    "the library's function, is_causal": """
def attention(words):
    return F.scaled_dot_product_attention(words, words, words, is_causal=True)
""",
    "one word at a time, by a loop": """
def attention(words):
    outputs = []
    for i in range(words.shape[1]):
        past = words[:, : i + 1]
        weights = (past @ words[:, i, :, None]).softmax(1)
        outputs.append((weights * past).sum(1))
    return torch.stack(outputs, 1)
""",
    "two heads, split correctly": IN_HEADS,
    "two layers": TWO_LAYERS,
    "the average of the words so far": """
def attention(words):
    count = torch.arange(1, words.shape[1] + 1)
    return words.cumsum(1) / count[:, None]
""",
    "the sum of the words before, without the word itself": """
def attention(words):
    return F.pad(words.cumsum(1)[:, :-1], (0, 0, 1, 0))
""",
    "values centered over the words so far": edited(
        SOUND,
        (
            "words.flip(-1)\n",
            "words.flip(-1)\n"
            "    value = value - value.cumsum(1) / torch.arange(1, n + 1)[:, None]\n",
        ),
    ),
    "no attention at all": """
def attention(words):
    return 3 * words
""",
    "an output that is always the same": """
def attention(words):
    return words * 0 + 1
""",
    "words reversed, masked the other way, reversed again": edited(
        with_keep("torch.ones(n, n, dtype=torch.bool).triu()"),
        ("words.shape[-2:]\n", "words.shape[-2:]\n    words = words.flip(1)\n"),
        ("weights @ value", "(weights @ value).flip(1)"),
    ),
    "attention between the sentences of the batch": """
def attention(words):
    places = words.transpose(0, 1)
    weights = (places @ places.transpose(-2, -1) / math.sqrt(words.shape[-1])).softmax(-1)
    return (weights @ places).transpose(0, 1)
""",
    "scores shifted by the largest in the row, hidden ones included": edited(
        SOUND,
        (
            "scores.masked_fill",
            "scores - scores.detach().amax(-1, keepdim=True).clamp(-4, 4)\n"
            "    weights = weights.masked_fill",
        ),
    ),
    "large outputs": edited(SOUND, ("weights @ value", "1000 * weights @ value")),
}
LEAKING_ONES = {
    "no mask": edited(SOUND, ("scores.masked_fill(~keep, -math.inf)", "scores")),
    "the mask reversed": with_keep("torch.ones(n, n, dtype=torch.bool).triu()"),
    "one word too far": with_keep("torch.ones(n, n, dtype=torch.bool).tril(1)"),
    "words normalized, no mask": edited(
        SOUND,
        (
            "n, d = words",
            "words = F.layer_norm(words, words.shape[-1:], eps=0.1)\n    n, d = words",
        ),
        ("scores.masked_fill(~keep, -math.inf)", "scores"),
    ),
    "only the next word hidden": with_keep(f"{KEEP} | torch.ones(n, n, dtype=torch.bool).triu(2)"),
    "masked after softmax": edited(
        SOUND, ("scores.masked_fill(~keep, -math.inf).softmax(-1)", "scores.softmax(-1) * keep")
    ),
    "softmax over the queries": edited(SOUND, ("softmax(-1)", "softmax(-2)")),
    "hidden scores set to 0": edited(SOUND, ("~keep, -math.inf", "~keep, 0.0")),
    "hidden scores set to -1": edited(SOUND, ("~keep, -math.inf", "~keep, -1.0")),
    "heads split without a transpose": edited(
        IN_HEADS,
        ("words.view(batch, n, n_heads, -1).transpose(1, 2)", "words.view(batch, n_heads, n, -1)"),
    ),
    "heads merged without a transpose": edited(
        IN_HEADS, ("(weights @ heads).transpose(1, 2)", "(weights @ heads)")
    ),
    "one head without a mask": edited(
        IN_HEADS,
        (
            "dtype=torch.bool).tril()\n",
            "dtype=torch.bool).tril().repeat(n_heads, 1, 1)\n    keep[-1] = True\n",
        ),
    ),
    "weights masked, the average of the sentence in every value": edited(
        SOUND, ("words.flip(-1)\n", "words.flip(-1)\n    value = value + value.mean(1, True)\n")
    ),
    "weights masked, a trace of the average in every value": edited(
        SOUND,
        ("words.flip(-1)\n", "words.flip(-1)\n    value = value + 0.05 * value.mean(1, True)\n"),
    ),
    "masked, a thousandth of the average added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + 1e-3 * words.mean(1, keepdim=True)")
    ),
    "weights masked, each value mixed with the next": edited(
        SOUND,
        (
            "words.flip(-1)\n",
            "words.flip(-1)\n    value = value + F.pad(value[:, 1:], (0, 0, 0, 1))\n",
        ),
    ),
    "features standardized over the sentence": edited(
        SOUND,
        (
            "words.shape[-2:]\n",
            "words.shape[-2:]\n"
            "    words = words - words.mean(1, True)\n"
            "    words = words / (words.square().mean(1, True) + 1e-3).sqrt()\n",
        ),
    ),
    "words scaled to length 1, no mask": edited(
        SOUND,
        ("n, d = words", "words = F.normalize(words, dim=-1)\n    n, d = words"),
        ("scores.masked_fill(~keep, -math.inf)", "scores"),
    ),
    "sentences scaled to length 1": """
def attention(words):
    return words / words.square().sum((1, 2), keepdim=True).sqrt()
""",
    "words minus the average of the batch, in reverse": """
def attention(words):
    return (words - words.mean(0)).flip(1)
""",
    "every word sees the last one": with_keep(f"{KEEP} | (torch.arange(n) == n - 1)"),
    "only the next-to-last word sees the last": with_keep(f"{KEEP}\n    keep[-2:-1, -1:] = True"),
    "only the first word sees the second": with_keep(f"{KEEP}\n    keep[:1, :2] = True"),
    "only the third word sees the fourth": with_keep(f"{KEEP}\n    keep[2:3, 3:4] = True"),
    "only the third word of the second sentence sees the fourth": with_keep(
        f"{KEEP}.repeat(len(words), 1, 1)\n    keep[1:2, 2:3, 3:4] = True"
    ),
    "each word sees the one three places later": with_keep(
        f"{KEEP} | (torch.arange(n) == torch.arange(n)[:, None] + 3)"
    ),
    "one feature is the average of the sentence": edited(
        SOUND,
        (
            "weights @ value",
            "torch.cat([words.mean(1, True).expand_as(words)[..., :1], "
            "(weights @ value)[..., 1:]], -1)",
        ),
    ),
    "the last feature of the next word, added to the last feature": edited(
        SOUND,
        (
            "weights @ value",
            "torch.cat([(weights @ value)[..., :-1], "
            "(weights @ value)[..., -1:] + words.roll(-1, 1)[..., -1:]], -1)",
        ),
    ),
    "only the second sentence not masked": with_keep(
        f"{KEEP}.repeat(len(words), 1, 1)\n    keep[1:2] = True"
    ),
    "only the first sentence masked": with_keep(
        f"{KEEP}.repeat(len(words), 1, 1)\n    keep[1:] = True"
    ),
    "words in pairs that see each other": with_keep(
        "(torch.arange(n)[:, None] // 2 >= torch.arange(n) // 2)"
    ),
    "two layers, the first without a mask": edited(
        TWO_LAYERS, ("layer(words, keep), keep", "layer(words, keep | True), keep")
    ),
    "only the first word sees a thousandth of the second": edited(
        SOUND,
        (
            "weights @ value",
            "weights @ value + 1e-3 * words.roll(-1, 1) * (torch.arange(n) == 0)[:, None]",
        ),
    ),
    "whether the next word is larger, added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + (words.roll(-1, 1) > words)")
    ),
    "the last word in every place, without a copy": """
def attention(words):
    return words[:, -1:].expand_as(words)
""",
    "the next word added at the end": edited(
        SOUND, ("weights @ value", "weights @ value + F.pad(words[:, 1:], (0, 0, 0, 1))")
    ),
}


def implementation(name: str) -> Inputs:
    """A case that is one of the implementations above."""
    source = (SOUND_ONES | LEAKING_ONES)[name]

    def inputs(draw: Draw) -> dict:
        draw.label(name)
        return {"attention": Code(source)}

    return inputs
