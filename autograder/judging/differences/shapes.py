"""Rules for results of the wrong kind: shape, dtype, mode, NaN, or a wrong choice."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from autograder.asking.answer import REPEATS
from autograder.judging.case_words import names_by_size
from autograder.judging.compare import Comparison, equal
from autograder.judging.differences.words import first_index, name_dims, named, number, subject
from autograder.judging.measures import TOLD_APART, WORDS

NAN = (
    "0 / 0, ∞ / ∞, ∞ − ∞ and 0 · ∞ give NaN, and so does the root of a negative number. Look for "
    "an `exp` that overflows, for a sum that is 0, and for −∞ that meets a product."
)


def other_axis_order(c: Comparison) -> str | None:
    """Equal after permuting the dimensions."""
    if sorted(c.got.shape) != sorted(c.expected.shape):
        return None
    if c.got.is_floating_point() != c.expected.is_floating_point():  # −∞ isn't True
        return None
    for order in itertools.permutations(range(c.got.dim())):
        if list(order) == sorted(order):
            continue
        if equal(c.got.permute(order).to(c.expected.dtype), c.expected, c.tolerance):
            return f"{subject(c)} right, but with its dimensions in another order: transpose it."
    return None


def wrong_shape(c: Comparison) -> str | None:
    """The wrong shape; the sentence names the dimensions."""
    if c.got.shape == c.expected.shape:
        return None
    wanted = name_dims(c.expected.shape, c.dims)
    got = tuple(c.got.shape)
    return f"{subject(c, 'should have')} shape {wanted}; it has {got}.{_misplaced(c)}"


def wrong_dtype(c: Comparison) -> str | None:
    """The wrong dtype."""
    if c.got.dtype == c.expected.dtype:
        return None
    wanted, got = (str(t.dtype).removeprefix("torch.") for t in (c.expected, c.got))
    why = ""
    if c.got.dtype is torch.float64:
        why = (
            " Something on the way is float64: a `.double()`, a `dtype=`, or NumPy, which cuts "
            "the gradient, too."
        )
    elif c.expected.dtype in (torch.float64, torch.float16) and c.got.is_floating_point():
        why = (
            " The inputs are of this dtype. Give the tensors that you make the same, with "
            "`dtype=x.dtype` or `x.new_zeros(…)`, and convert nothing."
        )
    return f"{subject(c, 'should have')} dtype {wanted}; it has {got}.{why}"


def too_often(c: Comparison) -> str | None:
    """A token that came too often, by itself or in place of another."""
    if c.most_error is None or c.name not in ("frequencies", "pairs"):
        return None
    if c.got.shape != c.expected.shape or not c.got.isfinite().all():
        return None
    *instead, token = first_index(c.got - c.expected == (c.got - c.expected).max())
    seen, wanted = (f"{100 * t[*instead, token].item():.0f}%" for t in (c.got, c.expected))
    about = "came"
    if instead:
        about = "stayed" if instead == [token] else f"took the place of token {instead[0]}"
    return f"Token {token} {about} in {seen} of all draws, too often: {wanted} would be right."


def too_much_error(c: Comparison) -> str | None:
    """The right form, but too much error."""
    if c.most_error is None or not math.isfinite(c.error):
        return None
    return (
        f"The mean squared error of {named(c)} is {c.error:.3g}; it may be at most "
        f"{c.most_error:.3g}."
    )


def not_repeated(c: Comparison) -> str | None:
    """A second call that returns something else."""
    if c.name != REPEATS:
        return None
    return (
        "Two calls with the same seed gave different results. Set torch's seed before anything "
        "random happens, even the making of a model."
    )


def wrong_mode(c: Comparison) -> str | None:
    """A module left in the other mode."""
    module, _, what = c.name.rpartition(".")
    if what != "training" or c.got.dim() or c.got.dtype is not torch.bool:
        return None
    now, before = ("train", "evaluation") if c.got else ("evaluation", "train")
    return f"`{module}` is left in {now} mode; it should be in {before} mode afterwards."


def not_told_apart(c: Comparison) -> str | None:
    """An input that shows no difference between two modules, or one that is too large."""
    about = f" for “{c.label}”" if c.label else ""
    if c.name == TOLD_APART:
        return f"Your input{about} doesn't tell the two modules apart."
    if c.name == WORDS:
        return f"Your input{about} has {c.got.item()} words; {c.expected.item()} would do."
    return None


# Outputs of a trial that come after the one that is right.
IN_ONE_GO = {
    "afterwards": "In pieces, it is right. The same text in one go, afterwards, is not: is "
    "anything left over on `self`?",
    "afresh": "In pieces, it is right. The same text in one go, with a new memory, is not: is "
    "anything left over on `self`?",
}


def left_on_self(c: Comparison) -> str | None:
    """A text that is read once more, and differently."""
    return IN_ONE_GO.get(c.name)


# What it means when a fact noted by a trial (`asking.trials`) is false.
NOT_SO = {
    "by_name": "`attend` and `rotate` aren't both called by their names while the module runs. "
    "Call them in `forward`: later on, others take their place.",
    "turned_once": "You turned more than the new tokens' queries and keys. Turn each key once, "
    "before it goes into the cache.",
    "nothing_kept": "After a text, the module still holds tensors of it. Keep nothing on `self`: "
    "what has to last goes into the memory.",
    "forgets": "The cache holds on to more than the words that can still be seen.",
    "scores": "You made more scores at once than a tile holds. Cut queries and keys to the tile "
    "first, and multiply those.",
    "pairs": "You made a tensor for all pairs of queries and keys at once, such as a mask. Make "
    "each tile's own, from the places of its queries and keys.",
    "small": "A tensor on the way is much larger than it has to be.",
    "tiles": "No tile of scores has `tile_query` rows and `tile_key` columns. Take that many "
    "queries at a time, and that many keys.",
    "of_chunks": "A tensor on the way is much larger than the scores of all chunks. Cut everything "
    "into chunks first, and the mask, too.",
    "chunks": "You went word by word. Within a chunk, compute all words at once.",
    "cuts": "You didn't cut the text every `chunk` words, with a state for what comes before.",
    "fixed": "What you keep grows with the text. Keep the last state and the last tail, in the "
    "memory, and nothing else.",
    "old": "You wrote the new state or tail over the old one. Somebody may still need that, to go "
    "on from it with other words: leave the old tensors as they are, and put new ones in the "
    "memory.",
    "saves": "Much more is kept for the way back than the inputs hold. Save those, the context and "
    "the logsumexp, and nothing else.",
    "tracked": "You keep tensors as attributes of `ctx`, where autograd can neither free them nor "
    "notice a change. Hand them to `ctx.save_for_backward`; `backward` finds them in "
    "`ctx.saved_tensors`.",
    "once": "Your gradients can be differentiated once more, and what comes out is wrong. Leave "
    "`@once_differentiable` above `backward`.",
    "own": "A call in between changes the gradients. Keep what you need in `ctx` alone.",
    "alone": "Where only one of query, key and value needs a gradient, it gets a different one, or "
    "none. Return all three gradients each time.",
    "given": "`backward` changes the gradient that it gets, which others may still need. Make new "
    "tensors.",
    "earlier": "Gradients don't flow back through what the cache returned earlier: it was cut off, "
    "or written over later. Make new tensors, with `torch.cat`.",
    "precise": "The gradients are less precise than the inputs: something on the way is float32.",
    "by_generator": "The same generator, in the same state, should give the same again. Draw with "
    "`generator`, and with nothing else.",
    "in_order": "Draw for the texts in their order: the first one's token comes first.",
    "varies": "Without a generator, every call draws the same. Where `generator` is None, leave it "
    "None: torch then draws from a generator of its own.",
    "advances": "The same generator gives the same again and again: its seed is set, or its state "
    "put back. Draw from it, and leave the rest to the caller.",
    "only_possible": "A token came that `target` gives probability 0. Its chance to be kept, and "
    "to be drawn, has to be exactly 0: add no small number.",
    "light": "The model keeps what a way back would need, though nobody goes back. Leave "
    "`@torch.no_grad()` above `generate`.",
    "alike": "The copy is not in the mode of the model it was made from (train or evaluation), or "
    "not as trainable. Change one head, and nothing else.",
    "again": "A second call with the same arguments gives something else. Does anything stay from "
    "the first, such as its caches?",
    "random": "At a high temperature, the draws should differ from those at 0, and each text "
    "should draw its own tokens.",
    "usual": "Without a temperature, the draws should be those at 1, as in `sample`.",
    "untouched": "The model that you were given has changed. Change a copy.",
    "put_back": "A function of the notebook is still another one. Put back the one that was there.",
}


def not_so(c: Comparison) -> str | None:
    """A fact that is False."""
    is_false = c.got.dim() == 0 and c.got.dtype is torch.bool and not c.got
    return NOT_SO.get(c.name) if is_false else None


def wrong_decision(c: Comparison) -> str | None:
    """A single wrong True or False."""
    if c.got.dim() or c.got.dtype is not torch.bool or c.expected.dtype is not torch.bool:
        return None
    about = f" for “{c.label}”" if c.label else ""
    if set(c.others) <= {c.name}:
        return f"You return {c.got.item()}{about}, where {c.expected.item()} is right."
    return f"{subject(c)} {c.got.item()}{about}; it should be {c.expected.item()}."


def wrong_choice(c: Comparison) -> str | None:
    """The wrong word, as its number; the right one is not revealed."""
    if not c.choices or c.got.shape or c.got.dtype != c.expected.dtype:
        return None
    number = int(c.got.item())
    return c.choices[number] if 0 <= number < len(c.choices) else None


def opposite_booleans(c: Comparison) -> str | None:
    """True and False swapped."""
    if c.got.dtype is torch.bool and torch.equal(~c.got, c.expected):
        return f"{subject(c)} right with True and False exchanged."
    return None


def holds_nan(c: Comparison) -> str | None:
    """NaN where a number should be."""
    where = _strange(c, torch.isnan)
    return where and f"{subject(c, 'holds')} NaN in {where} {NAN}"


def holds_infinity(c: Comparison) -> str | None:
    """Infinity where a number should be."""
    where = _strange(c, torch.isinf)
    return where and f"{subject(c, 'holds')} infinity in {where}"


def _strange(c: Comparison, test: Callable[[Tensor], Tensor]) -> str | None:
    """Say where a test is true of the learner's value, but not of the expected one."""
    strange = test(c.got) & ~test(c.expected)
    if not strange.any():
        return None
    place = first_index(strange)
    return (
        f"{int(strange.sum())} of {c.got.numel()} places, first at {place}, where "
        f"{number(c.expected[place])} should be."
    )


def _misplaced(c: Comparison) -> str:
    """Say which dimension has a wrong size, if one alone does.

    If the output's own dimensions have no names, the inputs' sizes say nothing about it.
    """
    if c.got.dim() != c.expected.dim() or not c.dims:
        return ""
    names = names_by_size(c.sizes)
    strange = (
        str(got)
        for got, wanted in zip(c.got.shape, c.expected.shape, strict=True)
        if got not in c.expected.shape and abs(got - wanted) > 1  # one word too few is no name
    )
    return next((f" {got} is {names[got]}." for got in strange if got in names), "")
