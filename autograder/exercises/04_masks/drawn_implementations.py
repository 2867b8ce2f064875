"""Implementations of attention, sound and leaking, whose numbers differ from draw to draw."""

from autograder.asking.arguments import Code
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw

from .implementations import IN_HEADS, KEEP, SOUND, edited


def number(draw: Draw, low: float, high: float) -> str:
    return f"{draw.uniform('', low, high):.3f}"


def count(draw: Draw, low: int, high: int) -> int:
    """Draw a whole number from low to high, both included."""
    return int(draw.uniform("", low, high + 1))


def causal(draw: Draw) -> str:
    """Sound attention whose queries, values and scores are drawn anew."""
    return edited(
        SOUND,
        ("words.roll(1, -1)", f"words.roll({count(draw, 1, 3)}, -1)"),
        ("math.sqrt(d)", number(draw, 1, 3)),
        ("weights @ value", f"{number(draw, 0.5, 2)} * weights @ value"),
    )


def last_few(draw: Draw) -> str:
    return edited(causal(draw), (KEEP, f"{KEEP}.triu(-{count(draw, 0, 4)})"))


def too_far(draw: Draw) -> str:
    return edited(causal(draw), ("tril()", f"tril({count(draw, 1, 2)})"))


def softmax_by_hand(draw: Draw) -> str:
    return edited(
        causal(draw),
        (
            "scores.masked_fill(~keep, -math.inf).softmax(-1)",
            f"(scores - {number(draw, -1, 1)}).exp() * keep\n"
            "    weights = weights / weights.sum(-1, keepdim=True)",
        ),
    )


def hidden_scores_changed(draw: Draw) -> str:
    return edited(causal(draw), ("~keep, -math.inf", f"~keep, {number(draw, -2, 1)}"))


def heads(draw: Draw) -> str:
    return edited(IN_HEADS, ("heads.roll(1, -1)", f"{number(draw, 0.5, 2)} * heads.roll(1, -1)"))


def one_head_unmasked(draw: Draw) -> str:
    seeing = f"repeat(n_heads, 1, 1)\n    keep[{count(draw, 0, 4)} % n_heads] = True\n"
    return edited(heads(draw), ("dtype=torch.bool).tril()\n", f"dtype=torch.bool).tril().{seeing}"))


def past_averages_added(draw: Draw) -> str:
    average = "words.cumsum(1) / torch.arange(1, n + 1)[:, None]"
    return edited(
        causal(draw),
        ("words.flip(-1)\n", f"words.flip(-1) + {number(draw, -1, 1)} * {average}\n"),
    )


def averages_added(draw: Draw) -> str:
    added = f"{number(draw, 0.05, 1)} * words.mean(1, keepdim=True)"
    return edited(causal(draw), ("words.flip(-1)\n", f"words.flip(-1) + {added}\n"))


def part_of_the_past(draw: Draw) -> str:
    """Attention to a part of the past that doesn't depend on the sentence's length."""
    of_query, of_key = (f"{count(draw, 1, 99)} * torch.arange(n)" for _ in range(2))
    places = f"({of_query}[:, None] + {of_key})"
    return edited(causal(draw), (KEEP, f"{KEEP} & ({places} % 7 < 4) | torch.eye(n).bool()"))


def single_leak(draw: Draw) -> str:
    """In one sentence, one of the first four words sees a later one of these."""
    query = count(draw, 0, 2)
    key = count(draw, query + 1, 3)
    place = f"{count(draw, 0, 99)} % len(words), {query} : {query + 1}, {key} : {key + 1}"
    return edited(
        causal(draw), (KEEP, f"{KEEP}.repeat(len(words), 1, 1)\n    keep[{place}] = True")
    )


SOUND_KINDS = {
    "causal attention to the last few words": last_few,
    "causal attention with a softmax of its own": softmax_by_hand,
    "causal attention in heads": heads,
    "averages of the past in the values": past_averages_added,
    "attention to some of the words so far": part_of_the_past,
}
LEAKING_KINDS = {
    "the mask shifted": too_far,
    "hidden scores set to a number": hidden_scores_changed,
    "one of the heads without a mask": one_head_unmasked,
    "averages of the sentence in the values": averages_added,
    "one word sees a later one, in one sentence": single_leak,
}


def drawn(name: str) -> Inputs:
    """A case that is an implementation of one of these kinds."""
    make = (SOUND_KINDS | LEAKING_KINDS)[name]

    def inputs(draw: Draw) -> dict:
        draw.label(name)
        return {"attention": Code(make(draw))}

    return inputs
