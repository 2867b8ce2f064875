"""The known mistakes of `sample`, and other right solutions."""

from collections.abc import Iterable

from autograder.lessons.variants import Alternative, Mistake

DIVIDED = "logits = logits / temperature"
LEAST = "least = logits.topk(min(top_k, len(logits))).values[-1]"
HIDDEN = "logits = logits.masked_fill(logits < least, -torch.inf)"
LIKELIER = "likelier = ranked.cumsum(dim=-1) - ranked"
REMOVED = "probs[order[likelier >= top_p]] = 0.0"
DRAWN = "torch.multinomial(probs, 1, generator=generator).item()"
SORTED = """
if temperature == 0:
    return int(logits.argmax())
ranked, order = (logits / temperature).softmax(dim=-1).sort(descending=True)
if top_k is not None:
    ranked = ranked[:top_k] / ranked[:top_k].sum()
if top_p is not None:
    ranked = ranked[: int((ranked.cumsum(0) < top_p).sum()) + 1]
return int(order[torch.multinomial(ranked, 1, generator=generator)])
"""
KEPT = "int((ranked.cumsum(0) < top_p).sum()) + 1"
# The same, but what top-k and top-p leave out is cut off, or else set to 0. How much is left is how
# much of the generator a draw uses up.
BY_RANK = """
if temperature == 0:
    return int(logits.argmax())
probs, order = (logits / temperature).softmax(dim=-1).sort(descending=True)
if top_k is not None:
    probs = probs[:top_k]
    probs = probs / probs.sum()
if top_p is not None:
    likelier = probs.cumsum(0) - probs
    probs = probs[likelier < top_p]
return int(order[torch.multinomial(probs, 1, generator=generator)])
"""
P_TO_0 = {"[likelier < top_p]": " * (likelier < top_p)"}
K_TO_0 = {"[:top_k]": " * (torch.arange(len(probs)) < top_k)"}


def by_rank(*edits: tuple[str, str]) -> tuple[str, ...]:
    """Bodies that go by rank to the end, each with these edits."""
    return tuple(
        _replaced(BY_RANK, [*zeros.items(), *edits]) for zeros in ({}, P_TO_0, P_TO_0 | K_TO_0)
    )


def _replaced(body: str, edits: Iterable[tuple[str, str]]) -> str:
    for old, new in edits:
        body = body.replace(old, new)
    return body


MISTAKES = [
    Mistake(
        "always the likeliest",
        "You always take the likeliest token. Draw one at random, with `torch.multinomial`.",
        {DRAWN: "probs.argmax().item()"},
    ),
    Mistake(
        "no zero",
        "At temperature 0, you divide by 0. Take the likeliest token there.",
        {
            "    if temperature == 0:\n        return logits.argmax().item()\n": "",
        },
    ),
    Mistake(
        "0 taken for 1",
        "At temperature 0, you draw as if it were 1. Take the likeliest token there.",
        {
            "    if temperature == 0:\n        return logits.argmax().item()\n": "",
            DIVIDED: "logits = logits / (temperature or 1.0)",
        },
        SORTED.replace("if temperature == 0:\n    return int(logits.argmax())\n", "").replace(
            "logits / temperature", "logits / (temperature or 1.0)"
        ),
    ),
    Mistake(
        "temperature twice",
        "You divided by the temperature twice.",
        {"logits.softmax(dim=-1)": "(logits / temperature).softmax(dim=-1)"},
        SORTED.replace("logits / temperature", "logits / temperature**2"),
    ),
    Mistake(
        "temperature ignored",
        "You didn't use the temperature: divide the logits by it.",
        {DIVIDED: "logits = logits.clone()"},
        *by_rank(("(logits / temperature)", "logits")),
    ),
    Mistake(
        "times the temperature",
        "You multiplied by the temperature, so it works backward. Divide the logits by it.",
        {DIVIDED: "logits = logits * temperature"},
        *by_rank(("logits / temperature", "logits * temperature")),
    ),
    Mistake(
        "temperature on the probabilities",
        "You divided the probabilities by the temperature, which changes nothing: they are "
        "made to sum to 1 again. Divide the logits.",
        {
            f"    {DIVIDED}\n": "",
            "probs = logits.softmax(dim=-1)": "probs = logits.softmax(dim=-1) / temperature",
        },
    ),
    Mistake(
        "the least likely",
        "Your top-k keeps the *least* likely tokens.",
        {
            LEAST: LEAST.replace("topk(", "neg().topk(").replace(".values", ".values.neg()"),
            "logits < least": "logits > least",
        },
    ),
    Mistake(
        "one too many",
        "Your top-k keeps one token too many.",
        {"min(top_k, len(logits))": "min(top_k + 1, len(logits))"},
        *by_rank(("[:top_k]", "[: top_k + 1]"), ("< top_k", "<= top_k")),
    ),
    Mistake(
        "one too few",
        "Your top-k keeps one token too few: keep the k-th, too.",
        {"logits < least": "logits <= least"},
        *by_rank(("[:top_k]", "[: top_k - 1]"), ("< top_k", "< top_k - 1")),
    ),
    Mistake(
        "only the k-th",
        "Your top-k keeps only the k-th token. Keep those above it, too.",
        {"logits < least": "logits != least"},
    ),
    Mistake(
        "top-k larger than the number of tokens",
        "If `top_k` is larger than the number of tokens, keep them all: `min(top_k, len(logits))`.",
        {"min(top_k, len(logits))": "top_k"},
    ),
    Mistake(
        "top-k ignored",
        "You didn't use `top_k`.",
        {HIDDEN: "pass"},
    ),
    Mistake(
        "logits of 0",
        "You set the other logits to 0, but a logit of 0 isn't a probability of 0: e⁰ is 1. "
        "Set them to −∞, or set probabilities to 0.",
        {HIDDEN: "logits = logits.masked_fill(logits < least, 0.0)"},
    ),
    Mistake(
        "without the token that crosses",
        "Your top-p leaves out the token that crosses the line. It stays in: keep a token if "
        "those *before* it haven't reached p.",
        {LIKELIER: "likelier = ranked.cumsum(dim=-1)", ">= top_p": "> top_p"},
        {
            LIKELIER: "likelier = ranked.cumsum(dim=-1)",
            REMOVED: "probs[order[1:][likelier[1:] > top_p]] = 0.0",
        },
        SORTED.replace(KEPT, "max(1, int((ranked.cumsum(0) < top_p).sum()))"),
        *by_rank(("cumsum(0) - probs", "cumsum(0)"), ("< top_p", "<= top_p")),
        *by_rank(
            ("cumsum(0) - probs", "cumsum(0)"),
            ("likelier < top_p", "(likelier <= top_p) | (likelier == probs)"),
        ),
    ),
    Mistake(
        "one after the one that crosses",
        "Your top-p keeps a token too many, the one after the one that crosses the line.",
        {REMOVED: "keep = int((likelier < top_p).sum()) + 1\n        probs[order[keep:]] = 0.0"},
        SORTED.replace(KEPT, KEPT.replace("+ 1", "+ 2")),
    ),
    Mistake(
        "on from exactly p",
        "Where the sum is exactly p, your top-p keeps one more token. The sum has reached p: keep "
        "a token only if those before it sum to less.",
        {">= top_p": "> top_p"},
        *by_rank(("< top_p", "<= top_p")),
    ),
    Mistake(
        "the mask read, not written",
        "Your mask of what to keep goes by rank, and `mask[order]` reads it by token. Write "
        "instead: the tokens to remove are `order[~keep]`.",
        {REMOVED: "probs = probs.masked_fill((likelier >= top_p)[order], 0.0)"},
    ),
    Mistake(
        "not sorted",
        "Your top-p adds up the probabilities in the order of the tokens. Sort them first, from "
        "the likeliest down.",
        {REMOVED: "probs[probs.cumsum(dim=-1) - probs >= top_p] = 0.0"},
        {
            REMOVED: "removed = probs.cumsum(dim=-1) > top_p\n"
            "        removed[0] = False\n"
            "        probs[removed] = 0.0"
        },
        {
            REMOVED: "removed = probs.cumsum(dim=-1) >= top_p\n"
            "        removed[1:] = removed[:-1].clone()\n"
            "        removed[0] = False\n"
            "        probs[removed] = 0.0"
        },
    ),
    Mistake(
        "each token against p",
        "You compared each single probability with p. What counts is the sum, from the "
        "likeliest token down.",
        {REMOVED: "probs[probs < min(top_p, probs.max())] = 0.0"},
        {REMOVED: "probs[probs < 1 - top_p] = 0.0"},
    ),
    Mistake(
        "not put back in order",
        "Your top-p removes tokens by their rank, not by their number. `sort` also returns "
        "where each value was; use that to get back.",
        {REMOVED: "probs[likelier >= top_p] = 0.0"},
    ),
    Mistake(
        "a rank, not a token",
        "You drew from the sorted probabilities and returned the rank. Look up which token has "
        "that rank.",
        {
            REMOVED: "probs = ranked.masked_fill(likelier >= top_p, 0.0)",
        },
        {
            HIDDEN: "logits = logits.topk(min(top_k, len(logits))).values",
        },
        *by_rank(("order[torch", "(torch"), ("generator)]", "generator))")),
    ),
    Mistake(
        "sorted the wrong way",
        "You sorted from the least likely token up, so you keep the wrong end. Sort with "
        "`descending=True`.",
        *by_rank(("descending=True", "")),
    ),
    Mistake(
        "from the least likely up",
        "Your top-p adds up from the *least* likely token. Sort with `descending=True`.",
        {"probs.sort(descending=True)": "probs.sort()"},
    ),
    Mistake(
        "top-p ignored",
        "You didn't use `top_p`.",
        {REMOVED: "pass"},
    ),
    Mistake(
        "top-p before temperature",
        "Your top-p works with the probabilities at temperature 1. The temperature comes first.",
        {
            f"    {DIVIDED}\n": "",
            "probs.sort(descending=True)": "probs.sort(descending=True)",
            f"    return {DRAWN}": (
                f"    probs = (probs.log() / temperature).softmax(dim=-1)\n    return {DRAWN}"
            ),
        },
        SORTED.replace("(logits / temperature)", "logits").replace(
            "(ranked, 1", "(ranked ** (1 / temperature), 1"
        ),
    ),
    Mistake(
        "top-p before top-k",
        "Your top-p works with the probabilities before top-k. Top-k comes first, and what it "
        "leaves sums to 1 again.",
        {
            HIDDEN: "pass",
            f"    return {DRAWN}": (
                "    if top_k is not None:\n"
                "        probs = probs.masked_fill(logits < least, 0.0)\n"
                f"    return {DRAWN}"
            ),
        },
        *by_rank(("    probs = probs / probs.sum()\n", "")),
    ),
    Mistake(
        "top-p ignored with top-k",
        "If both are given, you use only `top_k`. First top-k, then top-p among what it leaves.",
        {"if top_p is not None:": "if top_p is not None and top_k is None:"},
        *by_rank(("if top_p", "elif top_p")),
    ),
    Mistake(
        "top-k ignored with top-p",
        "If both are given, you use only `top_p`. First top-k, then top-p among what it leaves.",
        {"if top_k is not None:": "if top_k is not None and top_p is None:"},
        *by_rank(("if top_k is not None", "if top_k is not None and top_p is None")),
    ),
    Mistake(
        "another source of randomness",
        "You didn't draw with `generator`, so the same generator doesn't give the same token.",
        {DRAWN: "torch.multinomial(probs, 1).item()"},
    ),
    Mistake(
        "a new generator",
        "Without a generator, you make a new one for each draw, and it always starts the same. "
        "Pass None on: torch then draws from a generator of its own.",
        {DRAWN: DRAWN.replace("=generator", "=generator or torch.Generator()")},
    ),
    Mistake(
        "the seed set anew",
        "You set the generator's seed, so it gives the same token each time. Leave its state "
        "to the caller.",
        {DRAWN: "torch.multinomial(probs, 1, generator=generator.manual_seed(1)).item()"},
    ),
    Mistake(
        "evenly",
        "All remaining tokens come up equally often. Draw according to their probabilities.",
        {DRAWN: "torch.multinomial((probs > 0).float(), 1, generator=generator).item()"},
    ),
    Mistake(
        "logits as probabilities",
        "You drew by something other than the probabilities. Take a softmax of the logits.",
        {"probs = logits.softmax(dim=-1)": "probs = logits.sigmoid()"},
        {"probs = logits.softmax(dim=-1)": "probs = logits.clamp(min=0.0) + 1e-9"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "by a running sum",
        {
            f"return {DRAWN}": (
                "level = torch.rand((), generator=generator) * probs.sum()\n"
                "    return int(torch.searchsorted(probs.cumsum(dim=-1), level))"
            )
        },
        excuses={"another number: 1 → 0": "there is one dimension"},
    ),
    Alternative(
        "among the sorted",
        SORTED,
        excuses={
            "another number: 1 → 0": "there is one dimension",
            "another number: 0 → -1": "likewise",
            "call dropped: int((ranked": "a tensor can be an index",
        },
    ),
    Alternative(
        "by adding noise",
        {
            f"return {DRAWN}": (
                "noise = torch.empty(len(probs)).exponential_(generator=generator)\n"
                "    return int((probs / noise).argmax())"
            )
        },
    ),
]
