"""Sentences for wrong tensors that match no known mistake.

Each rule knows one way of being wrong; the first one that applies provides the sentence. If none
does, `describe_difference` says where the values are off.
"""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from autograder.asking.answer import GRADIENT, REPEATS
from autograder.judging.compare import Comparison, equal

Rule = Callable[[Comparison], str | None]
DETACHED = (
    "Does a `detach()`, `.data`, `.item()`, `torch.tensor(…)`, NumPy or `no_grad` break the path "
    "somewhere?"
)
FEATURES = ("d_k", "d_head")  # whose root divides scores
NAN = "∞ / ∞, ∞ − ∞ and 0 · ∞ give NaN: does `exp` overflow, or is −∞ multiplied by something?"


def recognize_difference(comparison: Comparison) -> str | None:
    """Say in what way a wrong output differs from the right one; None if no rule applies."""
    return next((sentence for rule in RULES if (sentence := rule(comparison))), None)


def describe_difference(comparison: Comparison) -> str:
    """Say where a wrong output of the right shape and dtype differs from the right one."""
    where = some_rows_right(comparison) or largest_difference(comparison)
    return f"{where} {DETACHED}" if comparison.name.startswith(GRADIENT) else where


def other_axis_order(c: Comparison) -> str | None:
    """Equal after permuting the dimensions."""
    if sorted(c.got.shape) != sorted(c.expected.shape):
        return None
    for order in itertools.permutations(range(c.got.dim())):
        if list(order) == sorted(order):
            continue
        if equal(c.got.permute(order).to(c.expected.dtype), c.expected, c.tolerance):
            return f"{_subject(c)} right, but with its dimensions in another order: transpose it."
    return None


def wrong_shape(c: Comparison) -> str | None:
    """The wrong shape; the sentence names the dimensions."""
    if c.got.shape == c.expected.shape:
        return None
    wanted = name_dims(c.expected.shape, c.dims)
    got = tuple(c.got.shape)
    return f"{_subject(c, 'should have')} shape {wanted}; it has {got}.{_misplaced(c)}"


def wrong_dtype(c: Comparison) -> str | None:
    """The wrong dtype."""
    if c.got.dtype == c.expected.dtype:
        return None
    wanted, got = (str(t.dtype).removeprefix("torch.") for t in (c.expected, c.got))
    why = ""
    if c.got.dtype is torch.float64:
        why = " Has NumPy computed it? That ends the gradient, too: stay with torch's functions."
    elif c.expected.dtype in (torch.float64, torch.float16) and c.got.is_floating_point():
        why = (
            " The inputs are of this dtype. Give the tensors that you make the same, with "
            "`dtype=x.dtype` or `x.new_zeros(…)`, and convert nothing."
        )
    return f"{_subject(c, 'should have')} dtype {wanted}; it has {got}.{why}"


def not_finite(c: Comparison) -> str | None:
    """NaN or infinity where a number should be."""
    for word, test in (("NaN", torch.isnan), ("infinity", torch.isinf)):
        strange = test(c.got) & ~test(c.expected) if c.got.is_floating_point() else None
        if strange is not None and strange.any():
            place = _index(strange)
            many = int(strange.sum())
            why = f" {NAN}" if word == "NaN" else ""
            return (
                f"{_subject(c, 'holds')} {word} in {many} of {c.got.numel()} places, first at "
                f"{place}, where {_number(c.expected[place])} should be.{why}"
            )
    return None


def wrong_decision(c: Comparison) -> str | None:
    """A single wrong True or False."""
    if c.got.dim() or c.got.dtype is not torch.bool or c.expected.dtype is not torch.bool:
        return None
    about = f" for “{c.label}”" if c.label else ""
    return f"You answered {c.got.item()}{about}, and {c.expected.item()} is right."


def wrong_mode(c: Comparison) -> str | None:
    """A module left in the other mode."""
    module, _, what = c.name.rpartition(".")
    if what != "training" or c.got.dim() or c.got.dtype is not torch.bool:
        return None
    now, before = ("train", "evaluation") if c.got else ("evaluation", "train")
    return f"`{module}` is left in {now} mode; it should be in {before} mode afterwards."


def wrong_choice(c: Comparison) -> str | None:
    """The wrong word, encoded as a single integer; the right one is not revealed."""
    same_kind = c.got.dtype == c.expected.dtype and not c.got.is_floating_point()
    if c.got.dim() or not same_kind or not c.returned:
        return None
    return "That isn't the one. What else would look like this?"


def not_repeated(c: Comparison) -> str | None:
    """Another result in a second call."""
    if c.name != REPEATS:
        return None
    return (
        "Two calls with the same seed gave different results. Set torch's seed before anything "
        "random happens, even the making of a model."
    )


def opposite_booleans(c: Comparison) -> str | None:
    """True and False swapped."""
    if c.got.dtype is torch.bool and torch.equal(~c.got, c.expected):
        return f"{_subject(c)} right with True and False exchanged."
    return None


def constant_factor(c: Comparison) -> str | None:
    """Right up to a factor, named if it is a size, the root of one, or an inverse of these."""
    if not c.got.is_floating_point():
        return None
    largest = c.expected.abs().max()
    if not c.tolerance < largest < math.inf or c.expected.numel() == 1:
        return None
    place = _index(c.expected.abs() == largest)
    factor = (c.got[place] / c.expected[place]).item()
    if not math.isfinite(factor) or abs(factor) < 1e-3:
        return None
    if not equal(c.got / factor, c.expected, c.tolerance / min(abs(factor), 1.0)):
        return None
    named = _name_factor(factor, c.sizes) or _name_divisor(factor, c.sizes)
    return f"{_subject(c, 'holds')} the right values times {factor:.4g}{named}."


def other_output(c: Comparison) -> str | None:
    """What belongs into another output."""
    for name, value in c.others.items():
        if name != c.name and value.numel() > 1 and equal(c.got, value, c.tolerance):
            return f"{_subject(c, 'holds')} what belongs into `{name}`."
    return None


def sums_of_what_came_before(c: Comparison) -> str | None:
    """Each value with all those before it."""
    if not c.got.is_floating_point():
        return None
    for dim in range(c.got.dim()):
        long = c.got.shape[dim] > 2
        if long and equal(c.got, c.expected.cumsum(dim), c.tolerance * c.got.shape[dim]):
            return (
                f"{_subject(c)} right plus all that comes before, along {_dim_name(c, dim)}: is a "
                "sum not set back to 0?"
            )
    return None


def only_first_filled(c: Comparison) -> str | None:
    """The first element along a dimension, and zeros after it."""
    if not c.got.is_floating_point() or _weights_wanted(c):
        return None
    for dim in range(c.got.dim()):
        first = torch.zeros_like(c.expected)
        first.narrow(dim, 0, min(1, c.got.shape[dim])).copy_(c.expected.narrow(dim, 0, 1))
        if c.got.shape[dim] > 2 and equal(c.got, first, c.tolerance):
            return (
                f"{_subject(c)} right at index 0 of {_dim_name(c, dim)}, and 0 elsewhere: does a "
                "`return` inside a loop end it too early?"
            )
    return None


def softmax_twice(c: Comparison) -> str | None:
    """The softmax of the right weights."""
    if not _weights_wanted(c) or not equal(c.got, c.expected.softmax(-1), c.tolerance):
        return None
    return f"{_subject(c)} the softmax of weights, which had been through softmax already."


def softmax_elsewhere(c: Comparison) -> str | None:
    """Weights that sum to 1 along another dimension."""
    if not _weights_wanted(c) or _are_ones(c.got.sum(-1), 1e-3):
        return None
    dims = (dim for dim in range(c.got.dim() - 1) if c.got.shape[dim] > 1)
    for dim in dims:
        if _are_ones(c.got.sum(dim), 1e-4):
            return (
                f"Your weights sum to 1 along {_dim_name(c, dim)}. Softmax belongs along the keys, "
                "the last dimension: `dim=-1`."
            )
    return None


def other_scale(c: Comparison) -> str | None:
    """Weights of scores that are the right ones times a number."""
    if not _weights_wanted(c) or not _are_ones(c.got.sum(-1), 1e-4) or c.got.shape[-1] < 2:
        return None
    if not ((c.got > 1e-6).all() and (c.expected > 1e-6).all()):
        return None
    got, expected = (t.double().log() for t in (c.got, c.expected))
    got, expected = (t - t.mean(-1, keepdim=True) for t in (got, expected))
    factor = (got * expected).sum() / expected.square().sum()
    if not 1e-3 < factor.abs() < 1e3 or not equal(got, factor * expected, 1e-2):
        return None
    named = _name_factor(factor.item(), c.sizes) or _name_divisor(factor.item(), c.sizes)
    return f"These are the weights of the right scores times {factor.item():.4g}{named}."


def not_divided(c: Comparison) -> str | None:
    """Weights that are right once each row is divided by its sum."""
    if not _weights_wanted(c):
        return None
    sums = c.got.sum(-1, keepdim=True)
    if _are_ones(sums, 1e-3) or not equal(c.got / sums, c.expected, c.tolerance):
        return None
    return f"{_subject(c)} right once each row is divided by its sum."


def row_offset(c: Comparison) -> str | None:
    """Right except for a number added to each row."""
    if not c.got.is_floating_point() or c.got.dim() == 0 or c.got.shape[-1] < 2:
        return None
    offset = (c.got - c.expected)[..., :1]
    if not equal(c.got - offset, c.expected, 2 * c.tolerance):
        return None
    return f"Each row of {_named(c)} is off by a constant of its own."


def same_vector_added(c: Comparison) -> str | None:
    """Right except for one vector that is added to every row."""
    few = c.got.dim() < 2 or c.got.shape[-1] < 2 or c.got.numel() == c.got.shape[-1]
    if few or not c.got.is_floating_point():
        return None
    offset = (c.got - c.expected).reshape(-1, c.got.shape[-1])[:1]
    if not equal(c.got - offset, c.expected, 2 * c.tolerance):
        return None
    return f"{_subject(c)} off by the same vector in every row: is a bias missing, or one too many?"


def too_few_digits(c: Comparison) -> str | None:
    """Right, but with fewer digits than the dtype has."""
    if not c.got.is_floating_point():
        return None
    scale = max(1.0, c.expected.abs().nan_to_num(posinf=1.0).max().item())
    # Half precision loses digits nearly everywhere; a few values farther off are something else.
    most = 1e-2 if c.wrong_at.double().mean() > 0.5 else 1e-3
    if not equal(c.got, c.expected, most * scale):
        return None
    if c.expected.dtype is torch.float64 and equal(c.got, c.expected, 1e-5 * scale):
        return (
            f"{_subject(c)} right to about 7 digits, and the inputs are float64, with 16. "
            "Something on the way is float32: a `.float()`, or a tensor made without "
            "`dtype=x.dtype`."
        )
    return (
        f"{_subject(c)} almost right: {_largest_gap(c)} Is something rounded, cut off, or in half "
        "precision, or is a small number added?"
    )


def untouched_by_softmax(c: Comparison) -> str | None:
    """Scores where their softmax or exponential should be."""
    if not c.got.is_floating_point() or c.got.dim() == 0:
        return None
    if equal(c.got.softmax(-1), c.expected, c.tolerance):
        return f"{_subject(c)} not weights yet: their softmax would be right."
    if equal(c.got.exp(), c.expected, c.tolerance):
        return f"{_subject(c)} the logarithm of what it should be."
    return None


def lost_signs(c: Comparison) -> str | None:
    """Right except that negative values became positive or 0."""
    if not c.got.is_floating_point() or not (c.expected < 0).any():
        return None
    if equal(c.got, c.expected.abs(), c.tolerance):
        return f"{_subject(c)} right but for the signs: negative values have become positive."
    if equal(c.got, c.expected.relu(), c.tolerance):
        return f"{_subject(c)} right where it is positive, and 0 where it should be negative."
    return None


def cut_off(c: Comparison) -> str | None:
    """Right except that values beyond a bound became that bound."""
    if not c.got.is_floating_point() or not c.expected.isfinite().all():
        return None
    low, high = c.got.min(), c.got.max()
    if low == high or not equal(c.got, c.expected.clamp(low, high), c.tolerance):
        return None
    return f"{_subject(c)} cut off: no value is below {_number(low)} or above {_number(high)}."


def no_gradient(c: Comparison) -> str | None:
    """A gradient of zeros where it should not be zero."""
    if not c.name.startswith(GRADIENT) or c.got.any():
        return None
    return f"{_subject(c)} 0 everywhere, so nothing flows back. {DETACHED}"


def all_the_same(c: Comparison) -> str | None:
    """One value everywhere."""
    if c.got.numel() < 2 or not (c.got == c.got.flatten()[0]).all():
        return None
    return f"{_subject(c)} the same everywhere: {_number(c.got.flatten()[0])}."


def first_repeated(c: Comparison) -> str | None:
    """The first element along a dimension, repeated along it."""
    for dim in range(c.got.dim() - 1):
        first = c.expected.narrow(dim, 0, min(1, c.expected.shape[dim]))
        if c.got.shape[dim] > 1 and equal(c.got, first.expand_as(c.expected), c.tolerance):
            return f"{_subject(c)} right for the first {_dim_name(c, dim)}, and repeats it for all."
    return None


def reversed_along(c: Comparison) -> str | None:
    """Right in the reverse order along a dimension."""
    for dim in range(c.got.dim()):
        if equal(c.got.flip(dim), c.expected, c.tolerance):
            return f"{_subject(c)} right in reverse order along {_dim_name(c, dim)}."
    return None


def shuffled_rows(c: Comparison) -> str | None:
    """The right rows in another order."""
    if c.got.dim() < 2 or not c.got.is_floating_point():
        return None
    got, expected = (t.reshape(-1, t.shape[-1]) for t in (c.got.double(), c.expected.double()))
    near = torch.cdist(got, expected, p=float("inf")) <= c.tolerance
    if bool((near.sum(0) == 1).all() and (near.sum(1) == 1).all()):
        return f"{_subject(c)} made of the right rows, but in another order."
    return None


def misplaced(c: Comparison) -> str | None:
    """The right numbers in the wrong places."""
    if c.got.numel() < 6 or not c.got.is_floating_point():
        return None
    got, expected = (t.double().flatten().sort().values for t in (c.got, c.expected))
    if not equal(got, expected, c.tolerance) or expected.unique().numel() < 6:
        return None
    return (
        f"{_subject(c, 'holds')} the right numbers, in the wrong places. `view` and `reshape` keep "
        "numbers in their order; dimensions change places with `transpose` or `permute`."
    )


def some_rows_right(c: Comparison) -> str | None:
    """Some rows entirely right, the others wrong."""
    if c.got.dim() < 2:
        return None
    wrong = c.wrong_at.any(-1).reshape(-1, c.got.shape[-2]).any(0)
    if wrong.all():
        return None
    rows = [row for row, is_wrong in enumerate(wrong.tolist()) if not is_wrong]
    few = ", ".join(str(row) for row in rows[:4]) + (" …" if len(rows) > 4 else "")
    word = "row" if len(rows) == 1 else "rows"
    last = rows == [len(wrong) - 1] and " n_query" in f" {c.dims}"
    why = " Does each query see only the keys up to its own place?" if last else ""
    return f"{_subject(c)} right in {word} {few} of {len(wrong)}, and wrong in the others.{why}"


def causal_mask_added(c: Comparison) -> str | None:
    """Weights that see no later key, where all keys are seen."""
    if not _weights_wanted(c) or c.got.dim() < 2 or c.got.shape[-1] < 3:
        return None
    later = torch.ones(c.got.shape[-2:], dtype=torch.bool).triu(1)
    seen = (c.expected > 0).all() and (c.got[..., ~later] > 0).all()
    if not seen or c.got[..., later].any():
        return None
    return (
        f"{_subject(c)} 0 for every later key. That is a causal mask, and nothing should be masked "
        "here."
    )


def rows_do_not_sum_to_1(c: Comparison) -> str | None:
    """Weights whose rows do not sum to 1."""
    sums = c.got.sum(-1) if _weights_wanted(c) else None
    if sums is None or _are_ones(sums, 1e-3):
        return None
    if _are_ones(c.got.sum(), 1e-3):
        return "All your weights together sum to 1. Each row should sum to 1 by itself."
    worst = sums.flatten()[(sums - 1).abs().argmax()]
    named = _name_factor(worst.item(), c.sizes)
    return f"Each row of weights should sum to 1; one of yours sums to {_number(worst)}{named}."


def largest_difference(c: Comparison) -> str:
    """How many values are off, and the place where they are farthest apart."""
    if c.got.numel() == 1:
        return f"{_subject(c)} {_apart(c.got.flatten()[0], c.expected.flatten()[0])} should be."
    many = int(c.wrong_at.sum())
    of = f" of {_named(c)}" if len(c.others) > 1 else ""
    if many == 1:
        return f"One value{of} is off, {_largest_gap(c)}"
    return f"{many} of {c.got.numel()} values{of} are off, most of all {_largest_gap(c)}"


def _largest_gap(c: Comparison) -> str:
    # A number is infinitely far from NaN; equal infinities do not differ.
    gap = (c.got.double() - c.expected.double()).abs().nan_to_num(nan=math.inf)
    gap = torch.where(c.wrong_at, gap, 0.0)
    place = _index(gap == gap.max())
    return f"at {place}: {_apart(c.got[place], c.expected[place])} should be."


def too_much_error(c: Comparison) -> str | None:
    """The right form, but too much error."""
    if c.most_error is None or not math.isfinite(c.error):
        return None
    return (
        f"The mean squared error of {_named(c)} is {c.error:.4f}; it may be at most "
        f"{c.most_error:g}."
    )


RULES: tuple[Rule, ...] = (
    other_axis_order,
    wrong_shape,
    wrong_dtype,
    too_much_error,
    not_repeated,
    wrong_mode,
    wrong_decision,
    wrong_choice,
    opposite_booleans,
    not_finite,
    other_output,
    shuffled_rows,
    reversed_along,
    misplaced,
    too_few_digits,
    no_gradient,
    all_the_same,
    not_divided,
    constant_factor,
    causal_mask_added,
    row_offset,
    same_vector_added,
    untouched_by_softmax,
    softmax_twice,
    softmax_elsewhere,
    other_scale,
    lost_signs,
    cut_off,
    first_repeated,
    only_first_filled,
    sums_of_what_came_before,
    rows_do_not_sum_to_1,
)

# ---------------------------------------------------------------- words


def name_dims(shape: tuple[int, ...], dims: str) -> str:
    """Format a shape with the names of its dimensions: "(batch=2, n_query=3)".

    A name with a star covers all leading dimensions that have no name of their own.
    """
    names = dims.split()
    if names and names[0].startswith("*"):
        leading = len(shape) - len(names) + 1
        names = [names[0][1:]] * leading + names[1:]
    if len(names) != len(shape):
        return str(tuple(shape))
    inside = ", ".join(
        name if name.isdigit() else f"{name}={size}"
        for name, size in zip(names, shape, strict=True)
    )
    return f"({inside})"


def _weights_wanted(c: Comparison) -> bool:
    """Whether rows of numbers that sum to 1 are expected, and numbers came."""
    if not c.got.is_floating_point() or c.got.dim() == 0:
        return False
    return bool((c.expected >= 0).all()) and _are_ones(c.expected.sum(-1), 1e-4)


def _are_ones(values: Tensor, tolerance: float) -> bool:
    return equal(values, torch.ones_like(values), tolerance)


def _misplaced(c: Comparison) -> str:
    """Say which named dimension a wrong size belongs to, if any."""
    if c.got.dim() != c.expected.dim():
        return ""
    names = {size: name for name, size in c.sizes.items()}
    pairs = zip(c.got.shape, c.expected.shape, strict=True)
    strange = [
        got
        for got, wanted in pairs
        if got != wanted and got in names and got not in c.expected.shape
    ]
    return f" {strange[0]} is {names[strange[0]]}." if strange else ""


def _named(c: Comparison) -> str:
    if c.name.startswith(GRADIENT):
        return f"the {GRADIENT}`{c.name.removeprefix(GRADIENT)}`"
    return f"`{c.name}`" if c.name else "the result"


def _subject(c: Comparison, verb: str = "is") -> str:
    named = _named(c)
    return f"{named[0].upper()}{named[1:]} {verb}"


def _dim_name(c: Comparison, dim: int) -> str:
    """Name a dimension of the output as its annotation does; else by its number."""
    names = c.dims.split()
    from_the_end = c.got.dim() - dim
    if from_the_end <= len(names) and not names[-from_the_end].startswith("*"):
        return f"`{names[-from_the_end]}`"
    return f"dimension {dim}"


def _index(where: Tensor) -> tuple[int, ...]:
    return tuple(where.nonzero()[0].tolist())


def _number(value: Tensor) -> str:
    return f"{value.item():.4g}"


def _apart(got: Tensor, expected: Tensor) -> str:
    """Format two different numbers with as many digits as it takes to tell them apart."""
    for digits in range(4, 18):
        pair = f"{got.item():.{digits}g}", f"{expected.item():.{digits}g}"
        if pair[0] != pair[1]:
            break
    return " where ".join(pair)


def _name_factor(factor: float, sizes: dict[str, int]) -> str:
    """Name a factor that is a size, the root of one, or an inverse of these; "" for others."""
    named: dict[float, str] = {}
    for name, size in sizes.items():
        named |= {float(size): name, math.sqrt(size): f"√{name}"}
        named |= {1 / size: f"1/{name}", 1 / math.sqrt(size): f"1/√{name}"}
    words = (w for value, w in named.items() if math.isclose(factor, value, rel_tol=1e-3))
    return next((f", which is {w} here" for w in words), "")


def _name_divisor(factor: float, sizes: dict[str, int]) -> str:
    """Say what scores were divided by if that explains the factor; "" if it does not."""
    for features in (name for name in FEATURES if name in sizes):
        right = math.sqrt(sizes[features])
        known = {float(whole): str(whole) for whole in range(2, 10)}
        known |= {float(size): name for name, size in sizes.items()}
        known |= {math.sqrt(size): f"√{name}" for name, size in sizes.items()}
        for value, words in known.items():
            if math.isclose(right / factor, value, rel_tol=1e-3):
                return f", as if divided by {words}, not by √{features} = {right:.4g}"
    return ""
